#include "backends/nccl/device_kernels.h"

namespace pdsim {
namespace {

// Bits have no type: words where both addresses are even ones of a word, else bytes.
template <ReduceOp op, class Word>
__device__ Word combine(Word a, Word b) {
  if constexpr (op == ReduceOp::band) return static_cast<Word>(a & b);
  if constexpr (op == ReduceOp::bor) return static_cast<Word>(a | b);
  return static_cast<Word>(a ^ b);
}

template <ReduceOp op, class Word>
__global__ void reduce_bits(Word* inout, const Word* in, std::int64_t count) {
  const std::int64_t step = static_cast<std::int64_t>(gridDim.x) * blockDim.x;
  for (std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < count; i += step)
    inout[i] = combine<op>(inout[i], in[i]);
}

template <ReduceOp op, class Word>
cudaError_t launch(void* inout, const void* in, std::int64_t bytes, cudaStream_t stream) {
  constexpr std::int64_t threads = 256, most_blocks = 1024;
  const auto count = bytes / static_cast<std::int64_t>(sizeof(Word));
  if (count == 0) return cudaSuccess;
  const std::int64_t blocks = (count + threads - 1) / threads;
  reduce_bits<op, Word><<<static_cast<unsigned>(blocks < most_blocks ? blocks : most_blocks), threads, 0, stream>>>(
      static_cast<Word*>(inout), static_cast<const Word*>(in), count);
  return cudaGetLastError();
}

template <ReduceOp op>
cudaError_t reduce_any(void* inout, const void* in, std::int64_t bytes, cudaStream_t stream) {
  const auto together = reinterpret_cast<std::uintptr_t>(inout) | reinterpret_cast<std::uintptr_t>(in) |
                        static_cast<std::uintptr_t>(bytes);
  if (together % sizeof(std::uint64_t) == 0) return launch<op, std::uint64_t>(inout, in, bytes, stream);
  return launch<op, std::uint8_t>(inout, in, bytes, stream);
}

}  // namespace

cudaError_t reduce_on_device(void* inout, const void* in, std::int64_t count, DType dtype, ReduceOp op,
                             cudaStream_t stream) {
  const std::int64_t bytes = count * static_cast<std::int64_t>(size_of(dtype));
  switch (op) {
    case ReduceOp::band:
      return reduce_any<ReduceOp::band>(inout, in, bytes, stream);
    case ReduceOp::bor:
      return reduce_any<ReduceOp::bor>(inout, in, bytes, stream);
    case ReduceOp::bxor:
      return reduce_any<ReduceOp::bxor>(inout, in, bytes, stream);
    default:
      return cudaErrorInvalidValue;
  }
}

}  // namespace pdsim
