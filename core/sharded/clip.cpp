// Gradient clipping by the norm over all ranks' shards.
#include "core/parallel/agreement.h"
#include "core/sharded/fully_sharded.h"

#include <cmath>

namespace pdsim {

Result<double> FullyShardedDataParallel::clip_grad_norm(const nn::ClipOptions& options) {
  std::vector<nn::Tensor> mine = shards();
  const bool largest = std::isinf(options.norm_type);
  const double own = nn::gradient_norm(mine, options.norm_type);
  const double share = largest ? own : std::pow(own, options.norm_type);
  const Result<double> all = agree(group_, share, largest ? ReduceOp::max : ReduceOp::sum, PurposeKind::gradient_norm);
  if (!all.ok()) return all.error();
  const double norm = largest ? *all : std::pow(*all, 1.0 / options.norm_type);
  PDSIM_TRY(nn::scale_gradients(mine, options, norm));
  return norm;
}

}  // namespace pdsim
