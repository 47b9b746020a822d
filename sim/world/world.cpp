#include "sim/world/world.h"

#include "sim/world/memory_need.h"

#include <fmt/format.h>

#include <algorithm>

namespace pdsim::sim {
namespace {
// What disturbs every message is asked by the exchange alone.
bool allows(const RunOptions& options, Engine engine) {
  return !options.disturb && (options.engine == Engine::automatic || options.engine == engine);
}

// Records of all ranks together stay below a gigabyte, of one rank long enough for what it did last.
std::size_t records_of_a_rank(int ranks) {
  constexpr std::size_t of_all = std::size_t{1} << 21, least = 256, most = std::size_t{1} << 16;
  return std::clamp(of_all / static_cast<std::size_t>(ranks), least, most);
}
}  // namespace

World::World(const WorldSpec& s, const LibrarySemantics& p, const Profile& version, Chooser c,
             const RunOptions& options)
    : spec(s),
      library(p),
      profile(version),
      chooser(std::move(c)),
      trace(options.trace_limit),
      faults(s),
      scheduler(chooser, stack_bytes(s.ranks())),
      exchange(scheduler, s, p, faults, trace, options.record_messages ? options.message_limit : 0),
      closed_form(scheduler, exchange, trace, s, p, allows(options, Engine::closed_form)),
      in_flight(scheduler, exchange, s, allows(options, Engine::in_flight)),
      watchdog(static_cast<std::size_t>(s.ranks())),
      disturbances_(Random(s.seed).stream("disturb")) {
  if (options.disturb) exchange.disturb = [this, disturb = options.disturb] { return disturb(disturbances_); };
  scheduler.before_time_moves = [this] { return closed_form.flush(); };
  exchange.before_end = [this](Rank rank) { in_flight.rank_ends(rank); };
  exchange.abort_rank = [this](Rank rank, const Error& error) { kill(rank, error); };
  exchange.on_fault = [this](Rank from, Rank to, const MessageVerdict& verdict) {
    slot(from).recorder->note(notes::Fault{.fault = verdict.fault.value_or(FaultKind::delay), .before = {}, .to = to});
  };
}

int World::channel(const std::string& group) {
  return channels_.emplace(group, static_cast<int>(channels_.size())).first->second;
}

void World::begin_launch() {
  table = std::make_unique<HashTable>();
  meetings.clear();
  first_calls.clear();
  exchange.begin_launch();
  closed_form.clear();
  in_flight.clear();
  faults.begin_launch(launch, scheduler.now());
  ended_ranks = 0;
  slots.clear();
  slots.resize(static_cast<std::size_t>(spec.ranks()));
  for (Rank r = 0; r < spec.ranks(); ++r) {
    Slot& s = slot(r);
    s.rank = r;
    s.runtime = std::make_unique<SimRuntime>(scheduler, faults, r);
    if (spec.streams) s.device = std::make_unique<SimDevice>(scheduler, faults, *s.runtime, r);
    s.recorder = std::make_unique<FlightRecorder>(r, *s.runtime, records_of_a_rank(spec.ranks()));
    s.recorder->set_launch(launch);
  }
  for (const Faults::Timed& t : faults.timed()) {
    if (t.at < scheduler.now()) continue;
    scheduler.at(t.at, [this, t] {
      if (slot(t.rank).ended) return;
      slot(t.rank).recorder->note(notes::Fault{t.fault, {}});
      if (t.fault == FaultKind::crash) return kill(t.rank, {Code::rank_crashed, fmt::format("the process of rank {} died", t.rank), {}});
      scheduler.freeze(t.rank);
      if (t.hang_for != Time::max()) scheduler.at(t.at + t.hang_for, [this, t] { scheduler.thaw(t.rank); });
    });
  }
}

void World::rank_ended(Rank rank, RankEnd how, const Error& error) {
  Slot& s = slot(rank);
  if (s.ended) return;
  s.ended = true;
  ++ended_ranks;
  s.recorder->ended(how, error);
  trace.add(
      {scheduler.now(), RunEvent::Kind::ended, rank, no_rank, static_cast<std::int64_t>(how), digest(error.message)});
  if (rank == 0)  // the store of tcp:// and env:// lived in its process; clients notice when their sockets close
    scheduler.at(scheduler.now() + spec.intra.latency, [this] { table->close(); });
  exchange.rank_ended(rank);
  for (auto& [channel, meeting] : meetings) meeting.wake_all();
  if (how == RankEnd::returned || library.on_peer_end != OnPeerEnd::job_ends) return;
  const Error ends{Code::cancelled, fmt::format("the launcher ended the job because rank {} had ended", rank), {}};
  scheduler.at(scheduler.now() + spec.intra.latency, [this, ends] {
    for (Rank r = 0; r < spec.ranks(); ++r) kill(r, ends);
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
  scheduler.cancel(rank);
  if (scheduler.current() == rank) scheduler.end_current();
}

}  // namespace pdsim::sim
