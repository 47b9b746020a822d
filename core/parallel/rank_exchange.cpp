#include "core/parallel/rank_exchange.h"

#include "core/parallel/coalesced.h"

#include <utility>

namespace pdsim {

nn::RankExchange exchange_over(ProcessGroup& group) {
  nn::RankExchange ranks;
  ranks.gather = [&group](const nn::Tensor& mine) -> Result<nn::Tensor> {
    nn::Tensor all = nn::Tensor::zeros({group.size() * mine.numel()}, mine.dtype());
    CallOptions call;
    call.purpose = PurposeKind::batch_statistics;
    PDSIM_TRY(wait(keeping(std::pair{mine, all}, group.all_gather(mine.view(), all.mutable_view(), std::move(call)))));
    return all;
  };
  ranks.sum = [&group](nn::Tensor& sum) -> Status {
    CallOptions call;
    call.purpose = PurposeKind::batch_gradients;
    return wait(keeping(sum, group.all_reduce(sum.mutable_view(), ReduceOp::sum, std::move(call))));
  };
  return ranks;
}

nn::RankExchange tensor_exchange_over(ProcessGroup& group) {
  nn::RankExchange ranks;
  ranks.sum = [&group](nn::Tensor& sum) -> Status {
    CallOptions call;
    call.purpose = {PurposeKind::layer, -1, sum.name()};
    return wait(keeping(sum, group.all_reduce(sum.mutable_view(), ReduceOp::sum, std::move(call))));
  };
  return ranks;
}

}  // namespace pdsim
