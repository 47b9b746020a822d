// The groups of a mesh, and models that are sharded or split over them.
#include "scenarios/program/sharded.h"

#include "core/parallel/rank_exchange.h"
#include "scenarios/program/operations/optimizer.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace pdsim::scenarios::operations {

// As torch's init_device_mesh: dimension by dimension a new_group for each line of ranks, on every rank.
Status make_mesh(Session& s) {
  const Mesh& mesh = s.scenario.mesh;
  if (mesh.dimensions.empty()) return {};
  if (s.maker == nullptr)
    return Error{Code::unsupported, "a mesh beside `init_process_group: {rank: ...}` is not supported", {}};
  // A mesh of one dimension is the world's group; other dimensions are groups of new_group, without a timeout.
  const Time timeout = mesh.dimensions.size() == 1 ? s.group->timeout() : s.env.backend.default_timeout();
  for (const Mesh::Dimension& dimension : mesh.dimensions) {
    std::size_t number = 0;
    for (const std::vector<int>& line : mesh.groups(dimension.name, s.env.world_size)) {
      const bool mine = std::find(line.begin(), line.end(), s.env.rank) != line.end();
      auto made = s.maker->new_group({line.begin(), line.end()}, Mesh::group_name(dimension.name, number++), timeout);
      if (!made.ok()) return made.error();
      if (mine) s.groups[dimension.name] = std::move(*made);
    }
  }
  return {};
}

ProcessGroup& group_named(Session& s, const std::string& name) {
  const auto found = s.groups.find(name);
  return found != s.groups.end() ? *found->second : *s.group;
}

void split_layers(Session& s, nn::ModuleSpec& spec) {
  if (!s.scenario.tensor_parallel || s.group == nullptr) return;
  const TensorParallel& split = *s.scenario.tensor_parallel;
  const ProcessGroup& group = group_named(s, split.group);
  const auto mark = [&](const std::vector<std::string>& names, nn::TensorSplit how) {
    for (nn::LayerSpec& layer : spec.layers) {
      if (std::find(names.begin(), names.end(), layer.name) == names.end()) continue;
      layer.split = how;
      layer.split_rank = group.rank();
      layer.split_ranks = group.size();
    }
  };
  mark(split.colwise, nn::TensorSplit::colwise);
  mark(split.rowwise, nn::TensorSplit::rowwise);
}

void join_split_layers(Session& s) {
  if (s.scenario.tensor_parallel && s.group != nullptr)
    s.module->set_tensor_exchange(tensor_exchange_over(group_named(s, s.scenario.tensor_parallel->group)));
}

void note_part_of_layers(Session& s, const std::string& path, bool loaded) {
  if (!s.scenario.tensor_parallel || s.group == nullptr) return;
  const ProcessGroup& group = group_named(s, s.scenario.tensor_parallel->group);
  s.env.recorder.note(notes::PartStored{path, group.rank(), group.size(), loaded});
}

Status shard_model(Session& s) {
  if (!s.scenario.fully_shard) return {};
  auto sharded = FullyShardedDataParallel::wrap(*s.module, group_named(s, s.scenario.fully_shard->group),
                                                s.scenario.fully_shard->options);
  if (!sharded.ok()) return sharded.error();
  s.sharded = std::move(*sharded);
  return {};
}

Status whole_model(Session& s, const std::function<Status()>& what) {
  if (s.sharded == nullptr) return what();
  PDSIM_TRY(s.sharded->gather());
  PDSIM_TRY(what());
  for (const nn::Tensor& p : s.module->parameters()) s.gathered[p.name()] = p.values();
  return s.sharded->release();
}

Result<double> clip_shards(Session& s, const ClipOptions& options) {
  if (options.of == ClippedNorm::model) return s.sharded->clip_grad_norm(clip_options(options));
  std::vector<nn::Tensor> shards = s.sharded->shards();
  const Result<double> norm = clip_gradients(options, shards);
  if (norm.ok() && group_named(s, s.scenario.fully_shard->group).size() > 1)
    s.env.recorder.note(notes::ShardClipped{fmt::format("{:.4g}", *norm), fmt::format("{:.4g}", options.max_norm)});
  return norm;
}

}  // namespace pdsim::scenarios::operations
