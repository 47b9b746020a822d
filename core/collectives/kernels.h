// Loops over elements, compiled for any processor and, on x86-64, once more for AVX2 with F16C; the choice is made at run time.
// Both give the same bits (of two NaNs added, either's payload may result).
//
//   threads  pure
#pragma once

#include "core/base/types.h"
#include "core/collectives/arithmetic.h"

#include <cstdint>

#if defined(__x86_64__) && defined(__GNUC__)
#define PDSIM_KERNELS_AVX2 1
#define PDSIM_TARGET_AVX2 __attribute__((target("avx2,f16c")))
#endif

namespace pdsim {

enum class Processor : std::uint8_t { any, avx2 };

// The best variant that this machine supports.
Processor this_processor();

// to[i] = to[i] op from[i] in f32, rounded to nearest even; op: sum, product, min or max. `to` may be `from`, but must not
// overlap it otherwise.
void combine_f16(Processor processor, std::uint16_t* to, const std::uint16_t* from, std::int64_t count, ReduceOp op);
void combine_bf16(Processor processor, std::uint16_t* to, const std::uint16_t* from, std::int64_t count, ReduceOp op);

// to[i] = from[i] * factor in f32, rounded to nearest even. The same aliasing rule.
void scale_f16(Processor processor, std::uint16_t* to, const std::uint16_t* from, std::int64_t count, float factor);
void scale_bf16(Processor processor, std::uint16_t* to, const std::uint16_t* from, std::int64_t count, float factor);

namespace kernels {

// Inlined into its callers, so that it is compiled for their target.
template <class T, class F>
[[gnu::always_inline]] inline void each(T* to, const T* from, std::int64_t count, F f) {
  for (std::int64_t i = 0; i < count; ++i) to[i] = f(to[i], from[i]);
}

#ifdef PDSIM_KERNELS_AVX2
template <class T, class F>
PDSIM_TARGET_AVX2 void each_avx2(T* to, const T* from, std::int64_t count, F f) {
  each(to, from, count, f);
}
#endif

}  // namespace kernels

// to[i] = f(to[i], from[i]), i = 0..count-1; the same aliasing rule. `f` is always inlined.
template <class T, class F>
void for_each_pair(Processor processor, T* to, const T* from, std::int64_t count, F f) {
#ifdef PDSIM_KERNELS_AVX2
  if (processor == Processor::avx2) return kernels::each_avx2(to, from, count, f);
#endif
  static_cast<void>(processor);
  kernels::each(to, from, count, f);
}

}  // namespace pdsim
