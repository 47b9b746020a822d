#include "core/rpc/rpc.h"

#include "core/rpc/autograd/optimizer.h"
#include "core/store/prefix_store.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace pdsim {
namespace {

constexpr std::size_t longest_name = 128;

Error not_initialized() {
  return {Code::not_initialized, "RPC has not been initialized. Call torch.distributed.rpc.init_rpc first.", {}};
}

RpcMessage call_of(RpcMessageKind kind, std::string_view function, RpcList arguments) {
  RpcMessage message;
  message.kind = kind;
  message.function = std::string(function);
  message.arguments = std::move(arguments);
  return message;
}

}  // namespace

struct Rpc::Module {
  RankEnvironment& env;
  RpcFunctions functions;
  int initialized = 0;  // how often
  std::unique_ptr<Store> store{};
  std::unique_ptr<RpcAgent> agent{};
  int optimizers = 0;
};

Rpc::Rpc(RankEnvironment& env, const RpcFunctions& functions)
    : owned_(std::make_unique<Module>(Module{env, functions})), module_(*owned_) {
  add_optimizer_functions(owned_->functions);
}
Rpc::Rpc(Module& module, const Place& place) : module_(module), place_(place) {}
Rpc::~Rpc() = default;

Status Rpc::check_name(const std::string& name) const {
  const auto is_allowed = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == ':' ||
           c == '-';
  };
  if (!name.empty() && name.size() < longest_name && std::all_of(name.begin(), name.end(), is_allowed)) return {};
  return Error{
      Code::invalid_argument,
      fmt::format("'{}' cannot be the name of a worker: 1 to {} letters, digits, _, : and -", name, longest_name - 1),
      {}};
}

Result<std::vector<WorkerInfo>> Rpc::meet(Store& store, const std::string& name) {
  const Rank self = module_.env.rank;
  const auto key = [](Rank rank) { return fmt::format("name/{}", rank); };
  PDSIM_TRY(store.set(key(self), name));
  std::vector<WorkerInfo> workers;
  for (Rank rank = 0; rank < module_.env.world_size; ++rank) {
    const Result<std::string> found = rank == self ? name : store.get(key(rank));
    if (!found.ok()) return found.error();
    workers.push_back({*found, rank});
  }
  for (const WorkerInfo& other : workers)
    if (other.id != self && other.name == name)
      return Error{
          Code::invalid_argument,
          fmt::format("RPC worker name {} is not unique. Workers {} and {} share the same name.", name, self, other.id),
          {}};
  return workers;
}

Status Rpc::init_rpc(const std::string& name, RpcOptions options) {
  if (module_.agent != nullptr || owned_ == nullptr)
    return Error{Code::already_initialized, "RPC is already initialized", {}};
  PDSIM_TRY(check_name(name));
  if (options.server_threads < 1) return Error{Code::invalid_argument, "RPC needs at least one server thread", {}};
  RankEnvironment& env = module_.env;
  const Time limit = options.timeout.ps == 0 ? env.backend.default_timeout() : options.timeout;
  Result<std::unique_ptr<Store>> store = env.rendezvous.env(limit);
  if (!store.ok()) return store.error();
  const std::string prefix = fmt::format("rpc{}", ++module_.initialized);
  PrefixStore names(prefix, **store);
  const Result<std::vector<WorkerInfo>> workers = meet(names, name);
  if (!workers.ok()) return workers.error();
  auto channel = RpcChannel::open(env, **store, prefix, limit);
  if (!channel.ok()) return channel.error();
  module_.store = std::move(*store);
  module_.agent = std::make_unique<RpcAgent>(
      env, module_.functions, *workers, options, std::move(*channel),
      [&module = module_](const RpcFunction& f, RpcAgent::Served served, const RpcMessage& message,
                          const RpcList& arguments) {
        Rpc here(module, Place{message.context, served});
        return f.run(f, here, arguments);
      });
  env.recorder.note(notes::RpcJoined{name, options.server_threads, options.timeout});
  return {};
}

Result<RpcAgent*> Rpc::agent() const {
  if (module_.agent == nullptr) return not_initialized();
  return module_.agent.get();
}

Result<WorkerInfo> Rpc::find(const RpcTarget& to) const {
  const Result<RpcAgent*> rpc = agent();
  if (!rpc.ok()) return rpc.error();
  if (const auto* name = std::get_if<std::string>(&to.worker)) return (*rpc)->find(*name);
  return (*rpc)->find(std::get<Rank>(to.worker));
}

RpcFuture Rpc::failed(const Error& error) const {
  RpcFuture future(module_.env.runtime, Time::max(), nullptr);
  future.complete(error);
  return future;
}

RpcFuture Rpc::refused(const RpcOrigin& origin, std::string_view function, const RpcTarget& to,
                       const Error& why) const {
  const auto* name = std::get_if<std::string>(&to.worker);
  record_refused_call(module_.env.recorder, origin, function,
                      name != nullptr ? *name : std::to_string(std::get<Rank>(to.worker)), why);
  return failed(why);
}

