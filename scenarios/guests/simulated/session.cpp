#include "scenarios/guests/simulated/session.h"

#include "core/store/prefix_store.h"
#include "scenarios/records/group_descriptions.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <span>
#include <utility>

namespace pdsim::scenarios::guests {
namespace {

using namespace literals;

constexpr std::int64_t most_expected = 1 << 16;  // that a script can say it expects

std::string text_of(const std::vector<std::byte>& data) {
  return {reinterpret_cast<const char*>(data.data()), data.size()};
}

std::vector<std::byte> bytes_of(std::string_view text) {
  const auto* first = reinterpret_cast<const std::byte*>(text.data());
  return {first, first + text.size()};
}

}  // namespace

ProgramResult Session::run() {
  for (;;) {
    GuestEvent event = job_.next(env_.rank);
    if (auto* request = std::get_if<Request>(&event)) {
      handle(*request);
    } else if (const auto* end = std::get_if<ProcessEnd>(&event)) {
      return result_of(end->how);
    } else if (const auto* silence = std::get_if<Silence>(&event)) {
      stay_silent(*silence);
    } else {
      return {Error{Code::cancelled, "the run was interrupted", {}}};
    }
  }
}

void Session::handle(Request& request) {
  if (request.site.origin && !is_of_the_end(request.kind)) env_.recorder.set_site(request.site);
  pass_compute_time(request);
  const bool is_point = request.kind == Request::Kind::start || request.kind == Request::Kind::enter;
  if (is_point && env_.reach) env_.reach(request.site.step, request.name);  // faults of the world
  if (!expects_answer(request.kind)) return script_.take(request);
  const Reply reply = reply_to(request);
  job_.answer(env_.rank, reply.answer, reply.data);
}

// As a call of the program, so that the record shows who was at work when others gave up waiting.
void Session::pass_compute_time(const Request& request) {
  using Kind = Request::Kind;
  Time time{};
  const bool is_call = request.kind == Kind::start || request.kind == Kind::monitored_barrier;
  if (compute_.kind == Compute::Kind::fixed && is_call) time = compute_.time;
  if (compute_.kind == Compute::Kind::measured && request.computed)
    time = Time{static_cast<std::int64_t>(static_cast<double>(request.computed->ps) * compute_.factor)};
  if (time.ps <= 0) return;
  const std::int64_t call = env_.recorder.enter("compute");
  env_.runtime.sleep_until(env_.runtime.now() + time);
  env_.recorder.leave(call, {});
}

Session::Reply Session::error_reply(Error error) {
  last_error_ = error;
  Reply reply;
  reply.answer.error = std::move(error);
  return reply;
}

Session::Reply Session::failed(const std::string& call, Error error) {
  env_.recorder.leave(env_.recorder.enter(call), error);
  return error_reply(std::move(error));
}

Session::Reply Session::reply_to(Request& request) {
  switch (request.kind) {
    case Request::Kind::store:
      return store(request);
    case Request::Kind::join:
      return join(request);
    case Request::Kind::start:
      return start(request);
    case Request::Kind::monitored_barrier:
      return monitored_barrier(request);
    case Request::Kind::wait:
      return wait(request);
    case Request::Kind::poll:
      return poll(request);
    case Request::Kind::sleep:
      return sleep(request);
    case Request::Kind::destroy:
      return destroy(request);
    case Request::Kind::memory:
      return map_memory(request);
    default:
      return {};
  }
}

Result<Store*> Session::opened(const Request&, Time timeout) {
  if (!store_) {
    if (earlier_ != nullptr) env_.recorder.note(notes::StoreOpened{earlier_->path});
    auto opened = earlier_ != nullptr ? env_.rendezvous.file(earlier_->path, timeout) : env_.rendezvous.env(timeout);
    if (!opened.ok()) return opened.error();
    store_ = std::move(*opened);
  }
  store_->set_timeout(timeout);
  return store_.get();
}

Session::Reply Session::store(Request& request) {
  const Time timeout = request.timeout.value_or(300_s);
  const Result<Store*> base = opened(request, timeout);
  if (!base.ok()) return error_reply(base.error());
  PrefixStore keys(request.store, **base);
  const std::string key = request.keys.empty() ? std::string() : request.keys.front();
  Reply reply;
  const auto take = [&](const auto& result, auto use) -> Reply {
    if (!result.ok()) return error_reply(result.error());
    use(*result);
    return reply;
  };
  const auto take_text = [&](const std::string& text) { reply.data = bytes_of(text); };
  const auto take_number = [&](std::int64_t number) { reply.answer.number = number; };
  const auto take_yes = [&](bool yes) { reply.answer.yes = yes; };
  const std::string& name = request.name;
  Status status;
  if (name == "get") return take(keys.get(key), take_text);
  if (name == "add") return take(keys.add(key, request.number), take_number);
  if (name == "compare_set") return take(keys.compare_set(key, request.expected, text_of(request.data)), take_text);
  if (name == "check") return take(keys.check(request.keys), take_yes);
  if (name == "delete_key") return take(keys.delete_key(key), take_yes);
  if (name == "num_keys") return take(keys.num_keys(), take_number);
  if (name == "set") status = keys.set(key, text_of(request.data));
  if (name == "append") status = keys.append(key, text_of(request.data));
  if (name == "wait") status = keys.wait(request.keys, timeout);
  return status.ok() ? reply : error_reply(status.error());
}

// With --backend the script's own name for the world's library stands for the one that was given.
const LibrarySemantics* Session::own_library_of(const std::string& backend) const {
  if (backend == worlds_backend_ || backend == env_.backend.name()) return nullptr;
  return library_named(backend);
}

Session::Reply Session::join(Request& request) {
  if (request.size < 1 || request.size > most_expected || request.rank < 0 || request.rank >= request.size)
    return error_reply({Code::invalid_argument,
                    fmt::format("rank {} of {}: pdsim supports groups of at most {} ranks", request.rank, request.size, most_expected),
                    {}});
  const bool is_world = request.name == "world";
  const bool are_there = std::all_of(request.ranks.begin(), request.ranks.end(),
                                     [&](Rank rank) { return rank >= 0 && rank < env_.world_size; });
  if (!is_world && (!are_there || static_cast<std::int64_t>(request.ranks.size()) != request.size))
    return error_reply({Code::invalid_argument, fmt::format("{}: its ranks are not all ranks of this world", request.name), {}});
  const Time timeout = request.timeout.value_or(env_.backend.default_timeout());
  const Result<Store*> base = opened(request, timeout);
  if (!base.ok()) return error_reply(base.error());
  pdsim::JoinOptions options;
  options.group = is_world ? (++inits_ == 1 ? "world" : fmt::format("world/{}", inits_))
                           : fmt::format("{}/{}", inits_, identity_of_group(request.name));
  options.name = request.name;
  options.rank = static_cast<Rank>(request.rank);
  options.size = static_cast<int>(request.size);
  options.timeout = timeout;
  if (!is_world) options.global_ranks = request.ranks;
  if (is_world) timeout_ = timeout;
  if (is_world) worlds_backend_ = request.backend;
  const LibrarySemantics* own = own_library_of(request.backend);
  if (own != nullptr) options.library = own->name;
  if (own != nullptr) env_.recorder.note(notes::BackendUsed{std::string(own->name), request.name});
  if (is_world && inits_ == 1) env_.recorder.note(notes::BackendUsed{std::string(env_.backend.name()), {}});
  if (is_world && options.rank != env_.rank)
    env_.recorder.note(notes::IdentityClaimed{options.rank, options.size, 0, options.rank, false});
  if (is_world && options.size != env_.world_size)
    env_.recorder.note(notes::RanksExpected{options.size, env_.world_size});
  auto member = env_.backend.join(**base, options);
  if (!member.ok()) return error_reply(member.error());
  RankList ranks = is_world ? RankList::of_world(options.size) : RankList(request.ranks);
  const std::int64_t number = next_++;
  groups_[number] = std::make_unique<ProcessGroup>(request.name, std::move(ranks), options.rank, timeout,
                                                   std::move(*member), env_.recorder);
  if (own != nullptr) own_libraries_[number] = own;
  Reply reply;
  reply.answer.number = number;
  return reply;
}

ProcessGroup* Session::group_of(const Request& request) {
  const auto found = groups_.find(request.group);
  return found == groups_.end() ? nullptr : found->second.get();
}

Session::Reply Session::start(Request& request) {
  ProcessGroup* group = group_of(request);
  if (group == nullptr) return error_reply({Code::group_destroyed, "the process group was destroyed", {}});
  const auto own = own_libraries_.find(request.group);
  const LibrarySemantics* library = own == own_libraries_.end() ? nullptr : own->second;
  if (Status use = devices_.use(env_, request, *group, library); !use.ok()) return failed(request.name, use.error());
  const auto memory = memories_.find(request.memory);
  if (request.memory != 0 && memory == memories_.end())
    return error_reply({Code::invalid_argument, "the data of the call are in memory that is not mapped", {}});
  Result<GuestCall> call =
      call_of(request, group->rank(), group->size(), request.memory == 0 ? nullptr : memory->second);
  if (!call.ok()) return error_reply(call.error());
  call->call.batched = script_.is_in("batch_isend_irecv");
  CallOptions options;
  if (request.timeout) options.timeout = *request.timeout;
  if (const auto purpose = value_named<PurposeKind>(request.purpose)) {
    options.purpose = {*purpose, *purpose == PurposeKind::bucket ? request.number : -1};
    options.parameters = request.keys;
  }
  if (request.coalesced > 0) options.purpose = {PurposeKind::coalesced, request.coalesced};
  const std::int64_t number = next_++;
  Pending& pending = works_[number];
  pending.name = request.name;
  pending.group = request.group;
  pending.memory = std::move(call->memory);
  Result<WorkPtr> work = group->start(std::move(call->call), std::move(options));
  if (!work.ok()) {
    works_.erase(number);
    return error_reply(work.error());
  }
  pending.work = std::move(*work);
  Reply reply;
  reply.answer.number = number;
  return reply;
}

Session::Reply Session::monitored_barrier(const Request& request) {
  ProcessGroup* group = group_of(request);
  if (group == nullptr) return error_reply({Code::group_destroyed, "the process group was destroyed", {}});
  const Status status = group->monitored_barrier(env_.runtime, request.timeout.value_or(group->timeout()), request.all);
  return status.ok() ? Reply{} : error_reply(status.error());
}

Session::Reply Session::ended_work(const Request& request) {
  const auto found = works_.find(request.work);
  Status status = found->second.work->status();
  if (const auto group = groups_.find(found->second.group); status.ok() && group != groups_.end())
    if (const Status shared = devices_.shared(env_.rank, *group->second); !shared.ok()) {
      const std::string name = std::move(found->second.name);
      works_.erase(found);
      return failed(name, shared.error());
    }
  Reply reply;
  if (status.ok()) {
    reply.answer.yes = true;
    reply.answer.source = found->second.work->source();
    reply.data = std::move(found->second.memory.output);
  }
  works_.erase(found);
  return status.ok() ? reply : error_reply(status.error());
}

Session::Reply Session::wait(const Request& request) {
  const auto found = works_.find(request.work);
  if (found == works_.end()) return error_reply({Code::invalid_argument, "this work is over", {}});
  Work& work = *found->second.work;
  const Time deadline = request.timeout ? env_.runtime.now() + *request.timeout : Time::max();
  const Status status = work.wait(deadline);
  if (!work.done()) return error_reply(status.ok() ? Error{Code::internal, "a wait ended early", {}} : status.error());
  return ended_work(request);
}

// A script that polls lets time pass, more each time, so that it sees the end of a call however long that takes.
Session::Reply Session::poll(const Request& request) {
  const auto found = works_.find(request.work);
  if (found == works_.end()) return error_reply({Code::invalid_argument, "this work is over", {}});
  constexpr int most_doublings = 23;
  const int polls = std::min(found->second.polls++, most_doublings);
  if (!found->second.work->done()) env_.runtime.sleep_until(env_.runtime.now() + 1_us * (std::int64_t{1} << polls));
  return found->second.work->done() ? ended_work(request) : Reply{};
}

Session::Reply Session::sleep(const Request& request) {
  const std::int64_t call = env_.recorder.enter("time.sleep");
  env_.runtime.sleep_until(env_.runtime.now() + request.timeout.value_or(Time{}));
  env_.recorder.leave(call, {});
  return {};
}

Session::Reply Session::destroy(const Request& request) {
  env_.recorder.leave(env_.recorder.enter("destroy_process_group"), {});
  if (request.all) {
    for (auto& [number, group] : groups_) group->destroy();
  } else if (ProcessGroup* group = group_of(request)) {
    group->destroy();
  }
  return {};
}

// If a guest cannot share memory, its data come through the socket.
Session::Reply Session::map_memory(const Request& request) {
  Reply reply;
  memories_.erase(request.number);
  if (request.size <= 0) return reply;
  Result<SharedMemory> memory = job_.memory_of(env_.rank, static_cast<int>(request.number), request.size);
  reply.answer.yes = memory.ok();
  if (memory.ok()) memories_[request.number] = std::make_shared<SharedMemory>(std::move(*memory));
  return reply;
}

// A rank that lives and asks for nothing: the others go on without it.
void Session::stay_silent(const Silence& silence) {
  if (!silence.stack.empty()) {
    Site site;
    CallOrigin origin;
    origin.frames = silence.stack;
    origin.file = silence.stack.front().file;
    site.line = silence.stack.front().line;
    site.column = 1;
    site.op = silence.stack.front().function;
    site.origin = std::move(origin);
    env_.recorder.set_site(site);
  }
  env_.recorder.note(notes::Fault{FaultKind::hang, {}});
  for (;;) env_.runtime.make_event()->wait(Time::max());
}

ProgramResult Session::result_of(const Ended& how) {
  if (how.signal != 0) {
    ProgramResult died{Error{Code::rank_crashed,
                             fmt::format("the process was ended by signal {} ({})", how.signal, strsignal(how.signal)),
                             {{"signal", std::to_string(how.signal)}}}};
    died.died = true;
    env_.recorder.set_site(script_.last_place());
    return died;
  }
  if (how.exit_status == 0) return {};
  const Request* raised = script_.raised() ? &*script_.raised() : job_.raised_before(env_.rank);
  ScriptCalls::End end = script_.end_with(how.exit_status, raised);
  if (raised == nullptr) {
    env_.recorder.set_site(end.site);
    return {end.error};
  }
  const bool from_library =
      !last_error_.message.empty() && raised->text.find(last_error_.message) != std::string::npos;
  const bool inside = from_library || end.site.step >= 0;  // of something that pdsim has seen
  end.site.op = script_.failed().empty() && inside ? env_.recorder.site().op : script_.failed();
  env_.recorder.set_site(end.site);
  return {from_library ? last_error_ : end.error};
}

}  // namespace pdsim::scenarios::guests
