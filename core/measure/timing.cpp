#include "core/measure/timing.h"

#include "core/group/init_process_group.h"
#include "core/measure/raw_timing.h"
#include "core/measure/trial.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>

namespace pdsim {
namespace {

struct SizeInPlace {
  std::int64_t count;
  bool in_place;
};

std::vector<SizeInPlace> rounds_of(const TimingRequest& request) {
  std::vector<SizeInPlace> rounds;
  for (const std::int64_t count : request.counts) {
    rounds.push_back({count, false});
    if (request.in_place_too && request.moves_data && has_in_place(request.kind)) rounds.push_back({count, true});
  }
  return rounds;
}

std::string key_of(std::size_t round) { return "round " + std::to_string(round); }

Status line_up(RankEnvironment& env, ProcessGroup& group, Time align) {
  if (align <= Time{}) return wait(group.barrier());
  const std::int64_t next = env.runtime.now().ps / align.ps + 1;
  env.runtime.sleep_until(align * next);
  return {};
}

Payload payload_of(const TimingRequest& request, std::int64_t count, const ProcessGroup& group) {
  Payload payload;
  payload.kind = request.kind;
  payload.dtype = request.dtype;
  payload.count = count;
  payload.op = request.op;
  payload.root = request.root;
  payload.rank = group.rank();
  payload.size = group.size();
  if (row(request.kind).shape.uneven) payload.counts.assign(static_cast<std::size_t>(payload.size), count);
  return payload;
}

Result<std::int64_t> wrong_elements(ProcessGroup& group, const TimingRequest& request, const Payload& payload,
                                    bool in_place) {
  std::int64_t wrong = 0;
  for (int i = 0; request.moves_data && i < request.checks; ++i) {
    const TrialMemory memory(payload, in_place, true);
    PDSIM_TRY(wait(start_trial(group, payload, memory, request.algorithm, request.own)));
    wrong += payload.compare({memory.output().data, static_cast<std::size_t>(memory.output().bytes())}).wrong;
  }
  return wrong;
}

struct Interval {
  Time began, ended;
};

Result<Interval> time_calls(RankEnvironment& env, ProcessGroup& group, const TimingRequest& request,
                            const Payload& payload, bool in_place) {
  const TrialMemory memory(payload, in_place, request.moves_data);
  for (int i = 0; i < request.warmup; ++i) PDSIM_TRY(wait(start_trial(group, payload, memory, request.algorithm, request.own)));
  PDSIM_TRY(line_up(env, group, request.align));
  if (request.on_timed) request.on_timed(true);
  const Time began = env.runtime.now();
  for (int i = 0; i < request.iterations; ++i) PDSIM_TRY(wait(start_trial(group, payload, memory, request.algorithm, request.own)));
  const Time ended = env.runtime.now();
  if (request.on_timed) request.on_timed(false);
  return Interval{began, ended};
}

struct Parties {
  ProcessGroup& group;
  RawCaller* raw;  // null: nothing is called directly
};

// Leaves began, ended (ps) and wrong elements under `key`.
Status time_round(RankEnvironment& env, const Parties& parties, const TimingRequest& request, const SizeInPlace& round,
                  const std::string& key, TensorValues& values) {
  const Payload payload = payload_of(request, round.count, parties.group);
  const Result<std::int64_t> wrong = wrong_elements(parties.group, request, payload, round.in_place);
  if (!wrong.ok()) return wrong.error();
  Interval timed{};
  if (parties.raw != nullptr) {
    PDSIM_TRY(time_beside_raw(env, parties.group, *parties.raw, request, payload, round.in_place, key, values));
  } else {
    const Result<Interval> calls = time_calls(env, parties.group, request, payload, round.in_place);
    if (!calls.ok()) return calls.error();
    timed = *calls;
  }
  values[key] = {static_cast<double>(timed.began.ps), static_cast<double>(timed.ended.ps), static_cast<double>(*wrong)};
  return {};
}

// Null, where nothing is to be called directly.
Result<std::unique_ptr<RawCaller>> join_raw(RankEnvironment& env, const TimingRequest& request, Store& store) {
  if (request.raw_forms == 0) return std::unique_ptr<RawCaller>();
  return env.backend.join_raw(store, {"raw", env.rank, env.world_size, request.timeout});
}

}  // namespace

std::int64_t timed_messages(const TimingRequest& request, std::int64_t messages) {
  const int checks = request.moves_data ? request.checks : 0;
  return messages / (checks + request.warmup + request.iterations) * request.iterations;
}

RankProgram timing_program(const TimingRequest& request) {
  return [&request](RankEnvironment& env) -> ProgramResult {
    Result<ProcessGroup> world = init_process_group(env, request.timeout);
    if (!world.ok()) return {world.error(), {}};
    const Result<std::unique_ptr<RawCaller>> raw = join_raw(env, request, *world->store());
    if (!raw.ok()) return {raw.error(), {}};
    TensorValues values;
    const std::vector<SizeInPlace> rounds = rounds_of(request);
    for (std::size_t i = 0; i < rounds.size(); ++i) {
      const Status timed = time_round(env, {*world, raw->get()}, request, rounds[i], key_of(i), values);
      if (!timed.ok()) return {timed, std::move(values)};
    }
    return {{}, std::move(values)};
  };
}

std::vector<TimedRound> timed_rounds(const TimingRequest& request, const std::vector<RankResult>& ranks) {
  std::vector<TimedRound> timed;
  const std::vector<SizeInPlace> rounds = rounds_of(request);
  for (std::size_t i = 0; i < rounds.size(); ++i) {
    TimedRound sum{.count = rounds[i].count, .in_place = rounds[i].in_place};
    double total = 0.0, last_began = 0.0, last_ended = 0.0;
    std::vector<double> of_ranks;
    for (const RankResult& rank : ranks) {
      const auto found = rank.values.find(key_of(i));
      if (found == rank.values.end() || found->second.size() != 3) return timed;
      const std::vector<double>& v = found->second;
      total += v[1] - v[0];
      of_ranks.push_back(v[1] - v[0]);
      last_began = std::max(last_began, v[0]);
      last_ended = std::max(last_ended, v[1]);
      sum.wrong += static_cast<std::int64_t>(v[2]);
    }
    const auto calls = static_cast<double>(request.iterations);
    sum.average = Time{static_cast<std::int64_t>(total / (calls * static_cast<double>(ranks.size())))};
    sum.whole = Time{static_cast<std::int64_t>((last_ended - last_began) / calls)};
    if (!of_ranks.empty()) {
      const auto [fastest, slowest] = std::minmax_element(of_ranks.begin(), of_ranks.end());
      sum.of_rank_0 = Time{static_cast<std::int64_t>(of_ranks.front() / calls)};
      sum.of_fastest = Time{static_cast<std::int64_t>(*fastest / calls)};
      sum.of_slowest = Time{static_cast<std::int64_t>(*slowest / calls)};
    }
    if (request.raw_forms > 0 && !read_beside_raw(request, ranks, key_of(i), sum)) return timed;
    timed.push_back(sum);
  }
  return timed;
}

}  // namespace pdsim
