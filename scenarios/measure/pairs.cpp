#include "scenarios/measure/pairs.h"

#include "sim/network/routes.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <utility>

namespace pdsim::scenarios {

namespace {

constexpr int pairs_in_full = 128;  // ranks

// Longer than any message of the request takes in this world.
Time longest_message(const sim::WorldSpec& spec, const PairRequest& request) {
  Time longest{};
  for (const sim::Link* link : {&spec.intra, &spec.inter}) {
    const Bytes bytes{request.bytes.back() + link->header.count};
    const Time transfer = transfer_time(bytes, link->bandwidth);
    const auto slowed = static_cast<std::int64_t>(std::ceil(std::max(1.0, spec.topology.oversubscription)));
    longest = std::max(longest, link->latency + link->overhead * 2 + link->jitter + transfer * slowed);
  }
  return longest + spec.topology.hop * spec.ends() + Time{1'000'000};
}

// The name of the class of a link in a simulated world.
std::string class_in(const sim::WorldSpec& spec, const sim::Routes& routes, const PairTimes& pair) {
  using Kind = sim::Topology::Kind;
  if (spec.two_level && spec.node_of(pair.a) == spec.node_of(pair.b)) return "same node";
  std::vector<std::uint32_t> links;
  const int hops = routes.find(pair.a, pair.b, links);
  switch (spec.topology.kind) {
    case Kind::crossbar: return spec.two_level ? "other node" : "all";
    case Kind::fat_tree: return hops == 0 ? "same leaf" : "other leaf";
    case Kind::rail: return hops == 0 ? "same rail" : "other rail";
    case Kind::torus: return fmt::format("{} links", hops + 1);
  }
  return "all";
}

// As TimedPairs::ranks_per_node.
int even_nodes(const std::vector<std::int64_t>& nodes) {
  std::size_t local = 1;
  while (local < nodes.size() && nodes[local] == nodes[0]) ++local;
  if (nodes.empty() || local == 1 || nodes.size() == local || nodes.size() % local != 0) return 0;
  for (std::size_t i = 1; i < nodes.size(); ++i)
    if ((nodes[i] == nodes[i - 1]) != (i % local != 0)) return 0;
  return static_cast<int>(local);
}

// Sorts the pairs into classes by name; "same ..." and fewer links come first.
void sort_into_classes(const PairRequest& request, const std::function<std::string(const PairTimes&)>& name_of,
                       TimedPairs& timed) {
  std::map<std::string, int> places;
  for (const PairTimes& pair : timed.pairs) places.emplace(name_of(pair), 0);
  std::vector<std::string> names;
  for (const auto& [name, place] : places) names.push_back(name);
  std::stable_sort(names.begin(), names.end(), [](const std::string& x, const std::string& y) {
    return std::pair(!x.starts_with("same"), x.size()) < std::pair(!y.starts_with("same"), y.size());
  });
  for (std::size_t i = 0; i < names.size(); ++i) places[names[i]] = static_cast<int>(i);
  classify(request, timed.pairs, [&](const PairTimes& pair) { return places[name_of(pair)]; });
  for (std::size_t i = 0; i < names.size(); ++i) {
    const auto place = static_cast<int>(i);
    const auto count = std::count_if(timed.pairs.begin(), timed.pairs.end(),
                                     [place](const PairTimes& pair) { return pair.link_class == place; });
    timed.classes.push_back({names[i], count, median_times(request, timed.pairs, place),
                             median_link(request, timed.pairs, place)});
  }
}

// As TimedPairs::hosts.
std::vector<std::string> hosts_of(const sim::WorldSpec& spec, bool simulated, const RunRecord& run) {
  std::vector<std::string> hosts;
  if (!simulated) hosts = pair_hosts(run.ranks);
  if (simulated && spec.two_level)
    for (Rank rank = 0; rank < spec.ranks(); ++rank) hosts.push_back(fmt::format("node {}", spec.node_of(rank)));
  const bool several = std::any_of(hosts.begin(), hosts.end(), [&](const std::string& h) { return h != hosts.front(); });
  return several ? hosts : std::vector<std::string>();
}

}  // namespace

Result<TimedPairs> time_pairs(const TrialWorld& world, PairRequest request) {
  TrialWorld timed_world = world;
  sim::WorldSpec& spec = timed_world.scenario.world.spec;
  const bool simulated = world.row->kind == WorldKind::simulated;
  if (simulated) {
    spec.payload = request.moves_data = false;
    request.align = longest_message(spec, request);
    // Times are latency and bytes exactly; of many ranks two sizes show both.
    if (spec.ranks() > pairs_in_full) request.bytes = {request.bytes.front(), request.bytes.back()};
  }
  const RankProgram program = pair_program(request);
  const Result<RunRecord> run = run_trial(timed_world, request, program);
  if (!run.ok()) return run.error();
  TimedPairs timed{.bytes = request.bytes, .pairs = pair_times(request, run->ranks), .classes = {}};
  timed.failure = explain_failure(timed_world, *run);
  timed.hosts = hosts_of(spec, simulated, *run);
  const std::vector<std::int64_t> nodes = pair_nodes(run->ranks);
  const sim::Routes routes(spec);
  timed.ranks_per_node = simulated && !spec.two_level ? 0 : even_nodes(nodes);
  sort_into_classes(request, [&](const PairTimes& pair) -> std::string {
    if (simulated) return class_in(spec, routes, pair);
    const auto a = static_cast<std::size_t>(pair.a), b = static_cast<std::size_t>(pair.b);
    return nodes.empty() ? "all" : nodes[a] == nodes[b] ? "same node" : "other node";
  }, timed);
  return timed;
}

}  // namespace pdsim::scenarios
