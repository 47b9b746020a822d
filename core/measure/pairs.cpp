#include "core/measure/pairs.h"

#include "core/base/fingerprint.h"
#include "core/base/views.h"
#include "core/group/init_process_group.h"
#include "core/measure/pair_slots.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <fstream>
#include <optional>
#include <string>

namespace pdsim {
namespace {

constexpr int batches = 5;  // of which the fastest counts
constexpr int burst_messages = 32;
constexpr const char* node_key = "node";
constexpr const char* host_key = "host";  // the characters of its name
constexpr const char* sent_key = "sent";          // virtual time: after its slot began, by peer and size
constexpr const char* received_key = "received";  // likewise

std::string key_of(RankPair pair) { return fmt::format("pair {} {}", pair.a, pair.b); }

Status round_trips(ProcessGroup& group, MutableView data, Rank peer, bool first, int times) {
  for (int i = 0; i < times; ++i) {
    if (first) PDSIM_TRY(wait(group.send(data, peer, 0)));
    PDSIM_TRY(wait(group.recv(data, peer, 0)));
    if (!first) PDSIM_TRY(wait(group.send(data, peer, 0)));
  }
  return {};
}

// One way in ps, for each size.
Result<std::vector<double>> time_pair(RankEnvironment& env, ProcessGroup& group, const PairRequest& request,
                                      RankPair pair) {
  const bool first = env.rank == pair.a;
  const Rank peer = first ? pair.b : pair.a;
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

// From one of many messages of 8 bytes to the next, in ps: a burst one way, then one message back.
Result<double> time_burst(RankEnvironment& env, ProcessGroup& group, RankPair pair) {
  const bool first = env.rank == pair.a;
  const Rank peer = first ? pair.b : pair.a;
  std::array<std::byte, 8> memory{};
  const MutableView data{memory.data(), DType::u8, static_cast<std::int64_t>(memory.size())};
  const auto exchange = [&](int messages) -> Result<Time> {
    const Time began = env.runtime.now();
    std::vector<WorkPtr> started;
    for (int i = 0; i < messages; ++i) {
      Result<WorkPtr> work = first ? group.send(data, peer, 0) : group.recv(data, peer, 0);
      if (!work.ok()) return work.error();
      started.push_back(std::move(*work));
    }
    for (const WorkPtr& work : started) PDSIM_TRY(wait(Result<WorkPtr>(work)));
    PDSIM_TRY(wait(first ? group.recv(data, peer, 0) : group.send(data, peer, 0)));
    return env.runtime.now() - began;
  };
  Time one = Time::max(), many = Time::max();
  for (int i = 0; i < batches; ++i) {
    const Result<Time> single = exchange(1);
    if (!single.ok()) return single.error();
    const Result<Time> burst = exchange(burst_messages);
    if (!burst.ok()) return burst.error();
    one = std::min(one, *single);
    many = std::min(many, *burst);
  }
  return std::max(0.0, static_cast<double>((many - one).ps)) / (burst_messages - 1);
}

std::string host_here() {
  std::string host;
  std::getline(std::ifstream("/proc/sys/kernel/hostname"), host);
  return host;
}

// Gathers a digest of every rank's node: its host and, in the simulated world, its place there.
Result<std::vector<std::int64_t>> gather_nodes(RankEnvironment& env, ProcessGroup& group, const std::string& host) {
  const auto mine = static_cast<std::int64_t>(digest(fmt::format("{} {}", host, env.node)) >> 11);
  std::vector<std::int64_t> nodes(static_cast<std::size_t>(env.world_size), mine);
  std::int64_t own = mine;
  if (env.world_size > 1) PDSIM_TRY(wait(group.all_gather(view_of(own), view_of(nodes))));
  return nodes;
}

Status time_slots(RankEnvironment& env, ProcessGroup& group, const PairRequest& request, TensorValues& values) {
  const std::string host = host_here();
  const Result<std::vector<std::int64_t>> nodes = gather_nodes(env, group, host);
  if (!nodes.ok()) return nodes.error();
  values[node_key] = {static_cast<double>((*nodes)[static_cast<std::size_t>(env.rank)])};
  values[host_key].assign(host.begin(), host.end());
  for (const std::vector<RankPair>& slot : pair_slots(*nodes)) {
    PDSIM_TRY(wait(group.barrier()));
    for (const RankPair pair : slot) {
      if (env.rank != pair.a && env.rank != pair.b) continue;
      Result<std::vector<double>> times = time_pair(env, group, request, pair);
      if (!times.ok()) return times.error();
      const Result<double> gap = time_burst(env, group, pair);
      if (!gap.ok()) return gap.error();
      times->push_back(*gap);
      if (env.rank == pair.a) values[key_of(pair)] = std::move(*times);
    }
  }
  return wait(group.barrier());
}

// In virtual time: the lower rank of each pair sends, at a time that no other pair uses.
Status time_one_by_one(RankEnvironment& env, ProcessGroup& group, const PairRequest& request, TensorValues& values) {
  std::vector<double>&sent = values[sent_key], &received = values[received_key];
  values[node_key] = {static_cast<double>(env.node)};
  const std::int64_t largest = *std::max_element(request.bytes.begin(), request.bytes.end());
  std::vector<std::byte> memory(request.moves_data ? static_cast<std::size_t>(largest) : 0);
  const auto sizes = static_cast<std::int64_t>(request.bytes.size());
  // Every rank has joined by the first multiple that is far enough.
  const std::int64_t first = 1 + request.timeout.ps / request.align.ps;
  for (Rank peer = 0; peer < env.world_size; ++peer) {
    if (peer == env.rank) continue;
    const RankPair pair{std::min(peer, env.rank), std::max(peer, env.rank)};
    for (std::int64_t size = 0; size < sizes; ++size) {
      const Time slot = request.align * (first + place_of_pair(pair, env.world_size) * sizes + size);
      env.runtime.sleep_until(slot);
      const MutableView data{memory.empty() ? nullptr : memory.data(), DType::u8,
                             request.bytes[static_cast<std::size_t>(size)]};
      const bool sends = env.rank == pair.a;
      if (sends) sent.push_back(static_cast<double>((env.runtime.now() - slot).ps));
      PDSIM_TRY(wait(sends ? group.send(data, peer, 0) : group.recv(data, peer, 0)));
      if (!sends) received.push_back(static_cast<double>((env.runtime.now() - slot).ps));
    }
  }
  return {};
}

Time median(std::vector<Time> times) {
  const auto middle = times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2);
  std::nth_element(times.begin(), middle, times.end());
  return *middle;
}

const std::vector<double>* values_under(const RankResult& rank, const std::string& key) {
  const auto found = rank.values.find(key);
  return found == rank.values.end() ? nullptr : &found->second;
}

// The pair's times in ps by size, then its gap, as its ranks left them.
std::optional<std::vector<double>> times_of(const PairRequest& request, const std::vector<RankResult>& ranks,
                                            RankPair pair) {
  const RankResult &a = ranks[static_cast<std::size_t>(pair.a)], &b = ranks[static_cast<std::size_t>(pair.b)];
  const std::size_t sizes = request.bytes.size();
  if (request.align <= Time{}) {
    const std::vector<double>* times = values_under(a, key_of(pair));
    return times != nullptr && times->size() == sizes + 1 ? std::optional(*times) : std::nullopt;
  }
  // A rank receives from all before it, and sends to all behind it.
  const std::vector<double>*sent = values_under(a, sent_key), *received = values_under(b, received_key);
  const std::size_t of_sent = static_cast<std::size_t>(pair.b - pair.a - 1) * sizes;
  const std::size_t of_received = static_cast<std::size_t>(pair.a) * sizes;
  if (sent == nullptr || received == nullptr || sent->size() < of_sent + sizes || received->size() < of_received + sizes)
    return std::nullopt;
  std::vector<double> times;
  for (std::size_t i = 0; i < sizes; ++i) times.push_back((*received)[of_received + i] - (*sent)[of_sent + i]);
  times.push_back(0.0);
  return times;
}

}  // namespace

RankProgram pair_program(const PairRequest& request) {
  return [&request](RankEnvironment& env) -> ProgramResult {
    Result<ProcessGroup> world = init_process_group(env, request.timeout);
    if (!world.ok()) return {world.error(), {}};
    TensorValues values;
    const bool is_virtual = request.align > Time{};
    const Status timed = is_virtual ? time_one_by_one(env, *world, request, values) : time_slots(env, *world, request, values);
    return {timed, std::move(values)};
  };
}

std::vector<std::int64_t> pair_nodes(const std::vector<RankResult>& ranks) {
  std::vector<std::int64_t> nodes;
  for (const RankResult& rank : ranks) {
    const std::vector<double>* node = values_under(rank, node_key);
    if (node == nullptr || node->size() != 1) return {};
    nodes.push_back(static_cast<std::int64_t>(node->front()));
  }
  return nodes;
}

std::vector<std::string> pair_hosts(const std::vector<RankResult>& ranks) {
  std::vector<std::string> hosts;
  for (const RankResult& rank : ranks) {
    const std::vector<double>* name = values_under(rank, host_key);
    if (name == nullptr) return {};
    std::string& host = hosts.emplace_back();
    for (const double character : *name) host += static_cast<char>(character);
  }
  return hosts;
}

std::vector<PairTimes> pair_times(const PairRequest& request, const std::vector<RankResult>& ranks) {
  std::vector<PairTimes> pairs;
  const auto size = static_cast<Rank>(ranks.size());
  for (Rank a = 0; a < size; ++a)
    for (Rank b = a + 1; b < size; ++b) {
      const std::optional<std::vector<double>> times = times_of(request, ranks, {a, b});
      if (!times) continue;
      PairTimes pair{.a = a, .b = b};
      for (const double ps : *times) pair.one_way.push_back(Time{static_cast<std::int64_t>(ps)});
      pair.gap = pair.one_way.back();
      pair.one_way.pop_back();
      pair.fit = fit_link(request.bytes, pair.one_way);
      pairs.push_back(std::move(pair));
    }
  classify(request, pairs, [](const PairTimes&) { return 0; });
  return pairs;
}

void classify(const PairRequest& request, std::vector<PairTimes>& pairs,
              const std::function<int(const PairTimes&)>& class_of) {
  std::vector<std::vector<Time>> middle;
  int classes = 0;
  for (PairTimes& pair : pairs) {
    pair.link_class = class_of(pair);
    classes = std::max(classes, pair.link_class + 1);
  }
  for (int c = 0; c < classes; ++c) middle.push_back(median_times(request, pairs, c));
  for (PairTimes& pair : pairs) {
    const std::vector<Time>& usual = middle[static_cast<std::size_t>(pair.link_class)];
    pair.slowness = 0.0;
    for (std::size_t i = 0; i < usual.size(); ++i)
      pair.slowness = std::max(pair.slowness, static_cast<double>(pair.one_way[i].ps) /
                                                  static_cast<double>(std::max<std::int64_t>(1, usual[i].ps)));
  }
}

std::vector<Time> median_times(const PairRequest& request, const std::vector<PairTimes>& pairs, int link_class) {
  std::vector<Time> middle;
  for (std::size_t i = 0; i < request.bytes.size(); ++i) {
    std::vector<Time> times;
    for (const PairTimes& pair : pairs)
      if (pair.link_class == link_class) times.push_back(pair.one_way[i]);
    if (times.empty()) return {};
    middle.push_back(median(std::move(times)));
  }
  return middle;
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

LinkFit median_link(const PairRequest& request, const std::vector<PairTimes>& pairs, int link_class) {
  return fit_link(request.bytes, median_times(request, pairs, link_class));
}

}  // namespace pdsim
