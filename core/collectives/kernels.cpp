#include "core/collectives/kernels.h"

#include "core/base/check.h"

#ifdef PDSIM_KERNELS_AVX2
#include <cpuid.h>
#include <immintrin.h>
#endif

namespace pdsim {
namespace {

#ifdef PDSIM_KERNELS_AVX2

#define PDSIM_INLINE_AVX2 __attribute__((always_inline, target("avx2,f16c"))) static inline

// Sixteen halves as two vectors of floats.
struct Wide {
  __m256 low, high;
};

struct F16Lanes {
  PDSIM_INLINE_AVX2 Wide load(const std::uint16_t* from) {
    const auto* at = reinterpret_cast<const __m128i*>(from);
    Wide w{_mm256_cvtph_ps(_mm_loadu_si128(at)), _mm256_cvtph_ps(_mm_loadu_si128(at + 1))};
    // Opaque, or clang compares the halves themselves, one by one: twenty times slower.
    asm("" : "+x"(w.low), "+x"(w.high));
    return w;
  }
  template <bool exact>
  PDSIM_INLINE_AVX2 void store(std::uint16_t* to, Wide w) {
    auto* at = reinterpret_cast<__m128i*>(to);
    _mm_storeu_si128(at, _mm256_cvtps_ph(w.low, _MM_FROUND_TO_NEAREST_INT));
    _mm_storeu_si128(at + 1, _mm256_cvtps_ph(w.high, _MM_FROUND_TO_NEAREST_INT));
  }
};

// Even elements in `low`, odd ones in `high`: shifts and masks, where order would take shuffles.
struct BF16Lanes {
  PDSIM_INLINE_AVX2 Wide load(const std::uint16_t* from) {
    const __m256i pairs = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from));
    return {_mm256_castsi256_ps(_mm256_slli_epi32(pairs, 16)),
            _mm256_castsi256_ps(_mm256_and_si256(pairs, _mm256_set1_epi32(-0x10000)))};
  }
  // In the upper sixteen bits.
  template <bool exact>
  PDSIM_INLINE_AVX2 __m256i rounded(__m256 f) {
    const __m256i bits = _mm256_castps_si256(f);
    if constexpr (exact) return bits;
    const __m256i last = _mm256_and_si256(_mm256_srli_epi32(bits, 16), _mm256_set1_epi32(1));
    return _mm256_add_epi32(_mm256_add_epi32(bits, _mm256_set1_epi32(0x7fff)), last);
  }
  template <bool exact>
  PDSIM_INLINE_AVX2 __m256i rounded_unless_nan(__m256 f) {
    const __m256i quiet = _mm256_or_si256(_mm256_castps_si256(f), _mm256_set1_epi32(0x400000));
    return _mm256_blendv_epi8(rounded<exact>(f), quiet, _mm256_castps_si256(_mm256_cmp_ps(f, f, _CMP_UNORD_Q)));
  }
  template <bool exact>
  PDSIM_INLINE_AVX2 void store(std::uint16_t* to, Wide w) {
    const bool nan = _mm256_movemask_ps(_mm256_cmp_ps(w.low, w.high, _CMP_UNORD_Q)) != 0;
    const __m256i even = nan ? rounded_unless_nan<exact>(w.low) : rounded<exact>(w.low);
    const __m256i odd = nan ? rounded_unless_nan<exact>(w.high) : rounded<exact>(w.high);
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(to), _mm256_blend_epi16(_mm256_srli_epi32(even, 16), odd, 0xaa));
  }
};

// exact: the result is one of the halves, so that nothing is left to round.
struct SumLanes {
  static constexpr bool exact = false;
  PDSIM_INLINE_AVX2 __m256 of(__m256 a, __m256 b) { return _mm256_add_ps(a, b); }
};
struct ProductLanes {
  static constexpr bool exact = false;
  PDSIM_INLINE_AVX2 __m256 of(__m256 a, __m256 b) { return _mm256_mul_ps(a, b); }
};
template <int not_better>
struct ChosenLanes {
  static constexpr bool exact = true;
  PDSIM_INLINE_AVX2 __m256 of(__m256 a, __m256 b) {
    const __m256 better = _mm256_and_ps(_mm256_cmp_ps(a, b, not_better), _mm256_cmp_ps(a, a, _CMP_EQ_OQ));
    return _mm256_blendv_ps(a, b, better);
  }
};
using LesserLanes = ChosenLanes<_CMP_NLE_UQ>;
using GreaterLanes = ChosenLanes<_CMP_NGE_UQ>;

constexpr std::int64_t lanes = 16;
constexpr std::int64_t ahead = 256;  // elements: memory answers while these are combined

