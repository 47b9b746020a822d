// How a model is sharded over the ranks of a group; the options are those of torch.distributed.fsdp, the stages those of ZeRO.
#pragma once

#include "core/base/enum_names.h"

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace pdsim {

// When backward gathers the parameters of the previous unit: not early, before the current unit's backward, or after it.
enum class BackwardPrefetch : std::uint8_t { none, pre, post };

template <>
inline constexpr auto enum_rows<BackwardPrefetch> = std::to_array<EnumRow<BackwardPrefetch>>({
    {BackwardPrefetch::none, "none"},
    {BackwardPrefetch::pre, "pre"},
    {BackwardPrefetch::post, "post"},
});

// Layers whose parameters are gathered and released together.
struct ShardedUnitSpec {
  std::string name;
  std::vector<std::string> layers;
};

struct ShardedOptions {
  // The sharded data: 1 the optimizer's state, 2 gradients too, 3 parameters too.
  int stage = 3;
  bool reshard_after_forward = true;  // stage 3; the root never does
  BackwardPrefetch backward_prefetch = BackwardPrefetch::pre;
  bool forward_prefetch = false;       // in the order of the previous forward
  bool sync_module_states = false;     // rank 0's parameters and buffers are broadcast before they are sharded
  std::vector<ShardedUnitSpec> units;  // a layer outside all units belongs to the root
};

}  // namespace pdsim
