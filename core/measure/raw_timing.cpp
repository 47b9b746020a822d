#include "core/measure/raw_timing.h"

#include "core/measure/trial.h"

#include <algorithm>

namespace pdsim {
namespace {

std::string blocks_key(const std::string& round) { return round + " blocks"; }
std::string wrong_key(const std::string& round) { return round + " raw wrong"; }

Result<double> wrong_elements(RawCaller& raw, const Payload& payload, bool in_place, int form) {
  const TrialMemory memory(payload, in_place, true);
  const Result<RawCaller::Run> run = raw.prepare(trial_call(payload, memory), form);
  if (!run.ok()) return run.error();
  PDSIM_TRY((*run)());
  const auto size = static_cast<std::size_t>(memory.output().bytes());
  return static_cast<double>(payload.compare({memory.output().data, size}).wrong);
}

// Picoseconds of all timed calls of the block.
Result<double> time_block(Runtime& runtime, int calls, const RawCaller::Run& run) {
  PDSIM_TRY(run());
  const Time began = runtime.now();
  for (int i = 0; i < calls; ++i) PDSIM_TRY(run());
  return static_cast<double>((runtime.now() - began).ps);
}

struct Summary {
  double median = 0.0, least = 0.0;
};

// Summarises one call over its blocks; the time of a block is the mean over the ranks.
Summary summary_of(std::vector<double> blocks) {
  std::sort(blocks.begin(), blocks.end());
  const std::size_t half = blocks.size() / 2;
  const double median = blocks.size() % 2 == 1 ? blocks[half] : (blocks[half - 1] + blocks[half]) / 2.0;
  return {median, blocks.front()};
}

Time time_of(double picoseconds) { return {static_cast<std::int64_t>(picoseconds)}; }

}  // namespace

Status time_beside_raw(RankEnvironment& env, ProcessGroup& group, RawCaller& raw, const TimingRequest& request,
                       const Payload& payload, bool in_place, const std::string& key, TensorValues& values) {
  std::vector<double> blocks, wrong;
  for (int form = 0; form < request.raw_forms; ++form) {
    const Result<double> elements = wrong_elements(raw, payload, in_place, form);
    if (!elements.ok()) return elements.error();
    wrong.push_back(*elements);
  }
  const TrialMemory memory(payload, in_place, true);
  std::vector<RawCaller::Run> runs;
  runs.push_back([&] { return wait(start_trial(group, payload, memory, request.algorithm, request.own)); });
  for (int form = 0; form < request.raw_forms; ++form) {
    Result<RawCaller::Run> run = raw.prepare(trial_call(payload, memory), form);
    if (!run.ok()) return run.error();
    runs.push_back(std::move(*run));
  }
  for (int i = 0; i < request.warmup; ++i)
    for (const RawCaller::Run& run : runs) PDSIM_TRY(run());
  PDSIM_TRY(wait(group.barrier()));
  for (int block = 0; block < request.blocks; ++block)
    for (const RawCaller::Run& run : runs) {
      const std::int64_t record = env.recorder.enter("block");  // raw calls leave no other trace of getting on
      const Result<double> took = time_block(env.runtime, request.iterations, run);
      env.recorder.leave(record, took.status());
      if (!took.ok()) return took.error();
      blocks.push_back(*took);
    }
  values[blocks_key(key)] = std::move(blocks);
  values[wrong_key(key)] = std::move(wrong);
  return {};
}

bool read_beside_raw(const TimingRequest& request, const std::vector<RankResult>& ranks, const std::string& key,
                     TimedRound& round) {
  const auto runs = static_cast<std::size_t>(request.raw_forms) + 1, blocks = static_cast<std::size_t>(request.blocks);
  std::vector<std::vector<double>> times(runs, std::vector<double>(blocks));
  round.raw.assign(runs - 1, {});
  for (const RankResult& rank : ranks) {
    const auto took = rank.values.find(blocks_key(key)), wrong = rank.values.find(wrong_key(key));
    if (took == rank.values.end() || took->second.size() != blocks * runs) return false;
    if (wrong == rank.values.end() || wrong->second.size() != runs - 1) return false;
    const double calls = static_cast<double>(request.iterations) * static_cast<double>(ranks.size());
    for (std::size_t i = 0; i < took->second.size(); ++i) times[i % runs][i / runs] += took->second[i] / calls;
    for (std::size_t form = 0; form + 1 < runs; ++form)
      round.raw[form].wrong += static_cast<std::int64_t>(wrong->second[form]);
  }
  const Summary ours = summary_of(times[0]);
  round.average = time_of(ours.median);
  round.least = time_of(ours.least);
  for (std::size_t form = 0; form + 1 < runs; ++form) {
    const Summary raw = summary_of(times[form + 1]);
    round.raw[form].median = time_of(raw.median);
    round.raw[form].least = time_of(raw.least);
  }
  return true;
}

}  // namespace pdsim