RpcFuture Rpc::start(Rank to, RpcMessage message, Limit timeout, const RpcOrigin& origin) {
  message.context = place_.context;
  return module_.agent->request(to, std::move(message), timeout, origin);
}

RpcFuture Rpc::call(const RpcTarget& to, std::string_view function, RpcList arguments, Limit timeout,
                    const RpcOrigin& origin) {
  const Result<WorkerInfo> worker = find(to);
  if (!worker.ok()) return refused(origin, function, to, worker.error());
  return start(worker->id, call_of(RpcMessageKind::call, function, std::move(arguments)), timeout, origin);
}

RpcFuture Rpc::rpc_async(const RpcTarget& to, std::string_view function, RpcList arguments, Limit timeout) {
  return call(to, function, std::move(arguments), timeout, origin("rpc_async", true));
}

Result<RpcValue> Rpc::rpc_sync(const RpcTarget& to, std::string_view function, RpcList arguments, Limit timeout) {
  return call(to, function, std::move(arguments), timeout, origin("rpc_sync", false)).await();
}

Result<RRef> Rpc::start_remote(Rank to, RpcMessage message, Limit timeout) {
  RRefTable& rrefs = module_.agent->rrefs();
  const RRef made = rrefs.create(to);
  message.rref = made.id();
  if (!made.is_owner()) message.fork = made.state().fork;
  const RpcFuture reply = start(to, std::move(message), timeout, origin("remote", true));
  reply.on_done([&rrefs, fork = made.state().fork, is_owner = made.is_owner()] {
    if (!is_owner) rrefs.confirm(fork);  // an error there stays with the value
  });
  if (reply.done() && !made.is_owner()) {
    const Result<RpcValue> sent = reply.await();
    if (!sent.ok()) return sent.error();
  }
  return made;
}

Result<RRef> Rpc::remote(const RpcTarget& to, std::string_view function, RpcList arguments, Limit timeout) {
  const Result<WorkerInfo> worker = find(to);
  if (!worker.ok()) return refused(origin("remote", true), function, to, worker.error()).await().error();
  return start_remote(worker->id, call_of(RpcMessageKind::remote, function, std::move(arguments)), timeout);
}

Result<RpcMessage> Rpc::method_call(const RRef& rref, std::string_view method, RpcList arguments) const {
  const Result<RpcAgent*> rpc = agent();
  if (!rpc.ok()) return rpc.error();
  if (!rref.is_owner() && rref.state().deleted)
    return Error{Code::invalid_argument,
                 fmt::format("{} has been deleted. Cannot call methods of it after deletion.", rref.text()),
                 {}};
  RpcMessage message = call_of(RpcMessageKind::method, method, std::move(arguments));
  message.object = rref.id();
  return message;
}

RpcFuture Rpc::call(const RRef& rref, std::string_view method, RpcList arguments, Limit timeout,
                    const RpcOrigin& origin) {
  Result<RpcMessage> message = method_call(rref, method, std::move(arguments));
  if (!message.ok()) return refused(origin, method, rref.owner_name(), message.error());
  return start(static_cast<Rank>(rref.owner()), std::move(*message), timeout, origin);
}

RpcFuture Rpc::rpc_async(const RRef& rref, std::string_view method, RpcList arguments, Limit timeout) {
  return call(rref, method, std::move(arguments), timeout, origin("rpc_async", true));
}

Result<RpcValue> Rpc::rpc_sync(const RRef& rref, std::string_view method, RpcList arguments, Limit timeout) {
  return call(rref, method, std::move(arguments), timeout, origin("rpc_sync", false)).await();
}

Result<RRef> Rpc::remote(const RRef& rref, std::string_view method, RpcList arguments, Limit timeout) {
  Result<RpcMessage> message = method_call(rref, method, std::move(arguments));
  if (!message.ok()) return refused(origin("remote", true), method, rref.owner_name(), message.error()).await().error();
  message->kind = RpcMessageKind::remote;
  return start_remote(static_cast<Rank>(rref.owner()), std::move(*message), timeout);
}

Result<RRef> Rpc::make_rref(RpcValue value) {
  if (module_.agent == nullptr)
    return Error{Code::not_initialized,
                 "Current RPC agent is not set! Did you initialize the RPC framework (e.g. by calling `rpc.init_rpc`)?",
                 {}};
  RRefTable& rrefs = module_.agent->rrefs();
  const RRef made = rrefs.create(module_.env.rank);
  rrefs.set_value(made.id(), std::move(value));
  return made;
}

Result<RpcValue> Rpc::value_here(const RRef& rref, std::string_view name) {
  const RpcFuture here(module_.env.runtime, Time::max(), nullptr);
  module_.agent->rrefs().when_ready(rref.id(), [here](const Result<RpcValue>& value) { here.complete(value); });
  if (here.done()) return here.await();
  RpcRecords& records = module_.agent->records();
  const std::int64_t call = records.waits_here(rref.id(), module_.env.rank, origin(name, false));
  Result<RpcValue> value = here.await();
  records.ended(call, value.status());
  return value;
}