// Combines whole vectors and passes the remaining elements to `rest`.
template <class Half, class Op, class Rest>
PDSIM_TARGET_AVX2 void combine_avx2(std::uint16_t* to, const std::uint16_t* from, std::int64_t count, Rest rest) {
  std::int64_t i = 0;
  for (; i + lanes <= count; i += lanes) {
    _mm_prefetch(reinterpret_cast<const char*>(to + i + ahead), _MM_HINT_T0);
    _mm_prefetch(reinterpret_cast<const char*>(from + i + ahead), _MM_HINT_T0);
    const Wide a = Half::load(to + i);
    const Wide b = Half::load(from + i);
    Half::template store<Op::exact>(to + i, {Op::of(a.low, b.low), Op::of(a.high, b.high)});
  }
  rest(to + i, from + i, count - i);
}

template <class Half, class Rest>
PDSIM_TARGET_AVX2 void scale_avx2(std::uint16_t* to, const std::uint16_t* from, std::int64_t count, float factor,
                                  Rest rest) {
  const __m256 by = _mm256_set1_ps(factor);
  std::int64_t i = 0;
  for (; i + lanes <= count; i += lanes) {
    const Wide w = Half::load(from + i);
    Half::template store<false>(to + i, {_mm256_mul_ps(w.low, by), _mm256_mul_ps(w.high, by)});
  }
  rest(to + i, from + i, count - i);
}

bool has_f16c() {
  unsigned a = 0, b = 0, c = 0, d = 0;
  return __get_cpuid(1, &a, &b, &c, &d) != 0 && (c & bit_F16C) != 0;
}

#else

struct F16Lanes {};
struct BF16Lanes {};
struct SumLanes {};
struct ProductLanes {};
struct LesserLanes {};
struct GreaterLanes {};

#endif

struct F16 : F16Lanes {
  using One = F16Element;
};
struct BF16 : BF16Lanes {
  using One = BF16Element;
};

template <class Half, class Lanes, class F>
void combine(Processor processor, std::uint16_t* to, const std::uint16_t* from, std::int64_t count, F f) {
  const auto plain = [f](std::uint16_t* a, const std::uint16_t* b, std::int64_t n) {
    for (std::int64_t i = 0; i < n; ++i) a[i] = Half::One::store(f(Half::One::load(a[i]), Half::One::load(b[i])));
  };
#ifdef PDSIM_KERNELS_AVX2
  if (processor == Processor::avx2) return combine_avx2<Half, Lanes>(to, from, count, plain);
#endif
  static_cast<void>(processor);
  plain(to, from, count);
}

template <class Half>
void combine(Processor processor, std::uint16_t* to, const std::uint16_t* from, std::int64_t count, ReduceOp op) {
  switch (op) {
    case ReduceOp::product:
      return combine<Half, ProductLanes>(processor, to, from, count, combining::Product<float>{});
    case ReduceOp::min:
      return combine<Half, LesserLanes>(processor, to, from, count, combining::Min<float>{});
    case ReduceOp::max:
      return combine<Half, GreaterLanes>(processor, to, from, count, combining::Max<float>{});
    default:
      PDSIM_CHECK(op == ReduceOp::sum, "a reduction that halves do not have reached the kernel");
      return combine<Half, SumLanes>(processor, to, from, count, combining::Sum<float>{});
  }
}

template <class Half>
void scale(Processor processor, std::uint16_t* to, const std::uint16_t* from, std::int64_t count, float factor) {
  const auto plain = [factor](std::uint16_t* a, const std::uint16_t* b, std::int64_t n) {
    for (std::int64_t i = 0; i < n; ++i) a[i] = Half::One::store(Half::One::load(b[i]) * factor);
  };
#ifdef PDSIM_KERNELS_AVX2
  if (processor == Processor::avx2) return scale_avx2<Half>(to, from, count, factor, plain);
#endif
  static_cast<void>(processor);
  plain(to, from, count);
}

}  // namespace

Processor this_processor() {
#ifdef PDSIM_KERNELS_AVX2
  // Asked once: below a hypervisor each cpuid takes microseconds.
  static const bool has_both = __builtin_cpu_supports("avx2") && has_f16c();
  if (has_both) return Processor::avx2;
#endif
  return Processor::any;
}

void combine_f16(Processor processor, std::uint16_t* to, const std::uint16_t* from, std::int64_t count, ReduceOp op) {
  combine<F16>(processor, to, from, count, op);
}

void combine_bf16(Processor processor, std::uint16_t* to, const std::uint16_t* from, std::int64_t count, ReduceOp op) {
  combine<BF16>(processor, to, from, count, op);
}

void scale_f16(Processor processor, std::uint16_t* to, const std::uint16_t* from, std::int64_t count, float factor) {
  scale<F16>(processor, to, from, count, factor);
}

void scale_bf16(Processor processor, std::uint16_t* to, const std::uint16_t* from, std::int64_t count, float factor) {
  scale<BF16>(processor, to, from, count, factor);
}

}  // namespace pdsim
