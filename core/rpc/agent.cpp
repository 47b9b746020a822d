#include "core/rpc/agent.h"

#include "core/base/nearest.h"

#include <fmt/format.h>

#include <utility>

namespace pdsim {
namespace {

std::vector<std::string> names_of(const std::vector<WorkerInfo>& workers) {
  std::vector<std::string> names;
  for (const WorkerInfo& worker : workers) names.push_back(worker.name);
  return names;
}

}  // namespace

std::string to_string(const WorkerInfo& worker) {
  return fmt::format("WorkerInfo(id={}, name={})", worker.id, worker.name);
}

RpcAgent::RpcAgent(RankEnvironment& env, const RpcFunctions& functions, std::vector<WorkerInfo> workers,
                   RpcOptions options, std::unique_ptr<RpcChannel> channel, Serve serve)
    : rank_(env.rank),
      runtime_(env.runtime),
      functions_(functions),
      workers_(std::move(workers)),
      records_(env.recorder, names_of(workers_)),
      options_(options),
      serve_(std::move(serve)),
      changed_(env.runtime.make_event()),
      rrefs_(std::make_shared<RRefTable>(
          env.rank, names_of(workers_),
          [this](std::int64_t to, const RpcMessage& message) { send(static_cast<Rank>(to), message); })),
      autograd_(env.runtime, env.rank,
                {[this](std::int64_t to, RpcMessage message, const RpcOrigin& origin) {
                   return request(static_cast<Rank>(to), std::move(message), {}, origin);
                 },
                 [this](std::int64_t to, const RpcMessage& message) { send(static_cast<Rank>(to), message); }}),
      channel_(std::move(channel)),
      servers_(env.runtime, options.server_threads) {
  rrefs_->on_change = [this] { changed(); };
  servers_.on_idle = [this] { changed(); };
  channel_->listen({[this](Rank from, const std::string& bytes) { take(from, bytes); },
                    [this](Rank peer, const Error& why) { closed(peer, why); }});
}

RpcAgent::~RpcAgent() { stop(false); }

Result<WorkerInfo> RpcAgent::find(std::string_view name) const {
  for (const WorkerInfo& worker : workers_)
    if (worker.name == name) return worker;
  return Error{Code::invalid_argument,
               fmt::format("name:{},rank:{} could not find destination name {}", self().name, rank_, name),
               {{"worker", std::string(name)}}};
}

Result<WorkerInfo> RpcAgent::find(Rank id) const {
  if (id >= 0 && id < static_cast<Rank>(workers_.size())) return workers_[static_cast<std::size_t>(id)];
  return Error{Code::invalid_argument,
               fmt::format("name:{},rank:{} could not find destination id {}", self().name, rank_, id),
               {{"worker", std::to_string(id)}}};
}

Error RpcAgent::expired(Time timeout) const {
  return {Code::timeout,
          fmt::format("RPCErr:1:RPC ran for more than set timeout ({} ms) and will now be marked with an error",
                      timeout.ns() / 1'000'000),
          {}};
}

RpcFuture RpcAgent::finished(Result<RpcValue> result) {
  RpcFuture future(runtime_, Time::max(), nullptr);
  future.complete(std::move(result));
  return future;
}

RpcFuture RpcAgent::request(Rank to, RpcMessage message, std::optional<Time> timeout, const RpcOrigin& origin) {
  const Time limit = timeout.value_or(options_.timeout);
  message.id = next_request_++;
  const std::int64_t call = records_.asked(message, to, limit, origin);
  const auto not_sent = [&](const Error& why) {
    records_.ended(call, why);
    return finished(why);
  };
  if (const auto gone = closed_.find(to); gone != closed_.end()) return not_sent(gone->second);
  if (message.context >= 0) autograd_.before_send(message, to);
  Result<std::string> bytes = encode(message, rrefs_->forks_with(to));
  if (!bytes.ok()) return not_sent(bytes.error());
  RpcFuture future(runtime_, limit.ps == 0 ? Time::max() : runtime_.now() + limit, [this, limit, id = message.id] {
    pending_.erase(id);
    changed();
    return expired(limit);
  });
  future.record_waits(records_.recorder(), records_.wait_for(message, to, limit, origin));
  future.on_done([this, call, future] { records_.ended(call, future.await().status()); });
  pending_.emplace(message.id, Pending{future, to, message.kind == RpcMessageKind::fetch, call});
  if (to == rank_) {
    take(rank_, *bytes);
  } else if (const Status sent = channel_->send(to, std::move(*bytes), bytes_without_values(message)); !sent.ok()) {
    pending_.erase(message.id);
    future.complete(sent.error());
  }
  return future;
}

void RpcAgent::send(Rank to, const RpcMessage& message) { (void)try_send(to, message); }

Status RpcAgent::try_send(Rank to, const RpcMessage& message) {
  // A peer that has said goodbye still waits for our goodbye.
  if (over_ || (closed_.contains(to) && message.kind != RpcMessageKind::bye)) return {};
  RpcMessage attached = message;
  if (message.context >= 0) autograd_.before_send(attached, to);
  const Result<std::string> bytes = encode(attached, rrefs_->forks_with(to));
  if (!bytes.ok()) return bytes.error();
  if (to == rank_)
    take(rank_, *bytes);
  else
    (void)channel_->send(to, *bytes, bytes_without_values(attached));  // a connection that has ended ends its listener too
  return {};
}

void RpcAgent::take(Rank from, const std::string& bytes) {
  Result<RpcMessage> message = decode(bytes, rrefs_->forks_with(from));
  if (message.ok()) {
    autograd_.after_receive(*message, from);
    return dispatch(from, std::move(*message));
  }
  if (from != rank_) channel_->stop_listening(from);
  closed(from, message.error());
}

void RpcAgent::dispatch(Rank from, RpcMessage message) {
  switch (message.kind) {
    case RpcMessageKind::remote:
      rrefs_->expect(message.rref, message.fork);
      [[fallthrough]];
    case RpcMessageKind::call:
    case RpcMessageKind::method: {
      const std::int64_t call = records_.received(message, from);
      return servers_.run([this, from, call, message = std::move(message)](int server) {
        records_.taken_up(call, server);
        serve(from, message, {server, call});
      });
    }
    case RpcMessageKind::fetch:
      return fetch(from, message);
    case RpcMessageKind::gradients: {
      const std::int64_t call = records_.received(message, from);
      return servers_.run([this, from, call, message = std::move(message)](int server) {
        serve_gradients(from, message, {server, call});
      });
    }
    case RpcMessageKind::context_done:
      return autograd_.leave(message.context);
    case RpcMessageKind::reply:  // needs a thread, as in PyTorch: a worker of one thread cannot wait for a reply in it
      if (const auto asked = pending_.find(message.id); asked != pending_.end()) records_.reply_came(asked->second.call);
      return servers_.run([this, message = std::move(message)](int) { answer(message); });
    case RpcMessageKind::arrived:
      arrived_[message.id].insert(from);
      return changed();
    case RpcMessageKind::proceed:
      proceeded_.insert(message.id);
      return changed();
    case RpcMessageKind::bye:
      channel_->stop_listening(from);
      return give_up(from, {Code::peer_closed,
                            fmt::format("eof ({} has shut down RPC)", workers_[static_cast<std::size_t>(from)].name),
                            {{"peer", std::to_string(from)}}});
    default:
      (void)rrefs_->handle(from, message);
  }
}

void RpcAgent::fetch(Rank from, const RpcMessage& message) {
  const std::int64_t call = records_.received(message, from);
  rrefs_->when_ready(message.object, [this, from, call, message](const Result<RpcValue>& value) {
    records_.ended(call, value.status());
    reply(from, message, value);
  });
}

void RpcAgent::serve_gradients(Rank from, const RpcMessage& message, Served where) {
  records_.taken_up(where.call, where.server);
  const RpcFuture taken = autograd_.take_gradients(message, {"backward", true, where.server, where.call});
  taken.on_done([this, from, message, where, taken] {
    const Result<RpcValue> result = taken.await();
    records_.ended(where.call, result.status());
    reply(from, message, result);
  });
}

void RpcAgent::serve(Rank from, const RpcMessage& message, Served where) {
  Result<RpcValue> result = message.object != RpcId{} ? run_method(from, message, where) : run(from, message, where);
  records_.ended(where.call, result.status());
  if (!result.ok()) result = raised(result.error());
  if (message.kind != RpcMessageKind::remote) return reply(from, message, result);
  rrefs_->set_value(message.rref, result);
  reply(from, message, result.ok() ? Result<RpcValue>(RpcValue()) : result);
}

Error RpcAgent::without_function(Rank from, const RpcMessage& message, const std::string& name, Served where) {
  const std::vector<std::string> known = functions_.names();
  const auto close = nearest(name, std::span<const std::string>(known));
  const std::string near(close.value_or(std::string_view()));
  records_.function_missing(where.call,
                            {name, near, static_cast<std::int64_t>(known.size()), static_cast<int>(from), message.id});
  std::string text = fmt::format("{} has no function '{}'", self().name, name);
  if (close)
    text += fmt::format("; did you mean '{}'?", near);
  else if (known.empty())
    text += "; it has registered none";
  return rpc_exception("AttributeError", text);
}

Result<RpcValue> RpcAgent::run(Rank from, const RpcMessage& message, Served where) {
  const RpcFunction* function = functions_.find(message.function);
  if (function == nullptr) return without_function(from, message, message.function, where);
  return serve_(*function, where, message, message.arguments);
}

Result<RpcValue> RpcAgent::object_of(const RpcMessage& message, Served where) {
  const RpcFuture ready(runtime_, Time::max(), nullptr);
  rrefs_->when_ready(message.object, [ready](const Result<RpcValue>& value) { ready.complete(value); });
  if (ready.done()) return ready.await();
  const std::int64_t call =
      records_.waits_here(message.object, rank_, {"local_value", false, where.server, where.call});
  Result<RpcValue> object = ready.await();
  records_.ended(call, object.status());
  return object;
}

Result<RpcValue> RpcAgent::run_method(Rank from, const RpcMessage& message, Served where) {
  const Result<RpcValue> object = object_of(message, where);
  if (!object.ok()) return object.error();
  const std::string type = type_name(*object);
  const std::string name = type + "." + message.function;
  const RpcFunction* method = functions_.find(name);
  if (method == nullptr) {
    (void)without_function(from, message, name, where);
    return Error{Code::invalid_argument,
                 fmt::format("type object '{}' has no attribute '{}'", type, message.function),
                 {{"exception", "AttributeError"}}};
  }
  RpcList arguments{*object};
  arguments.insert(arguments.end(), message.arguments.begin(), message.arguments.end());
  return serve_(*method, where, message, arguments);
}

// Turns an error here into what the calling worker gets: an exception that names this worker.
Error RpcAgent::raised(const Error& error) const {
  const std::string type = exception_type(error);
  if (error.code == Code::invalid_argument && type == "AttributeError")
    return error;  // PyTorch finds these at the caller
  return {Code::program_raised,
          fmt::format("On {}:\n{}({})", to_string(self()), type, python_text(error.message)),
          {{"exception", type}, {"worker", self().name}, {"cause", std::string(name_of(error.code))}}};
}

void RpcAgent::reply(Rank to, const RpcMessage& request, const Result<RpcValue>& result) {
  RpcMessage message;
  message.kind = RpcMessageKind::reply;
  message.id = request.id;
  if (request.kind != RpcMessageKind::gradients) message.context = request.context;
  message.failed = !result.ok();
  if (result.ok())
    message.value = *result;
  else
    message.error = result.error();
  const Status sent = try_send(to, message);
  if (sent.ok()) return;
  message.failed = true;  // the value cannot travel
  message.error = raised(sent.error());
  message.value = {};
  send(to, message);
}

void RpcAgent::answer(const RpcMessage& reply) {
  const auto found = pending_.find(reply.id);
  if (found == pending_.end()) return;  // its caller gave up
  const RpcFuture future = found->second.future;
  const bool is_fetch = found->second.is_fetch;
  pending_.erase(found);
  Error error = reply.error;
  if (error.code == Code::program_raised && !is_fetch) error.message = exception_type(error) + ": " + error.message;
  future.complete(reply.failed ? Result<RpcValue>(error) : Result<RpcValue>(reply.value));
  changed();
}

void RpcAgent::closed(Rank peer, const Error& why) {
  if (why.code == Code::cancelled || why.code == Code::wrong_data) return give_up(peer, why);
  give_up(peer, {Code::peer_closed,
                 fmt::format("eof ({}: {})", workers_[static_cast<std::size_t>(peer)].name, why.message),
                 {{"peer", std::to_string(peer)}}});
}

void RpcAgent::give_up(Rank peer, const Error& error) {
  closed_.emplace(peer, error);
  rrefs_->worker_gone(peer);
  std::vector<RpcFuture> lost;
  for (auto at = pending_.begin(); at != pending_.end();) {
    if (at->second.to == peer) lost.push_back(at->second.future);
    at = at->second.to == peer ? pending_.erase(at) : std::next(at);
  }
  for (const RpcFuture& future : lost) future.complete(error);
  changed();
}

void RpcAgent::changed() { std::exchange(changed_, std::shared_ptr<Event>(runtime_.make_event()))->set(); }

}  // namespace pdsim