Result<RpcValue> Rpc::to_here(const RRef& rref, Limit timeout) {
  const auto fails = [&](const Error& why) {
    return refused(origin("to_here", false), "to_here", rref.owner_name(), why).await();
  };
  if (rref.state().deleted)
    return fails(
        {Code::invalid_argument,
         fmt::format("{} has been deleted. Cannot call to_here() on it after deletion.", rref.text()),
         {}});
  if (module_.agent == nullptr) return fails(not_initialized());
  if (rref.is_owner()) return value_here(rref, "to_here");
  RpcMessage message;
  message.kind = RpcMessageKind::fetch;
  message.object = rref.id();
  return start(static_cast<Rank>(rref.owner()), std::move(message), timeout, origin("to_here", false)).await();
}

Result<RpcValue> Rpc::local_value(const RRef& rref) {
  const Result<RpcAgent*> rpc = agent();
  if (!rpc.ok()) return rpc.error();
  if (rref.is_owner()) return value_here(rref, "local_value");
  return Error{
      Code::invalid_argument,
      fmt::format("For {}, can't call localValue() on user {}. Call it on owner {}", rref.text(),
                  to_string((*rpc)->self()), to_string(WorkerInfo{rref.owner_name(), static_cast<Rank>(rref.owner())})),
      {}};
}

Result<WorkerInfo> Rpc::worker_info() const {
  const Result<RpcAgent*> rpc = agent();
  if (!rpc.ok()) return rpc.error();
  return (*rpc)->self();
}

Result<WorkerInfo> Rpc::worker_info(std::string_view name) const { return find(name); }

Result<Time> Rpc::rpc_timeout() const {
  const Result<RpcAgent*> rpc = agent();
  if (!rpc.ok()) return rpc.error();
  return (*rpc)->options().timeout;
}

FlightRecorder& Rpc::recorder() const { return module_.env.recorder; }

int Rpc::next_optimizer() { return module_.optimizers++; }

void Rpc::note_unknown(std::int64_t context) const {
  if (module_.agent->autograd().has(context)) return;
  const RecordedContext recorded = recorded_context(context);
  const notes::AutogradContextMissing missing{recorded.begun_on, recorded.number};
  place_.served.call < 0 ? recorder().note(missing) : recorder().note_about(place_.served.call, missing);
}

Status Rpc::backward(std::int64_t context, std::span<const nn::Tensor> roots) {
  const Result<RpcAgent*> rpc = agent();
  if (!rpc.ok()) return rpc.error();
  note_unknown(context);
  return (*rpc)->autograd().backward(context, roots, origin("backward", true));
}

Result<Gradients> Rpc::get_gradients(std::int64_t context) const {
  const Result<RpcAgent*> rpc = agent();
  if (!rpc.ok()) return rpc.error();
  note_unknown(context);
  return (*rpc)->autograd().gradients(context);
}

Result<std::unique_ptr<DistributedContext>> DistributedContext::begin(Rpc& rpc) {
  if (rpc.module_.agent == nullptr)
    return Error{
        Code::not_initialized, "Need to initialize distributed autograd using torch.distributed.autograd.init()", {}};
  if (rpc.context() >= 0)
    return Error{Code::already_initialized, "Already have an autograd context id for this thread.", {}};
  const std::int64_t id = rpc.module_.agent->autograd().begin();
  return std::unique_ptr<DistributedContext>(new DistributedContext(rpc.module_, {id, rpc.place_.served}));
}

DistributedContext::~DistributedContext() {
  if (rpc_.module_.agent != nullptr) rpc_.module_.agent->autograd().leave(id());
  const RecordedContext recorded = recorded_context(id());
  rpc_.recorder().note(notes::AutogradContextLeft{recorded.begun_on, recorded.number});
}

Result<std::vector<RpcLeak>> Rpc::shutdown(bool graceful, Time timeout) {
  const Result<RpcAgent*> rpc = agent();
  if (!rpc.ok()) return rpc.error();
  if (owned_ == nullptr)
    return Error{Code::invalid_argument, "RPC is shut down by the program, not by what it serves", {}};
  FlightRecorder& record = module_.env.recorder;
  Call call;
  call.layer = Layer::rpc;
  call.name = "shutdown";
  const std::int64_t id = record.begin(std::move(call));
  Result<std::vector<RpcLeak>> leaks = std::vector<RpcLeak>();
  if (graceful)
    leaks = (*rpc)->shutdown(timeout);
  else
    (*rpc)->leave();
  record.finish(id, leaks.status());
  record.note(notes::RpcLeft{graceful && leaks.ok()});
  if (leaks.ok())
    for (const RpcLeak& leak : *leaks)
      record.note(notes::RpcReferenceLeft{leak.owner, static_cast<int>(leak.rref.created_on), leak.rref.local_id});
  module_.agent.reset();
  module_.store.reset();
  return leaks;
}

}  // namespace pdsim
