#include "core/collectives/collective_kind.h"
#include "core/semantics/library.h"
#include "scenarios/language/build.h"
#include "scenarios/language/check/limits.h"
#include "scenarios/language/check/meaning.h"
#include "scenarios/language/document/read.h"
#include "scenarios/language/tables/operations_table.h"
#include "scenarios/language/work_estimate.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

namespace pdsim::scenarios::language {
namespace {

bool reads_nccl_variables(std::string_view backend) {
  const LibrarySemantics* library = library_named(backend);
  return library != nullptr && library->reads_nccl_variables;
}

// Returns the most operations that one rank can run, loops included.
std::int64_t operations_of(const std::vector<Operation>& program) {
  std::int64_t total = 0;
  for (const Operation& op : program) {
    const std::int64_t each = op.has_body ? operations_of(op.body) : 1;
    const std::int64_t steps = op.rounds();
    if (steps > 0 && std::max<std::int64_t>(1, each) > limits::operations / steps) return limits::operations + 1;
    total += steps * std::max<std::int64_t>(1, each);
    if (total > limits::operations) return total;
  }
  return total;
}

std::int64_t most_steps(const std::vector<Operation>& program) {
  std::int64_t steps = 0;
  for (const Operation& op : program) {
    if (op.name == "train" || op.name == "repeat") steps = std::max(steps, op.rounds());
    if (op.name == "join" || op.name == "repeat") steps = std::max(steps, most_steps(op.body));
  }
  return steps;
}

// Bytes of the largest buffer of one rank.
std::int64_t largest_buffer(const std::vector<Operation>& program, std::int64_t ranks) {
  std::int64_t largest = 0;
  for (const Operation& op : program) {
    largest = std::max(largest, largest_buffer(op.body, ranks));
    const auto* call = op.if_is<CollectiveOptions>();
    if (call != nullptr && !collectives_of_objects(op.name).empty())
      largest = std::max(largest, std::min(call->size.count, limits::memory_bytes) * (ranks + 1));
    const auto kind = collective_of(op.name);
    if (call == nullptr || !kind || kind == CollectiveKind::barrier) continue;
    std::int64_t count = call->count;
    for (const auto* parts : {&call->counts, &call->input_split_sizes, &call->output_split_sizes})
      for (const std::int64_t part : *parts) count = std::max(count, part);
    std::int64_t bytes = count * static_cast<std::int64_t>(size_of(call->dtype));
    if (row(*kind).in_parts) bytes *= ranks + 1;
    largest = std::max(largest, 2 * bytes);
  }
  return largest;
}

// Parameters, gradients, buckets and the optimizer's state; activations of a batch. Parameters without values need
// memory only where they share a bucket with others.
std::int64_t model_bytes(const Scenario& s) {
  const auto& layers = s.model.spec.layers;
  const bool values = std::any_of(layers.begin(), layers.end(), [](const nn::LayerSpec& layer) {
    return layer.kind != nn::LayerKind::meta && nn::stored_elements(layer) > 0;
  });
  std::int64_t parameters = 0, activations = 0;
  for (const nn::LayerSpec& layer : layers) {
    if (values || layer.kind != nn::LayerKind::meta) parameters += nn::stored_elements(layer);
    activations += layer.kind == nn::LayerKind::meta ? s.batch : std::max<std::int64_t>(layer.out, 1) * s.batch;
    if (parameters > limits::memory_bytes || activations > limits::memory_bytes) return limits::memory_bytes + 1;
  }
  return static_cast<std::int64_t>(size_of(s.model.spec.dtype)) * (5 * parameters + 4 * activations);
}

void check_topology(const Node& world, const Scenario& s, Problems& problems) {
  const Entry* entry = entry_of(world, "topology");
  if (entry == nullptr) return;
  if (problems.doubts(Fact::ranks)) return;
  const sim::WorldSpec& spec = s.world.spec;
  const char* ends = spec.two_level ? "nodes" : "ranks";
  const auto [x, y, z] = spec.topology.sides;
  const std::int64_t places = std::int64_t{x} * y * z;
  if (spec.topology.kind == sim::Topology::Kind::torus && places != spec.ends())
    problems.error(entry->value.mark,
                   fmt::format("a torus of {} x {} x {} in a world of {} {}", x, y, z, spec.ends(), ends),
                   fmt::format("x * y * z must be {}", spec.ends()));
  if (spec.topology.kind == sim::Topology::Kind::rail && !spec.two_level)
    problems.error(entry->value.mark, "rails in a flat world",
                   "a rail connects the ranks with the same place in all nodes; give `nodes` and `ranks_per_node`");
}

}  // namespace

std::string ranks_label(const Scenario& scenario) {
  const int ranks = scenario.world.spec.ranks();
  return ranks == 1 ? "the only rank is 0" : fmt::format("ranks are 0..{}", ranks - 1);
}

std::int64_t last_step(const Scenario& scenario) { return most_steps(scenario.program) - 1; }

void check_world(const Node& document, const Scenario& s, Problems& problems) {
  const Entry* entry = entry_of(document, "world");
  if (entry == nullptr || !entry->value.is_map() || problems.doubts(Fact::world)) return;
  const Node& world = entry->value;
  const Entry* ranks = entry_of(world, "ranks");
  const Entry* nodes = entry_of(world, "nodes");
  const int before = problems.seen();
  if (ranks == nullptr && nodes == nullptr)
    problems.error(entry->mark, "the world has no size", "give `ranks`, or `nodes` and `ranks_per_node`");
  if (ranks != nullptr && nodes != nullptr)
    problems.error(nodes->mark, "`nodes` beside `ranks` in world",
                   "a world is flat (`ranks`, `link`) or has two levels (`nodes`, `ranks_per_node`, `intra`, `inter`)");
  for (const char* key : {"ranks_per_node", "intra", "inter"})
    if (const Entry* e = entry_of(world, key); e != nullptr && nodes == nullptr)
      problems.error(e->mark, fmt::format("`{}` without `nodes` in world", key),
                     "a world of two levels needs `nodes` and `ranks_per_node`");
  if (nodes != nullptr && world.find("ranks_per_node") == nullptr)
    problems.error(nodes->mark, "`nodes` without `ranks_per_node` in world", "give the number of ranks of each node");
  if (problems.seen() > before) problems.doubt(Fact::ranks);
  if (const Entry* e = entry_of(world, "link"); e != nullptr && nodes != nullptr)
    problems.error(e->mark, "`link` in a world with `nodes`",
                   "use `intra` (within a node) and `inter` (between nodes)");
  check_topology(world, s, problems);
  if (const Node* speeds = world.find("speeds"))
    for (std::size_t i = 0; i < speeds->items.size() && i < s.world.spec.speeds.size(); ++i)
      check_rank_set(speeds->items[i].find("rank"), s.world.spec.speeds[i].rank, s, problems);
  if (const Entry* e = entry_of(world, "nccl"); e != nullptr && !reads_nccl_variables(s.world.spec.backend))
    problems.error(e->mark, fmt::format("`nccl` in a world of {}", s.world.spec.backend),
                   "only NCCL reads these variables; write `backend: nccl`");
  if (s.world.spec.timeout && s.world.spec.timeout->ps == 0)
    problems.error(entry_of(world, "timeout")->value.mark, "a timeout of zero",
                   "every operation would time out at once; give a longer one");
}

void check_work(Mark mark, const Scenario& s, Problems& problems) {
  const WorkEstimate work = estimate_work(s);
  const auto refuse = [&](const std::string& what) {
    problems.error(mark, what, "this is the limit; use fewer ranks, steps or calls, or smaller ones");
  };
  if (work.messages > static_cast<double>(limits::messages))
    refuse(fmt::format("the program moves more than {} messages between {} ranks", limits::messages,
                       s.world.spec.ranks()));
  if (work.multiplications > static_cast<double>(limits::multiplications))
    refuse(fmt::format("training takes more than {} multiplications", limits::multiplications));
  if (work.bytes > static_cast<double>(limits::payload_bytes))
    refuse(fmt::format("the calls carry more than {} of payload", to_string(Bytes{limits::payload_bytes})));
}

void check_limits(const Node& document, const Scenario& s, Problems& problems) {
  const Entry* world = entry_of(document, "world");
  const Entry* size = nullptr;
  if (world != nullptr)
    for (const char* key : {"nodes", "ranks"})
      if (const Entry* e = entry_of(world->value, key)) size = e;
  if (size == nullptr) return;
  const std::int64_t ranks = static_cast<std::int64_t>(s.world.spec.nodes) * s.world.spec.ranks_per_node;
  const std::int64_t most = s.world.spec.payload ? limits::ranks : limits::ranks_without_payload;
  if (ranks > most) {
    problems.error(size->value.mark, fmt::format("a world of {} ranks", ranks),
                   s.world.spec.payload ? fmt::format("the limit is {} ranks, or {} with `payload: none`",
                                                      limits::ranks, limits::ranks_without_payload)
                                        : fmt::format("the limit is {} ranks", most));
    problems.doubt(Fact::ranks);
    return;
  }
  const Entry* program = entry_of(document, "program");
  const std::int64_t each = program != nullptr ? operations_of(s.program) : 0;
  if (program != nullptr && each > limits::operations / ranks)
    problems.error(program->mark,
                   fmt::format("the program is more than {} operations over all ranks", limits::operations),
                   "this is the limit; use fewer ranks or steps");
  if (program != nullptr) check_work(program->mark, s, problems);
  const std::int64_t buffer = program != nullptr && s.world.spec.payload ? largest_buffer(s.program, ranks) : 0;
  const std::int64_t model = document.find("model") != nullptr ? model_bytes(s) : 0;
  if (buffer > limits::memory_bytes / ranks)
    problems.error(
        program->mark,
        fmt::format("the largest call needs {} of memory on each of {} ranks", to_string(Bytes{buffer}), ranks),
        fmt::format("the limit is {} for all ranks; use a smaller count, fewer ranks, or `payload: none`",
                    to_string(Bytes{limits::memory_bytes})));
  if (model > limits::memory_bytes / ranks)
    problems.error(s.model.mark,
                   fmt::format("the model needs {} of memory on each of {} ranks", to_string(Bytes{model}), ranks),
                   fmt::format("the limit is {} for all ranks; use smaller layers, a smaller batch or fewer ranks",
                               to_string(Bytes{limits::memory_bytes})));
}

void check_rank_set(const Node* node, const IntSet& set, const Scenario& s, Problems& problems) {
  if (node == nullptr || problems.doubts(Fact::ranks)) return;
  for (const std::int64_t rank : set.named()) {
    if (rank < s.world.spec.ranks()) continue;
    problems.error(node->mark, fmt::format("rank {} in a world of {}", rank, s.world.spec.ranks()), ranks_label(s));
    return;
  }
}

void check_when(const Node* node, const Scenario& s, Problems& problems) {
  if (node == nullptr || problems.doubts(Fact::ranks)) return;
  const auto check = [&](const Node& map) {
    IntSet set;
    if (const Node* rank = map.find("rank")) {
      read(map, "rank", set);
      check_rank_set(rank, set, s, problems);
    }
    if (const Node* which = map.find("node")) {
      IntSet some;
      read(map, "node", some);
      for (const std::int64_t n : some.named())
        if (n >= s.world.spec.nodes)
          problems.error(
              which->mark, fmt::format("node {} in a world of {}", n, s.world.spec.nodes),
              s.world.spec.nodes == 1 ? "the only node is 0" : fmt::format("nodes are 0..{}", s.world.spec.nodes - 1));
    }
  };
  if (node->is_map()) check(*node);
  for (const Node& item : node->items) check(item);
}

}  // namespace pdsim::scenarios::language
