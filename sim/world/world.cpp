#include "sim/world/world.h"

#include "sim/world/memory_need.h"
#include "sim/world/printed_error.h"

#include <fmt/format.h>

#include <algorithm>

namespace pdsim::sim {
namespace {
// Only the exchange can disturb every message, so `disturb` excludes the other engines.
bool allows(const RunOptions& options, Engine engine) {
  return !options.disturb && (options.engine == Engine::automatic || options.engine == engine);
}

// Records of all ranks together stay below a gigabyte, of one rank long enough for what it did last.
std::size_t records_of_a_rank(int ranks) {
  constexpr std::size_t of_all = std::size_t{1} << 21, least = 256, most = std::size_t{1} << 16;
  return std::clamp(of_all / static_cast<std::size_t>(ranks), least, most);
}

Error death_of(Rank rank) { return {Code::rank_crashed, fmt::format("the process of rank {} died", rank), {}}; }
}  // namespace

World::World(const WorldSpec& spec, const LibrarySemantics& library, const Profile& profile, Chooser chooser,
             const RunOptions& options)
    : spec_(spec),
      library_(library),
      profile_(profile),
      chooser_(std::move(chooser)),
      trace_(options.trace_limit),
      faults_(spec),
      scheduler_(chooser_, stack_bytes(spec.ranks())),
      exchange_(scheduler_, spec, library, faults_, trace_, options.record_messages ? options.message_limit : 0),
      closed_form_(scheduler_, exchange_, trace_, spec, library, allows(options, Engine::closed_form)),
      in_flight_(scheduler_, exchange_, spec, allows(options, Engine::in_flight)),
      first_calls_(scheduler_, spec.intra.latency),
      disturbances_(Random(spec.seed).stream("disturb")),
      records_messages_(options.record_messages),
      watchdog_(static_cast<std::size_t>(spec.ranks())) {
  if (options.disturb) exchange_.disturb = [this, disturb = options.disturb] { return disturb(disturbances_); };
  scheduler_.before_time_moves = [this] { return closed_form_.flush(); };
  exchange_.before_end = [this](Rank rank) { in_flight_.rank_ends(rank); };
  exchange_.abort_rank = [this](Rank rank, const Error& error) {
    tell_watchdog(rank, fmt::format("{}: {}", library_.name, printed_error(library_, error)));
    kill(rank, error);
  };
  exchange_.on_fault = [this](Rank from, Rank to, const MessageVerdict& verdict) {
    slot(from).recorder->note(notes::Fault{.fault = verdict.fault.value_or(FaultKind::delay), .before = {}, .to = to});
  };
}

int World::channel(const std::string& group) {
  return channels_.emplace(group, static_cast<int>(channels_.size())).first->second;
}

void World::begin_launch() {
  ++launch_;
  table_ = std::make_unique<HashTable>();
  meetings_.clear();
  first_calls_.clear();
  exchange_.begin_launch();
  closed_form_.clear();
  in_flight_.clear();
  faults_.begin_launch(launch_, scheduler_.now());
  ended_ranks_ = 0;
  slots_.clear();
  slots_.resize(static_cast<std::size_t>(spec_.ranks()));
  for (Rank r = 0; r < spec_.ranks(); ++r) {
    Slot& s = slot(r);
    s.rank = r;
    s.runtime = std::make_unique<SimRuntime>(scheduler_, faults_, r);
    if (spec_.streams) s.device = std::make_unique<SimDevice>(scheduler_, faults_, *s.runtime, r);
    s.recorder = std::make_unique<FlightRecorder>(r, *s.runtime, records_of_a_rank(spec_.ranks()));
    s.recorder->set_launch(launch_);
  }
  for (const Faults::Timed& fault : faults_.timed())
    if (fault.at >= scheduler_.now()) scheduler_.at(fault.at, [this, fault] { strike(fault); });
}

void World::strike(const Faults::Timed& fault) {
  if (has_ended(fault.rank)) return;
  slot(fault.rank).recorder->note(notes::Fault{fault.fault, {}});
  if (fault.fault == FaultKind::crash) return kill(fault.rank, death_of(fault.rank));
  scheduler_.freeze(fault.rank);
  if (fault.hang_for != Time::max())
    scheduler_.at(fault.at + fault.hang_for, [this, rank = fault.rank] { scheduler_.thaw(rank); });
}

void World::reach(Rank rank, int step, std::string_view operation) {
  if (!faults_.any()) return;
  Slot& s = slot(rank);
  const PointVerdict verdict = faults_.on_reach(rank, step, operation, scheduler_.now());
  if (!verdict.fault) return;
  s.recorder->note(notes::Fault{*verdict.fault, std::string(operation)});
  if (verdict.fault == FaultKind::crash) kill(rank, death_of(rank));
  if (verdict.hang_for != Time::max()) return s.runtime->sleep_until(s.runtime->now() + verdict.hang_for);
  while (true) scheduler_.park();
}

bool World::all_relaunch() const {
  return std::all_of(slots_.begin(), slots_.end(), [](const Slot& s) { return s.relaunch; });
}

void World::fix_deadlock() {
  past_deadlock_ = true;
  for (Slot& s : slots_)
    if (!s.log) s.log = s.recorder->log();
}

void World::tell_watchdog(Rank rank, std::string text) {
  std::string& told = watchdog_[static_cast<std::size_t>(rank)];
  if (told.empty()) told = std::move(text);
}

void World::tell_silent_watchdogs() {
  for (const Slot& s : slots_)
    if (s.log && s.log->end == RankEnd::running)
      tell_watchdog(s.rank, fmt::format("{}: {}", library_.name,
                                        library_.watchdog_silent.empty() ? "nothing" : library_.watchdog_silent));
}

std::vector<RankResult> World::take_results() {
  std::vector<RankResult> list;
  list.reserve(slots_.size());
  for (Slot& s : slots_)
    list.push_back({s.log ? std::move(*s.log) : s.recorder->take_log(), std::move(s.values), s.step_time});
  return list;
}

void World::finish(RunRecord& record) {
  tell_silent_watchdogs();
  record.ranks = take_results();
  record.watchdog = std::move(watchdog_);
  record.elapsed = record.deadlocked ? record.deadlock_at : scheduler_.now();
  record.choices = chooser_.made();
  trace_.add_choices(record.choices);
  record.fingerprint = trace_.fingerprint();
  record.trace = trace_.take_events();
  record.events = static_cast<std::int64_t>(scheduler_.events_fired());
  record.messages = std::move(exchange_.messages());
  record.messages_dropped = records_messages_ ? exchange_.messages_dropped() : 0;
  record.message_count = exchange_.message_count();
}

void World::rank_ended(Rank rank, RankEnd how, const Error& error) {
  Slot& s = slot(rank);
  if (s.ended) return;
  s.ended = true;
  ++ended_ranks_;
  s.recorder->ended(how, error);
  trace_.add(
      {scheduler_.now(), RunEvent::Kind::ended, rank, no_rank, static_cast<std::int64_t>(how), digest(error.message)});
  if (rank == 0)  // the store of tcp:// and env:// lived in its process; clients notice when their sockets close
    scheduler_.at(scheduler_.now() + spec_.intra.latency, [this] { table_->close(); });
  exchange_.rank_ended(rank);
  for (auto& [channel, meeting] : meetings_) meeting.wake_all();
  if (how == RankEnd::returned || library_.on_peer_end != OnPeerEnd::job_ends) return;
  const Error ends{Code::cancelled, fmt::format("the launcher ended the job because rank {} had ended", rank), {}};
  scheduler_.at(scheduler_.now() + spec_.intra.latency, [this, ends] {
    for (Rank r = 0; r < spec_.ranks(); ++r) kill(r, ends);
  });
}

void World::kill(Rank rank, const Error& error) {
  Slot& s = slot(rank);
  if (s.ended) return;
  if (!s.log) {
    RankLog log = s.recorder->log();
    log.end = RankEnd::died;
    log.ended = s.runtime->now();
    log.error = error;
    log.error_site = s.recorder->site();
    s.log = std::move(log);
  }
  rank_ended(rank, RankEnd::died, error);
  scheduler_.cancel(rank);
  if (scheduler_.current() == rank) scheduler_.end_current();
}

}  // namespace pdsim::sim
