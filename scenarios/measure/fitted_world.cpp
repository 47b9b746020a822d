#include "scenarios/measure/fitted_world.h"

#include "core/collectives/algorithms.h"
#include "core/collectives/collective_shape.h"
#include "scenarios/measure/bench.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <thread>
#include <utility>

namespace pdsim::scenarios {
namespace {

constexpr int repeats = 5;  // of each size, of which the fastest counts
constexpr int calibrations = 6;
constexpr DType fitted_dtype = DType::f32;
const std::vector<std::int64_t> part_bytes{1024, 16 << 10, 64 << 10, 512 << 10};  // of the ring's messages

bool is_simulated(const TrialWorld& world) { return world.row->kind == WorldKind::simulated; }

TimingRequest ring(CollectiveKind kind, const TrialWorld& world) {
  TimingRequest request;
  const int ranks = world.scenario.world.spec.ranks();
  const bool simulated = is_simulated(world);
  request.iterations = simulated ? 1 : std::clamp(100 / ranks, 2, 20);
  request.warmup = simulated ? 0 : 5;
  request.moves_data = !simulated;
  request.kind = kind;
  request.algorithm = "ring";
  request.dtype = fitted_dtype;
  request.in_place_too = false;
  for (const std::int64_t bytes : part_bytes) request.counts.push_back(bytes / static_cast<std::int64_t>(size_of(fitted_dtype)));
  return request;
}

Time median_gap(const TimedPairs& pairs) {
  std::vector<Time> gaps;
  for (const PairTimes& pair : pairs.pairs) gaps.push_back(pair.gap);
  if (gaps.empty()) return {};
  const auto middle = gaps.begin() + static_cast<std::ptrdiff_t>(gaps.size() / 2);
  std::nth_element(gaps.begin(), middle, gaps.end());
  return *middle;
}

sim::Link link_of(const LinkFit& fit, Time gap) {
  sim::Link link;
  link.overhead = std::min(gap, Time{fit.latency.ps / 2});
  link.latency = fit.latency - link.overhead * 2;
  link.bandwidth = fit.bandwidth;
  return link;
}

Result<std::vector<Time>> rounds_of_ring(const sim::WorldSpec& fitted, const TimingRequest& request) {
  Result<std::vector<Time>> times = predict(fitted, request);
  if (!times.ok()) return times;
  for (Time& time : times.value()) time = Time{time.ps / (fitted.ranks() - 1)};
  return times;
}

double ratio(std::int64_t wanted, std::int64_t got) {
  return wanted > 0 && got > 0 ? static_cast<double>(wanted) / static_cast<double>(got) : 1.0;
}

std::int64_t scaled(std::int64_t number, double by) { return std::llround(static_cast<double>(number) * by); }

// Ranks that share cores wait for each other in the ring, so that its rounds take longer than a message alone: gives the world the link with
// which they take `of_round`.
Status calibrate(sim::WorldSpec& spec, const TimingRequest& request, const std::vector<Time>& of_round, Time gap) {
  const LinkFit wanted = fit_link(part_bytes, of_round);
  LinkFit alone = wanted;
  spec.intra = spec.inter = link_of(alone, gap);
  for (int i = 0; spec.cores > 0 && i < calibrations; ++i) {
    const Result<std::vector<Time>> rounds = rounds_of_ring(spec, request);
    if (!rounds.ok()) return rounds.error();
    const LinkFit got = fit_link(part_bytes, rounds.value());
    alone.latency = Time{scaled(alone.latency.ps, ratio(wanted.latency.ps, got.latency.ps))};
    alone.bandwidth = Rate{scaled(alone.bandwidth.bytes_per_s, ratio(wanted.bandwidth.bytes_per_s, got.bandwidth.bytes_per_s))};
    spec.intra = spec.inter = link_of(alone, gap);
  }
  return {};
}

// Returns the number of cores of the machine that all ranks are on, if they are too few for every rank to send and receive
// at the same time; else 0.
int shared_cores(const TrialWorld& world, const TimedPairs& pairs) {
  const sim::WorldSpec& asked = world.scenario.world.spec;
  if (is_simulated(world)) return asked.cores;
  if (!pairs.hosts.empty()) return 0;
  const int cores = static_cast<int>(std::thread::hardware_concurrency());
  return cores < 2 * asked.ranks() ? cores : 0;
}

// Uses the longest parts: a reduce_scatter takes longer than an all_gather by the time to combine p - 1 parts.
Rate combining_rate(Time reduce_scatter, Time all_gather, int rounds) {
  const std::int64_t more = (reduce_scatter - all_gather).ps / rounds;
  if (more <= all_gather.ps / rounds / 50) return {};  // as good as free
  return Rate{static_cast<std::int64_t>(static_cast<double>(part_bytes.back()) * 1e12 / static_cast<double>(more))};
}

std::string link_text(const sim::Link& link) {
  std::string text = fmt::format("latency: {}, bandwidth: {}", to_string(link.latency), to_string(link.bandwidth));
  if (link.overhead.ps > 0) text += fmt::format(", overhead: {}", to_string(link.overhead));
  return "{" + text + "}";
}

}  // namespace

Result<FittedWorld> fit_world(const TrialWorld& world, const TimedPairs& pairs) {
  const sim::WorldSpec& asked = world.scenario.world.spec;
  FittedWorld fitted;
  sim::WorldSpec& spec = fitted.spec;
  spec.two_level = pairs.ranks_per_node > 0;
  spec.ranks_per_node = spec.two_level ? pairs.ranks_per_node : asked.ranks();
  spec.nodes = asked.ranks() / spec.ranks_per_node;
  // When a send ends decides whether calls overlap, so the world has the library's semantics.
  spec.backend = is_simulated(world) ? asked.backend : std::string(world.row->name);
  spec.buffering = is_simulated(world) ? asked.buffering : sim::Buffering::backend;
  const int rounds = asked.ranks() - 1;
  const TimingRequest gathering = ring(CollectiveKind::all_gather, world);
  const Result<LeastTimes> gather = time_least(world, gathering);
  if (!gather.ok()) return gather.error();
  const Result<LeastTimes> scatter = time_least(world, ring(CollectiveKind::reduce_scatter, world));
  if (!scatter.ok()) return scatter.error();
  fitted.failure = gather->failure.empty() ? scatter->failure : gather->failure;
  if (!fitted.failure.empty()) return fitted;
  std::vector<Time> of_round;
  for (const Time time : gather->times) of_round.push_back(Time{time.ps / rounds});
  const Time gap = median_gap(pairs);
  if (!spec.two_level) spec.cores = shared_cores(world, pairs);
  if (Status s = calibrate(spec, gathering, of_round, gap); !s.ok()) return s.error();
  if (spec.two_level && pairs.classes.front().name == "same node") {
    spec.intra = link_of(pairs.classes[0].fit, gap);
    if (pairs.classes.size() == 2) spec.inter = link_of(pairs.classes[1].fit, gap);
  }
  spec.reduce_bandwidth = combining_rate(scatter->times.back(), gather->times.back(), rounds);
  return fitted;
}

std::string world_text(const sim::WorldSpec& spec) {
  const bool two = spec.two_level;
  std::string text = two ? fmt::format("nodes: {}, ranks_per_node: {}, intra: {}, inter: {}", spec.nodes, spec.ranks_per_node,
                                       link_text(spec.intra), link_text(spec.inter))
                         : fmt::format("ranks: {}, link: {}", spec.ranks(), link_text(spec.intra));
  if (spec.cores > 0) text += fmt::format(", cores: {}", spec.cores);
  if (spec.reduce_bandwidth.bytes_per_s > 0) text += fmt::format(", reduce_bandwidth: {}", to_string(spec.reduce_bandwidth));
  text += fmt::format(", backend: {}", spec.backend);
  if (spec.buffering != sim::Buffering::backend)
    text += spec.buffering == sim::Buffering::zero ? ", buffering: zero" : ", buffering: unbounded";
  return fmt::format("world: {{{}}}", text);
}

Result<LeastTimes> time_least(const TrialWorld& world, const TimingRequest& request) {
  TimingRequest repeated = request;
  for (int i = 1; i < (is_simulated(world) ? 1 : repeats); ++i)
    repeated.counts.insert(repeated.counts.end(), request.counts.begin(), request.counts.end());
  TrialWorld timed_world = world;
  if (is_simulated(world)) timed_world.scenario.world.spec.payload = request.moves_data;
  timed_world.scenario.name = fmt::format("bench {} {}", name_of(request.kind), request.algorithm);
  const Result<Timed> timed = time(timed_world, repeated);
  if (!timed.ok()) return timed.error();
  const std::size_t sizes = request.counts.size();
  LeastTimes least{std::vector<Time>(sizes, Time::max()), timed->failure};
  std::size_t at = 0;
  for (const TimedRound& round : timed->rounds) {
    if (round.in_place) continue;
    Time& time = least.times[at++ % sizes];
    time = std::min(time, round.of_slowest);
  }
  return least;
}

Result<std::vector<Time>> predict(const sim::WorldSpec& fitted, const TimingRequest& request) {
  std::string problem;
  TrialWorld world;
  world.row = world_named("sim", problem);
  world.scenario.world.spec = fitted;
  world.scenario.world.spec.payload = false;
  TimingRequest simulated = request;
  simulated.moves_data = false;
  simulated.in_place_too = false;
  const Result<Timed> timed = time(world, simulated);
  if (!timed.ok()) return timed.error();
  if (!timed->failure.empty()) return Error{Code::internal, timed->failure, {}};
  std::vector<Time> times;
  for (const TimedRound& round : timed->rounds) times.push_back(round.of_slowest);
  return times;
}

}  // namespace pdsim::scenarios
