#include "core/measure/pairs.h"

#include "core/group/init_process_group.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>

namespace pdsim {
namespace {

constexpr int batches = 5;  // of which the fastest counts

std::string key_of(Rank a, Rank b) { return fmt::format("pair {} {}", a, b); }

Status round_trips(ProcessGroup& group, MutableView data, Rank peer, bool first, int times) {
  for (int i = 0; i < times; ++i) {
    if (first) PDSIM_TRY(wait(group.send(data, peer, 0)));
    PDSIM_TRY(wait(group.recv(data, peer, 0)));
    if (!first) PDSIM_TRY(wait(group.send(data, peer, 0)));
  }
  return {};
}

// One way in ps, for each size.
Result<std::vector<double>> time_pair(RankEnvironment& env, ProcessGroup& group, const PairRequest& request, Rank a,
                                      Rank b) {
  const bool first = env.rank == a;
  const Rank peer = first ? b : a;
  const int trips = std::max(1, request.iterations / batches);
  std::vector<double> times;
  for (const std::int64_t bytes : request.bytes) {
    std::vector<std::byte> memory(static_cast<std::size_t>(bytes));
    const MutableView data{memory.data(), DType::u8, bytes};
    PDSIM_TRY(round_trips(group, data, peer, first, request.warmup));
    Time least = Time::max();
    for (int i = 0; i < batches; ++i) {
      const Time began = env.runtime.now();
      PDSIM_TRY(round_trips(group, data, peer, first, trips));
      least = std::min(least, env.runtime.now() - began);
    }
    times.push_back(static_cast<double>(least.ps) / (2.0 * trips));
  }
  return times;
}

Time median(std::vector<Time> times) {
  const auto middle = times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2);
  std::nth_element(times.begin(), middle, times.end());
  return *middle;
}

std::vector<Time> medians(std::size_t sizes, const std::vector<PairTimes>& pairs) {
  std::vector<Time> middle;
  for (std::size_t i = 0; i < sizes && !pairs.empty(); ++i) {
    std::vector<Time> times;
    for (const PairTimes& pair : pairs) times.push_back(pair.one_way[i]);
    middle.push_back(median(std::move(times)));
  }
  return middle;
}

}  // namespace

RankProgram pair_program(const PairRequest& request) {
  return [&request](RankEnvironment& env) -> ProgramResult {
    Result<ProcessGroup> world = init_process_group(env, request.timeout);
    if (!world.ok()) return {world.error(), {}};
    TensorValues values;
    for (Rank a = 0; a < env.world_size; ++a)
      for (Rank b = a + 1; b < env.world_size; ++b) {
        if (const Status status = wait(world->barrier()); !status.ok()) return {status, std::move(values)};
        if (env.rank != a && env.rank != b) continue;
        Result<std::vector<double>> times = time_pair(env, *world, request, a, b);
        if (!times.ok()) return {times.error(), std::move(values)};
        if (env.rank == a) values[key_of(a, b)] = std::move(*times);
      }
    return {wait(world->barrier()), std::move(values)};
  };
}

std::vector<PairTimes> pair_times(const PairRequest& request, const std::vector<RankResult>& ranks) {
  std::vector<PairTimes> pairs;
  const auto size = static_cast<Rank>(ranks.size());
  for (Rank a = 0; a < size; ++a)
    for (Rank b = a + 1; b < size; ++b) {
      const TensorValues& values = ranks[static_cast<std::size_t>(a)].values;
      const auto found = values.find(key_of(a, b));
      if (found == values.end() || found->second.size() != request.bytes.size()) continue;
      PairTimes pair{a, b, {}, {}, 1.0};
      for (const double ps : found->second) pair.one_way.push_back(Time{static_cast<std::int64_t>(ps)});
      pair.fit = fit_link(request.bytes, pair.one_way);
      pairs.push_back(std::move(pair));
    }
  const std::vector<Time> middle = medians(request.bytes.size(), pairs);
  for (PairTimes& pair : pairs) {
    pair.slowness = 0.0;
    for (std::size_t i = 0; i < middle.size(); ++i)
      pair.slowness = std::max(pair.slowness, static_cast<double>(pair.one_way[i].ps) /
                                                  static_cast<double>(std::max<std::int64_t>(1, middle[i].ps)));
  }
  return pairs;
}

LinkFit fit_link(const std::vector<std::int64_t>& bytes, std::vector<Time> times) {
  for (std::size_t i = times.size(); i-- > 1;) times[i - 1] = std::min(times[i - 1], times[i]);
  // Minimises the sum of (latency w + slope n w - 1)^2 with w = 1 / time.
  double ww = 0.0, wn = 0.0, nn = 0.0, w1 = 0.0, n1 = 0.0;
  for (std::size_t i = 0; i < times.size(); ++i) {
    const double w = 1.0 / static_cast<double>(std::max<std::int64_t>(1, times[i].ps));
    const double n = static_cast<double>(bytes[i]) * w;
    ww += w * w;
    wn += w * n;
    nn += n * n;
    w1 += w;
    n1 += n;
  }
  const double determinant = ww * nn - wn * wn;
  double latency = determinant > 0.0 ? (w1 * nn - n1 * wn) / determinant : 0.0;
  double slope = determinant > 0.0 ? (n1 * ww - w1 * wn) / determinant : 0.0;  // ps a byte
  if (latency < 0.0) {
    latency = 0.0;
    slope = nn > 0.0 ? n1 / nn : 0.0;
  }
  if (slope < 0.0) {
    slope = 0.0;
    latency = ww > 0.0 ? w1 / ww : 0.0;
  }
  return {Time{static_cast<std::int64_t>(latency)}, Rate{slope > 0.0 ? static_cast<std::int64_t>(1e12 / slope) : 0}};
}

LinkFit median_link(const PairRequest& request, const std::vector<PairTimes>& pairs) {
  return fit_link(request.bytes, medians(request.bytes.size(), pairs));
}

}  // namespace pdsim
