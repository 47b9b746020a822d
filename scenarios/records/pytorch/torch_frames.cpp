#include "scenarios/records/pytorch/torch_frames.h"

#include <algorithm>
#include <array>
#include <string>

namespace pdsim::scenarios::pytorch {
namespace {

Purpose labelled(const char* text) { return label_purpose(text); }

// A specific row before one that would fit as well: of one frame the first counts. The last is that of buckets.
const std::array<TorchPart, 24>& torch_parts() {
  static const std::array<TorchPart, 24> parts{{
      {"_sync_buffers", "nn/parallel/distributed.py", {PurposeKind::buffers}, Phase::forward},
      {"_sync_module_buffers", "nn/parallel/distributed.py", {PurposeKind::buffers}, Phase::forward},
      {"_distributed_broadcast_coalesced", "nn/parallel/distributed.py", {PurposeKind::buffers}, Phase::forward},
      {"_pre_forward", "nn/parallel/distributed.py", {PurposeKind::rebuild_order}, Phase::forward},
      {"_verify_param_shape_across_processes",
       "distributed/utils.py",
       {PurposeKind::parameter_sizes},
       Phase::construction},
      {"_verify_params_across_processes", "distributed/utils.py", {PurposeKind::parameter_sizes}, Phase::construction},
      {"_sync_params_and_buffers", "distributed/utils.py", {PurposeKind::parameters}, Phase::construction},
      {"_sync_module_states", "distributed/utils.py", {PurposeKind::parameters}, Phase::construction},
      {"forward", "nn/modules/_functions.py", {PurposeKind::batch_statistics}, Phase::forward},
      {"backward", "nn/modules/_functions.py", {PurposeKind::batch_gradients}, Phase::backward},
      {"clip_grad_norm_", "", labelled("gradient norm"), Phase::optimizer},
      {"_get_total_norm", "", labelled("gradient norm"), Phase::optimizer},
      {"foreach_all_gather", "", labelled("parameter shards"), Phase::forward},
      {"unshard", "", labelled("parameter shards"), Phase::forward},
      {"_unshard", "", labelled("parameter shards"), Phase::forward},
      {"foreach_reduce", "", labelled("gradient shards"), Phase::backward},
      {"_reduce_grad", "", labelled("gradient shards"), Phase::backward},
      {"_optim_state_dict", "", labelled("optimizer state"), Phase::checkpoint},
      {"save_state_dict", "", labelled("checkpoint"), Phase::checkpoint},
      {"reduce_scatter", "distributed/checkpoint/utils.py", labelled("checkpoint"), Phase::checkpoint},
      {"load_state_dict", "distributed/checkpoint/state_dict_loader.py", labelled("checkpoint"), Phase::checkpoint},
      {"all_gather_object", "", labelled("object"), Phase::none},
      {"broadcast_object_list", "", labelled("object"), Phase::none},
      {"_engine_run_backward", "autograd/graph.py", labelled("gradient bucket"), Phase::backward},
  }};
  return parts;
}

struct PhaseFrame {
  std::string_view function, file;  // the file has this in its path
  Phase phase;
};
constexpr std::array phase_frames{
    PhaseFrame{"_engine_run_backward", "autograd/graph.py", Phase::backward},
    PhaseFrame{"backward", "torch/_tensor.py", Phase::backward},
    PhaseFrame{"_call_impl", "nn/modules/module.py", Phase::forward},
    PhaseFrame{"step", "torch/optim/", Phase::optimizer},
    PhaseFrame{"step", "distributed/optim/", Phase::optimizer},
    PhaseFrame{"save", "distributed/checkpoint/", Phase::checkpoint},
    PhaseFrame{"async_save", "distributed/checkpoint/", Phase::checkpoint},
    PhaseFrame{"load", "distributed/checkpoint/", Phase::checkpoint},
    PhaseFrame{"__next__", "utils/data/dataloader.py", Phase::data_loading},
    PhaseFrame{"init_process_group", "distributed/distributed_c10d.py", Phase::initialization},
    PhaseFrame{"new_group", "distributed/distributed_c10d.py", Phase::initialization},
    PhaseFrame{"__init__", "nn/parallel/distributed.py", Phase::construction},
    PhaseFrame{"fully_shard", "distributed/fsdp/", Phase::construction},
};

}  // namespace

const Purpose& bucket_purpose() { return torch_parts().back().purpose; }

Phase phase_of(const std::vector<Frame>& frames) {
  if (const TorchPart* part = torch_part_of(frames); part != nullptr && part->phase != Phase::none) {
    // Parameters are gathered again for the backward.
    const bool in_backward = part->phase == Phase::forward && std::any_of(frames.begin(), frames.end(), [](const Frame& frame) {
                               return is_torch_frame(frame) && (frame.name == "_engine_run_backward" || frame.name.find("pre_backward") != std::string::npos);
                             });
    return in_backward ? Phase::backward : part->phase;
  }
  for (const Frame& frame : frames) {
    if (!is_torch_frame(frame)) continue;
    const auto* const row = std::find_if(phase_frames.begin(), phase_frames.end(), [&](const PhaseFrame& p) {
      return frame.name == p.function && frame.file.find(p.file) != std::string::npos;
    });
    if (row != phase_frames.end()) return row->phase;
  }
  return Phase::none;
}

bool is_torch_frame(const Frame& frame) {
  return frame.file.find("/torch/") != std::string::npos || frame.file.starts_with("torch/") ||
         frame.file.starts_with("<");
}

const TorchPart* torch_part_of(const std::vector<Frame>& frames) {
  for (const Frame& frame : frames) {
    if (!is_torch_frame(frame)) return nullptr;
    const auto part = std::find_if(torch_parts().begin(), torch_parts().end(), [&](const TorchPart& p) {
      return frame.name == p.function && frame.file.ends_with(p.file);
    });
    if (part != torch_parts().end()) return &*part;
  }
  return nullptr;
}

}  // namespace pdsim::scenarios::pytorch
