#include "backends/nccl/host_reduction.h"

#include "backends/nccl/errors.h"
#include "core/collectives/reduce.h"

#include <memory>

namespace pdsim {
namespace {

struct Reduction {
  MutableView inout;
  ConstView in;
  ReduceOp op;
};

// On a thread of CUDA's, which must not call CUDA.
void combine(void* argument) {
  const std::unique_ptr<Reduction> reduction(static_cast<Reduction*>(argument));
  reduce(reduction->inout, reduction->in, reduction->op);
}

}  // namespace

Status reduce_on_host(const NcclLane& lane, std::int64_t inout, std::int64_t in, std::int64_t count, DType dtype,
                      ReduceOp op) {
  const CudaCalls& cuda = lane.loaded.cuda;
  const auto bytes = static_cast<std::size_t>(count) * size_of(dtype);
  for (const std::int64_t at : {inout, in})
    PDSIM_TRY(cuda_status(cuda, cuda.copy(lane.host + at, lane.device + at, bytes, cudaMemcpyDeviceToHost, lane.stream),
                          "cudaMemcpyAsync"));
  auto reduction =
      std::make_unique<Reduction>(Reduction{{lane.host + inout, dtype, count}, {lane.host + in, dtype, count}, op});
  PDSIM_TRY(cuda_status(cuda, cuda.call_host(lane.stream, combine, reduction.get()), "cudaLaunchHostFunc"));
  (void)reduction.release();  // combine() owns it
  return cuda_status(cuda,
                     cuda.copy(lane.device + inout, lane.host + inout, bytes, cudaMemcpyHostToDevice, lane.stream),
                     "cudaMemcpyAsync");
}

}  // namespace pdsim
