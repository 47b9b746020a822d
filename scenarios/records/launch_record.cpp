#include "scenarios/records/launch_record.h"

#include "backends/process/record_file.h"
#include "core/record/record_check.h"
#include "scenarios/records/log_view.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <filesystem>
#include <map>
#include <optional>

namespace pdsim::scenarios {
namespace {

namespace fs = std::filesystem;

Time last_moment(const RankLog& log) {
  Time last{};
  for (const Call& call : log.calls) last = std::max({last, call.issued, call.started, call.finished});
  for (const Note& note : log.notes) last = std::max(last, note.at);
  return last;
}

RankLog log_of_ring(Rank rank, const std::optional<RingRecord>& ring) {
  RankLog log;
  if (ring)
    log = ring->log;
  else
    log.notes.push_back({-1, {}, {}, notes::NoRecord{}});
  log.rank = rank;
  return log;
}

Rank rank_of_name(const std::string& name) {
  constexpr std::string_view before = "rank_", behind = ".ring";
  if (!name.starts_with(before) || !name.ends_with(behind) || name.size() <= before.size() + behind.size())
    return no_rank;
  Rank rank = no_rank;
  const char *begin = name.data() + before.size(), *end = name.data() + name.size() - behind.size();
  const auto [at, failed] = std::from_chars(begin, end, rank);
  return failed == std::errc() && at == end && rank >= 0 && rank < most_recorded_ranks ? rank : no_rank;
}

// All moments are known: when the newest was.
void set_end(RunRecord& run) {
  for (const RankResult& rank : run.ranks) {
    run.elapsed = std::max(run.elapsed, last_moment(rank.log));
    run.events += static_cast<std::int64_t>(rank.log.calls.size() + rank.log.notes.size());
  }
  run.deadlock_at = run.deadlocked ? run.elapsed : Time{};
  run.wall_ns = run.elapsed.ns();
  run.watchdog.resize(run.ranks.size());
}

void tell_end(RankLog& log, const RankOutcome& outcome) {
  if (outcome.ended && outcome.ended->signal == 0 && outcome.ended->exit_status == 0) {
    log.end = RankEnd::returned;
  } else if (outcome.ended) {
    const Ended& how = *outcome.ended;
    log.end = RankEnd::died;
    log.error = {
        Code::rank_crashed,
        how.signal != 0
            ? fmt::format("the process of rank {} ended by signal {} ({})", log.rank, how.signal, strsignal(how.signal))
            : fmt::format("the process of rank {} ended with exit status {}", log.rank, how.exit_status),
        {{"rank", std::to_string(log.rank)}, {"signal", std::to_string(how.signal)}}};
    if (!log.calls.empty()) log.error_site = log.calls.back().site;
  } else if (outcome.stopped) {
    log.notes.push_back(stopped_note(log));
  }
}

bool sits_in_something(const RankLog& log) {
  const Call* call = sits_in(log, Time::max());
  return call != nullptr && call->layer != Layer::program;
}

}  // namespace

RunRecord run_of_launch(const LaunchOutcome& outcome) {
  RunRecord run;
  const bool stopped = std::any_of(outcome.ranks.begin(), outcome.ranks.end(), [](const auto& r) { return r.stopped; });
  run.deadlocked = stopped || outcome.quiet;
  for (std::size_t r = 0; r < outcome.ranks.size(); ++r) {
    run.ranks.push_back({log_of_ring(static_cast<Rank>(r), outcome.ranks[r].ring), {}});
    tell_end(run.ranks.back().log, outcome.ranks[r]);
  }
  set_end(run);
  for (std::size_t r = 0; r < outcome.ranks.size(); ++r) {
    RankLog& log = run.ranks[r].log;
    if (outcome.ranks[r].ended_by && !run.deadlocked && log.end == RankEnd::running) {
      log.end = RankEnd::died;
      log.error = {Code::cancelled,
                   fmt::format("the launcher ended the job because rank {} had ended", *outcome.ranks[r].ended_by),
                   {}};
    }
    if (log.end != RankEnd::running) log.ended = run.elapsed;
  }
  return run;
}

Note stopped_note(const RankLog& log) {
  return {-1, last_moment(log), {}, notes::Fault{.fault = FaultKind::hang, .before = {}, .by_signal = true}};
}

bool is_ring_name(const std::string& name) { return rank_of_name(name) != no_rank; }

namespace {

std::map<Rank, RingRecord> rings_in(const std::string& folder, LeftOut& left_out) {
  std::map<Rank, std::string> paths;
  std::error_code failed;
  for (fs::directory_iterator at(folder, failed), end; !failed && at != end; at.increment(failed))
    if (const Rank rank = rank_of_name(at->path().filename().string()); rank != no_rank)
      paths.emplace(rank, at->path().string());
  std::map<Rank, RingRecord> rings;
  for (const auto& [rank, path] : paths) {
    Result<RingRecord> ring = read_record_file(path);
    if (ring.ok())
      rings.emplace(rank, std::move(*ring));
    else
      left_out.add(fmt::format("{}: {}", path, ring.error().message));
  }
  for (const auto& [rank, ring] : rings) left_out.add(ring.left_out, paths.at(rank));
  return rings;
}

}  // namespace

Result<SavedRun> run_of_rings(const std::string& folder) {
  SavedRun saved;
  std::map<Rank, RingRecord> rings = rings_in(folder, saved.left_out);
  if (rings.empty())
    return Error{
        Code::input_invalid,
        saved.left_out.empty() ? fmt::format("there is no rank_N.ring in {}", folder) : saved.left_out.named().front(),
        {}};
  LaunchOutcome outcome;
  outcome.ranks.resize(static_cast<std::size_t>(rings.rbegin()->first) + 1);
  std::optional<Rank> dead;
  for (auto& [rank, ring] : rings) {
    RankOutcome& one = outcome.ranks[static_cast<std::size_t>(rank)];
    if (ring.end) one.stopped = ring.end->stopped;
    if (ring.end && !one.stopped) one.ended = Ended{ring.end->exit_status, ring.end->signal};
    if (one.ended && !dead) dead = rank;
    outcome.quiet = outcome.quiet || sits_in_something(ring.log);
    one.ring = std::move(ring);
  }
  outcome.quiet = outcome.quiet && !dead;
  for (RankOutcome& one : outcome.ranks)
    if (dead && one.ring && !one.ended) one.ended_by = *dead;
  saved.run = run_of_launch(outcome);
  return saved;
}

}  // namespace pdsim::scenarios
