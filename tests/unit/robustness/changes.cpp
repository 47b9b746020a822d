#include "tests/unit/robustness/changes.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <functional>

namespace pdsim::scenarios {
namespace {

using Culprits = std::vector<Rank>;

void each_operation(std::vector<Operation>& program, const std::function<void(Operation&)>& f) {
  for (Operation& op : program) {
    f(op);
    each_operation(op.body, f);
    each_operation(op.messages, f);
  }
}

bool any_operation(const Scenario& s, const std::function<bool(const Operation&)>& f) {
  bool found = false;
  std::vector<Operation> program = s.program;
  each_operation(program, [&](const Operation& op) { found = found || f(op); });
  return found;
}

bool is_innocent(const Culprits& culprits, Rank rank) {
  return std::find(culprits.begin(), culprits.end(), rank) == culprits.end();
}

// The last rank that is not a culprit; of none, the last.
Rank innocent(const Scenario& s, const Culprits& culprits) {
  for (Rank r = s.world.spec.ranks() - 1; r >= 0; --r)
    if (is_innocent(culprits, r)) return r;
  return s.world.spec.ranks() - 1;
}

// Where chance is part of the mistake, another seed is another mistake.
bool depends_on_chance(const Scenario& s) { return s.world.spec.intra.loss > 0 || s.world.spec.inter.loss > 0; }

bool is_timed(const Scenario& s) { return *s.expect.outcome == Outcome::timeout; }

std::optional<Changed> other_seed(const Scenario& s, const Culprits& culprits) {
  if (depends_on_chance(s)) return std::nullopt;
  Changed c{s, culprits};
  c.scenario.seed = s.seed * 31 + 5;
  c.scenario.world.spec.seed = c.scenario.seed;
  return c;
}

void rename(std::string& layer) { layer = "stage_" + layer; }

std::optional<Changed> other_layer_names(const Scenario& s, const Culprits& culprits) {
  if (!s.model.given) return std::nullopt;
  Changed c{s, culprits};
  Model& model = c.scenario.model;
  for (nn::LayerSpec& layer : model.spec.layers) rename(layer.name);
  for (nn::PathSpec& path : model.spec.paths)
    for (std::string& layer : path.layers) rename(layer);
  for (std::string& layer : model.spec.recompute) rename(layer);
  for (ModelPart& part : model.parts)
    for (std::string& layer : part.layers) rename(layer);
  if (c.scenario.fully_shard)
    for (ShardedUnitSpec& unit : c.scenario.fully_shard->options.units)
      for (std::string& layer : unit.layers) rename(layer);
  if (c.scenario.tensor_parallel)
    for (auto* layers : {&c.scenario.tensor_parallel->colwise, &c.scenario.tensor_parallel->rowwise})
      for (std::string& layer : *layers) rename(layer);
  for (ModelChange& change : model.per_rank) {
    for (nn::LayerSpec& layer : change.layers) rename(layer.name);
    for (std::string& layer : change.order) rename(layer);
  }
  each_operation(c.scenario.program, [](Operation& op) {
    auto* freezes = std::any_cast<RequiresGradOptions>(&op.options);
    if (freezes == nullptr) return;
    for (std::string& layer : freezes->layers) rename(layer);
  });
  c.scenario.expect.values.clear();
  return c;
}

// Larger by a factor that keeps what was equal equal, and what differed apart.
std::optional<Changed> other_sizes(const Scenario& s, const Culprits& culprits) {
  Changed c{s, culprits};
  bool changed = false;
  if (s.model.given && !s.data.given && !s.data_parallel) c.scenario.batch *= 2, changed = true;
  each_operation(c.scenario.program, [&](Operation& op) {
    auto* call = std::any_cast<CollectiveOptions>(&op.options);
    if (call == nullptr || call->count < 1 || op.written.find("count:") == std::string::npos) return;
    call->count *= 3;
    changed = true;
  });
  if (!changed) return std::nullopt;
  return c;
}

IntSet with_copy(const IntSet& set, int ranks, Rank original) {
  std::vector<std::int64_t> members;
  for (Rank r = 0; r < ranks; ++r)
    if (set.contains(r)) members.push_back(r);
  if (set.contains(original)) members.push_back(ranks);
  return set.is_all() ? set : IntSet::of(std::move(members));
}

void copy_in(When& when, int ranks, Rank original) {
  for (Selector& s : when.any) s.rank = with_copy(s.rank, ranks, original);
}

bool is_message(const Operation& op) {
  return op.name == "send" || op.name == "recv" || op.name == "isend" || op.name == "irecv";
}

// One rank more, which does what an innocent one does.
std::optional<Changed> one_rank_more(const Scenario& s, const Culprits& culprits) {
  const int ranks = s.world.spec.ranks();
  const Rank original = innocent(s, culprits);
  const bool fixed = any_operation(s, [&](const Operation& op) {
    const auto* call = op.if_is<CollectiveOptions>();
    const auto* init = op.if_is<InitOptions>();
    return (call != nullptr && (!call->counts.empty() || !call->input_split_sizes.empty())) || is_message(op) ||
           (init != nullptr && (init->world_size || init->rank)) || op.name == "store_set" || op.name == "store_get" ||
           op.name == "relaunch";  // who reads a stale record first decides who suffers
  });
  const bool by_message = std::any_of(s.faults.begin(), s.faults.end(), [](const Fault& f) {
    return !f.spec.match.from.is_all() || !f.spec.match.to.is_all() || !f.spec.groups.empty();
  });
  const bool in_a_grid = !s.mesh.dimensions.empty();
  if (fixed || in_a_grid || by_message || depends_on_chance(s) || s.world.spec.two_level || original == 0) return std::nullopt;
  Changed c{s, culprits};
  Scenario& more = c.scenario;
  ++more.world.spec.ranks_per_node;
  each_operation(more.program, [&](Operation& op) {
    copy_in(op.when, ranks, original);
    if (auto* made = std::any_cast<NewGroupOptions>(&op.options)) made->ranks = with_copy(made->ranks, ranks, original);
  });
  for (Branch& take : more.model.branches) copy_in(take.when, ranks, original);
  for (ModelChange& change : more.model.per_rank) copy_in(change.when, ranks, original);
  for (Fault& fault : more.faults) fault.spec.match.rank = with_copy(fault.spec.match.rank, ranks, original);
  more.world.spec.faults.clear();
  for (const Fault& fault : more.faults) more.world.spec.faults.push_back(fault.spec);
  if (!is_innocent(culprits, original)) c.culprits.push_back(ranks);
  return c;
}

std::optional<Changed> straggler(const Scenario& s, const Culprits& culprits) {
  const Rank slow = innocent(s, culprits);
  if (!is_innocent(culprits, slow)) return std::nullopt;  // nobody is innocent
  Changed c{s, culprits};
  c.scenario.world.spec.speeds.push_back({IntSet::of({slow}), 3.0, {}});
  return c;
}

std::optional<Changed> other_links(const Scenario& s, const Culprits& culprits) {
  if (depends_on_chance(s)) return std::nullopt;
  if (is_timed(s) && any_operation(s, [](const Operation& op) {
        const auto* call = op.if_is<CollectiveOptions>();
        return call != nullptr && call->count > 1'000'000;
      }))
    return std::nullopt;  // the link's speed is the mistake
  Changed c{s, culprits};
  for (sim::Link* link : {&c.scenario.world.spec.intra, &c.scenario.world.spec.inter}) {
    link->latency = Time{link->latency.ps * 3};
    link->jitter = Time{1'000'000};
  }
  return c;
}

constexpr std::array changes{
    Change{"another seed", other_seed}, Change{"other layer names", other_layer_names},
    Change{"other sizes", other_sizes}, Change{"one rank more", one_rank_more},
    Change{"a straggler", straggler},   Change{"slower links with jitter", other_links},
};

}  // namespace

std::span<const Change> harmless_changes() { return changes; }

}  // namespace pdsim::scenarios
