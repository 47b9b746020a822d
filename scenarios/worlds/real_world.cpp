#include "scenarios/worlds/real_world.h"

#include "backends/availability.h"
#include "backends/process/process_world.h"
#include "scenarios/records/launch_record.h"
#include "scenarios/records/log_view.h"
#include "scenarios/records/record_json.h"
#include "scenarios/worlds/real_faults.h"

#include <fmt/format.h>

#include <cstring>

namespace pdsim::scenarios {
namespace {

// The last line a process printed: a library that aborts says there why.
std::string_view last_line(std::string_view text) {
  while (!text.empty() && text.back() == '\n') text.remove_suffix(1);
  const std::size_t newline = text.rfind('\n');
  return newline == std::string_view::npos ? text : text.substr(newline + 1);
}

// Gloo checks each message on a thread of its own, and ends the process (gloo/transport/tcp/pair.cc).
constexpr std::string_view gloo_message_too_long = "preamble.length <= op.nbytes";

// A process that ended without its last word.
Error death_of(Rank rank, const RankOutcome& outcome) {
  const Ended& ended = *outcome.ended;
  const bool aborted = ended.signal == SIGABRT;
  std::string how = ended.signal != 0 ? fmt::format("by signal {} ({})", ended.signal, strsignal(ended.signal))
                                      : fmt::format("with exit status {}", ended.exit_status);
  if (!outcome.output.empty()) how += fmt::format(": {}", last_line(outcome.output));
  Error error{aborted ? Code::process_aborted : Code::rank_crashed,
              fmt::format("the process of rank {} ended {}", rank, how),
              {{"rank", std::to_string(rank)}, {"signal", std::to_string(ended.signal)}}};
  if (last_line(outcome.output).find(gloo_message_too_long) != std::string_view::npos)
    error.facts.push_back({"cause", std::string(message_too_long)});
  return error;
}

// Recovers the newest calls of a rank that did not report, from the memory it shared with the launcher.
void take_ring(RankLog& log, const RingRecord& ring, Time now) {
  log.calls = ring.log.calls;
  log.notes = ring.log.notes;
  log.dropped = ring.log.dropped;
  if (ring.torn > 0) log.notes.push_back({-1, now, {}, notes::HalfWritten{ring.torn}});
}

RankResult result_of(Rank rank, const RankOutcome& outcome, Time now) {
  RankResult result;
  if (!outcome.record.empty()) {
    Result<RankResult> told = rank_result_from_json(outcome.record);
    if (told.ok()) result = std::move(*told);
  }
  RankLog& log = result.log;
  log.rank = rank;
  log.launch = outcome.launch;
  if (!outcome.answered && outcome.ring) take_ring(log, *outcome.ring, now);
  // Also of a program that had ended well: its process did not.
  const bool killed_at_its_end = log.end == RankEnd::returned && outcome.ended && outcome.ended->signal != 0;
  if (outcome.ended && (killed_at_its_end || (!outcome.finished && log.end != RankEnd::died))) {
    log.end = RankEnd::died;
    log.ended = outcome.ended_at;
    log.error = death_of(rank, outcome);
    if (!log.calls.empty()) log.error_site = log.calls.back().site;
  }
  if (outcome.ended_by && log.end == RankEnd::running) {
    log.end = RankEnd::died;
    log.ended = now;
    log.error = {
        Code::cancelled, fmt::format("the launcher ended the job because rank {} had ended", *outcome.ended_by), {}};
  } else if (!outcome.finished && !outcome.answered && !outcome.ended) {
    if (outcome.stopped) log.notes.push_back(stopped_note(log));
    log.notes.push_back({-1, now, {}, notes::NoAnswer{outcome.stopped}});
  }
  return result;
}

class RealWorldRunner final : public WorldRunner {
 public:
  explicit RealWorldRunner(const RealWorldRow& row) : row_(row) {}
  std::string_view name() const override { return row_.name; }
  Availability available() const override { return row_.available(); }

  Result<RunRecord> run(const Scenario& scenario, const RunOptions& options, const RankProgram&) override {
    if (const Availability here = available(); !here.yes) return Error{Code::unavailable, here.reason, {}};
    PDSIM_TRY(real_faults_supported(scenario, name()));
    ProcessWorldOptions world;
    world.ranks = scenario.world.spec.ranks();
    world.patience = options.patience;
    world.take_slots = row_.take_slots;
    world.ends_together = row_.ends_together;
    world.deaths_are_planned = kills_ranks(scenario);
    world.job = options.job;
    world.begins_once =
        row_.take_slots != nullptr;  // a library with a launcher of its own takes a process of a job for one life
    world.command = {options.executable, "rank", std::string(name())};
    if (!options.rank_command.empty()) {
      world.command.resize(1);
      world.command.insert(world.command.end(), options.rank_command.begin(), options.rank_command.end());
    } else {
      world.request = request_text(options.request ? *options.request : request_of(scenario));
    }
    if (world.ranks > most_ranks)
      return Error{Code::limit_exceeded,
                   fmt::format("{} ranks are too many processes for one machine; at most {} on {}", world.ranks,
                               most_ranks, name()),
                   {}};
    const Result<ProcessWorldResult> outcome = run_process_world(world);
    if (!outcome.ok()) return outcome.error();
    return record_of(*outcome);
  }

 private:
  static constexpr int most_ranks = 64;

  static Result<RunRecord> record_of(const ProcessWorldResult& outcome) {
    RunRecord run;
    for (std::size_t i = 0; i < outcome.earlier.size(); ++i)
      run.earlier.push_back(
          result_of(static_cast<Rank>(i % outcome.ranks.size()), outcome.earlier[i], outcome.elapsed));
    for (std::size_t r = 0; r < outcome.ranks.size(); ++r) {
      const RankOutcome& rank = outcome.ranks[r];
      if (rank.refused())
        return Error{Code::unavailable, fmt::format("rank {} could not begin: {}", r, last_line(rank.output)), {}};
      run.ranks.push_back(result_of(static_cast<Rank>(r), rank, outcome.elapsed));
      run.events += static_cast<std::int64_t>(run.ranks.back().log.calls.size() + run.ranks.back().log.notes.size());
    }
    run.deadlocked = outcome.deadlocked;
    run.deadlock_at = outcome.deadlock_at;
    run.elapsed = outcome.deadlocked ? outcome.deadlock_at : outcome.elapsed;
    run.wall_ns = outcome.elapsed.ns();
    run.watchdog.resize(run.ranks.size());
    return run;
  }

  RealWorldRow row_;
};

}  // namespace

std::unique_ptr<WorldRunner> real_world(std::string_view name) {
  for (const RealWorldRow& row : real_worlds())
    if (row.name == name) return std::make_unique<RealWorldRunner>(row);
  return nullptr;
}

}  // namespace pdsim::scenarios
