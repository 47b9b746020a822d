// Checks the meaning of `rpc_pipeline` beside the rest of the file.
#include "scenarios/language/check/meaning.h"
#include "scenarios/language/document/read.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <string_view>
#include <vector>

namespace pdsim::scenarios::language {
namespace {

class RpcPipelineCheck {
 public:
  RpcPipelineCheck(const Scenario& scenario, const Operation& op, Problems& problems)
      : s_(scenario), op_(op), options_(op.as<RpcPipelineOptions>()), problems_(problems) {}

  void run() {
    if (!s_.model.given) {
      if (!problems_.doubts(Fact::model)) wrong("`rpc_pipeline` without a model", "give the file a model");
      return;
    }
    if (!shards()) return;
    options_.workers.empty() ? ranks() : workers();
    layers();
    beside();
    if (options_.num_split > s_.batch)
      wrong(fmt::format("{} micro-batches for a batch of {} rows", options_.num_split, s_.batch),
            "give a larger `batch`, or a smaller `num_split`");
  }

 private:
  void wrong(const std::string& what, const std::string& instead) { problems_.error(op_.mark, what, instead); }

  bool shards() {
    std::vector<std::string_view> known;
    for (const nn::PathSpec& path : s_.model.spec.paths) known.push_back(path.name);
    bool all = true;
    for (const std::string& shard : options_.shards) {
      if (std::find(known.begin(), known.end(), shard) != known.end()) continue;
      all = false;
      wrong(fmt::format("`rpc_pipeline` names a shard `{}`, but the model has no such path", shard),
            known.empty() ? "give the model `paths`, one for each shard" : suggestion(shard, known, "paths are"));
    }
    if (options_.shards.empty()) wrong("`rpc_pipeline` without shards", "name at least one path of the model");
    return all && !options_.shards.empty();
  }

  void ranks() {
    const auto needed = static_cast<int>(options_.shards.size()) + 1;
    if (!problems_.doubts(Fact::ranks) && s_.world.spec.ranks() < needed)
      wrong(fmt::format("{} shards in a world of {} ranks", options_.shards.size(), s_.world.spec.ranks()),
            fmt::format("rank 0 is the master and each shard has its own rank: `ranks: {}`", needed));
  }

  void workers() {
    if (options_.workers.size() != options_.shards.size())
      return wrong(fmt::format("{} shards, but `workers` names {}", options_.shards.size(), options_.workers.size()),
                   "name a worker for each shard, or remove `workers`");
    if (problems_.doubts(Fact::ranks)) return;
    std::vector<std::string> known;
    for (int rank = 0; rank < s_.world.spec.ranks(); ++rank) known.push_back(fmt::format("worker{}", rank));
    for (const std::string& worker : options_.workers)
      if (std::find(known.begin(), known.end(), worker) == known.end())
        wrong(fmt::format("`rpc_pipeline` names a worker `{}`, but no rank has that name", worker),
              fmt::format("workers are worker0 .. {}", known.back()));
  }

  bool any_layer(const std::function<bool(const nn::LayerSpec&)>& is) const {
    for (const nn::PathSpec& path : s_.model.spec.paths) {
      if (std::find(options_.shards.begin(), options_.shards.end(), path.name) == options_.shards.end()) continue;
      for (const nn::LayerSpec& layer : s_.model.spec.layers)
        if (std::find(path.layers.begin(), path.layers.end(), layer.name) != path.layers.end() && is(layer)) return true;
    }
    return false;
  }

  void layers() {
    const bool has_values = any_layer([](const auto& l) { return l.kind != nn::LayerKind::meta; });
    const bool gives = any_layer([](const auto& l) { return l.kind == nn::LayerKind::meta && l.out > 0; });
    if (options_.input > 0 && has_values)
      wrong("`input` of a model with values", "its batches have values too; remove `input`");
    if (options_.input > 0 && s_.loss != "sum")
      wrong(fmt::format("loss `{}` of outputs without values", s_.loss), "give `loss: sum`");
    if (options_.input == 0 && gives)
      wrong("layers with `gives`, and batches with values",
            "give the number of elements per row of the batch with `input`");
  }

  void beside() {
    const auto refuse = [this](bool given, std::string_view what) {
      if (given) wrong(fmt::format("`rpc_pipeline` beside {}", what), "this combination is not supported");
    };
    refuse(s_.ddp.wrap && !s_.ddp.given.empty(), "`ddp`");
    refuse(s_.fully_shard.has_value(), "`fully_shard`");
    refuse(s_.tensor_parallel.has_value(), "`tensor_parallel`");
    refuse(s_.data_parallel.has_value(), "`data_parallel`");
    refuse(!s_.model.parts.empty(), "`parts` of the model");
    refuse(s_.data.given, "`data`");
  }

  const Scenario& s_;
  const Operation& op_;
  const RpcPipelineOptions& options_;
  Problems& problems_;
};

// A layer with values cannot compute with rows that have none.
void check_gives(const Scenario& s, Problems& problems) {
  for (const nn::PathSpec& path : s.model.spec.paths) {
    const nn::LayerSpec* gives = nullptr;
    for (const std::string& name : path.layers) {
      const auto& all = s.model.spec.layers;
      const auto layer = std::find_if(all.begin(), all.end(), [&](const auto& l) { return l.name == name; });
      if (layer == all.end()) break;
      if (gives != nullptr && layer->kind != nn::LayerKind::meta)
        return problems.error(s.model.mark,
                              fmt::format("`{}` gets rows without values from `{}`", name, gives->name),
                              "only `meta` layers may follow a layer with `gives`");
      if (layer->kind == nn::LayerKind::meta && layer->out > 0) gives = &*layer;
    }
  }
}

}  // namespace

void check_rpc_pipelines(const Node&, const Scenario& s, Problems& problems) {
  check_gives(s, problems);
  for (const Operation& op : s.program)
    if (op.name == "rpc_pipeline") RpcPipelineCheck(s, op, problems).run();
}

}  // namespace pdsim::scenarios::language
