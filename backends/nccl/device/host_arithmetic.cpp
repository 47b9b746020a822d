#include "backends/nccl/device/host_arithmetic.h"

#include "backends/nccl/errors.h"
#include "core/collectives/reduce.h"

#include <functional>
#include <initializer_list>
#include <utility>

namespace pdsim {
namespace {

// On a thread of CUDA's, which must not call CUDA.
void work_on_host(void* argument) { (*static_cast<const std::function<void()>*>(argument))(); }

// `reads` come to the host, `work` runs, `writes` goes back.
Status on_host(const NcclContext& context, std::size_t bytes, std::initializer_list<std::int64_t> reads, std::int64_t writes,
               std::function<void()> work) {
  const CudaCalls& cuda = context.loaded.cuda;
  for (const std::int64_t at : reads)
    PDSIM_TRY(cuda_status(cuda, cuda.copy(context.host + at, context.device + at, bytes, cudaMemcpyDeviceToHost, context.stream),
                          "cudaMemcpyAsync"));
  void* kept =
      &context.works->emplace_back(std::move(work));  // CUDA does not call it after an error, so it cannot own itself
  PDSIM_TRY(cuda_status(cuda, cuda.call_host(context.stream, work_on_host, kept), "cudaLaunchHostFunc"));
  return cuda_status(cuda,
                     cuda.copy(context.device + writes, context.host + writes, bytes, cudaMemcpyHostToDevice, context.stream),
                     "cudaMemcpyAsync");
}

std::size_t bytes_of(std::int64_t count, DType dtype) { return static_cast<std::size_t>(count) * size_of(dtype); }

}  // namespace

Status reduce_on_host(const NcclContext& context, std::int64_t inout, std::int64_t in, std::int64_t count, DType dtype,
                      ReduceOp op) {
  if (count == 0) return {};
  const MutableView to{context.host + inout, dtype, count};
  const ConstView from{context.host + in, dtype, count};
  return on_host(context, bytes_of(count, dtype), {inout, in}, inout, [=] { reduce(to, from, op); });
}

Status scale_on_host(const NcclContext& context, std::int64_t to, std::int64_t from, std::int64_t count, DType dtype,
                     double factor) {
  if (count == 0) return {};
  const MutableView scaled{context.host + to, dtype, count};
  const ConstView source{context.host + from, dtype, count};
  return on_host(context, bytes_of(count, dtype), {from}, to, [=] { scale(scaled, source, factor); });
}

Status divide_on_host(const NcclContext& context, std::int64_t at, std::int64_t count, DType dtype, std::int64_t divisor) {
  if (count == 0) return {};
  const MutableView data{context.host + at, dtype, count};
  return on_host(context, bytes_of(count, dtype), {at}, at, [=] { divide(data, divisor); });
}

}  // namespace pdsim
