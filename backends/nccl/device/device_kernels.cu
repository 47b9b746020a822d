#include "backends/nccl/device/device_kernels.h"

#include "core/collectives/arithmetic.h"

#include <type_traits>

namespace pdsim {
namespace {

// Each thread takes every n-th element, n the number of threads, so that neighbours read neighbours.
template <class F>
__global__ void for_each_element(std::int64_t count, F f) {
  const std::int64_t step = static_cast<std::int64_t>(gridDim.x) * blockDim.x;
  for (std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < count; i += step) f(i);
}

template <class F>
cudaError_t launch(std::int64_t count, cudaStream_t stream, F f) {
  constexpr std::int64_t threads = 256, most_blocks = 4096;
  if (count == 0) return cudaSuccess;
  const std::int64_t blocks = (count + threads - 1) / threads;
  for_each_element<<<static_cast<unsigned>(blocks < most_blocks ? blocks : most_blocks), threads, 0, stream>>>(count, f);
  return cudaGetLastError();
}

template <class Element, class Op>
struct Reduce {
  typename Element::Stored* inout;
  const typename Element::Stored* in;
  Op op;
  __device__ void operator()(std::int64_t i) const {
    inout[i] = Element::store(op(Element::load(inout[i]), Element::load(in[i])));
  }
};

// Small elements travel in words where both addresses are even ones of a word: memory is what takes the time.
constexpr int word = 16;  // bytes

template <class Element>
struct alignas(word) Pack {
  static constexpr int size = word / static_cast<int>(sizeof(typename Element::Stored));
  typename Element::Stored elements[size];
};

template <class Element, class Op>
struct ReducePacks {
  Pack<Element>* inout;
  const Pack<Element>* in;
  Op op;
  __device__ void operator()(std::int64_t i) const {
    Pack<Element> a = inout[i];
    const Pack<Element> b = in[i];
#pragma unroll
    for (int e = 0; e < Pack<Element>::size; ++e)
      a.elements[e] = Element::store(op(Element::load(a.elements[e]), Element::load(b.elements[e])));
    inout[i] = a;
  }
};

bool aligned(const void* at) { return reinterpret_cast<std::uintptr_t>(at) % word == 0; }

template <class Element, class Op>
cudaError_t reduce(void* inout, const void* in, std::int64_t count, Op op, cudaStream_t stream) {
  using Stored = typename Element::Stored;
  auto* to = static_cast<Stored*>(inout);
  const auto* from = static_cast<const Stored*>(in);
  std::int64_t done = 0;
  if (aligned(inout) && aligned(in)) {
    const std::int64_t packs = count / Pack<Element>::size;
    const cudaError_t launched =
        launch(packs, stream,
               ReducePacks<Element, Op>{static_cast<Pack<Element>*>(inout), static_cast<const Pack<Element>*>(in), op});
    if (launched != cudaSuccess) return launched;
    done = packs * Pack<Element>::size;
  }
  return launch(count - done, stream, Reduce<Element, Op>{to + done, from + done, op});
}

template <class Element>
struct Scale {
  typename Element::Stored* to;
  const typename Element::Stored* from;
  typename Element::Value factor;
  __device__ void operator()(std::int64_t i) const { to[i] = Element::store(Element::load(from[i]) * factor); }
};

template <class T>
struct Divide {
  T* data;
  std::int64_t divisor;
  __device__ void operator()(std::int64_t i) const { data[i] = static_cast<T>(static_cast<std::int64_t>(data[i]) / divisor); }
};

template <class Element>
struct Fill {
  typename Element::Stored* to;
  std::int64_t first, period;
  __device__ void operator()(std::int64_t i) const {
    to[i] = Element::store(static_cast<typename Element::Value>((first + i) % period));
  }
};

struct CountWrong {
  const unsigned char* got;
  const unsigned char* expected;
  std::int64_t width;
  unsigned long long* wrong;
  __device__ void operator()(std::int64_t i) const {
    bool same = true;
    for (std::int64_t b = i * width; b < (i + 1) * width; ++b) same = same && got[b] == expected[b];
    if (!same) atomicAdd(wrong, 1ULL);
  }
};

}  // namespace

cudaError_t reduce_on_device(void* inout, const void* in, std::int64_t count, DType dtype, ReduceOp op,
                             cudaStream_t stream) {
  return with_element(dtype, [=](auto element) {
    using E = decltype(element);
    return with_operation<typename E::Value>(op, [=](auto f) { return reduce<E>(inout, in, count, f, stream); });
  });
}

cudaError_t scale_on_device(void* to, const void* from, std::int64_t count, DType dtype, double factor,
                            cudaStream_t stream) {
  return with_element(dtype, [=](auto element) {
    using E = decltype(element);
    if constexpr (std::is_floating_point_v<typename E::Value>)
      return launch(count, stream,
                    Scale<E>{static_cast<typename E::Stored*>(to), static_cast<const typename E::Stored*>(from),
                             static_cast<typename E::Value>(factor)});
    return cudaErrorInvalidValue;
  });
}

cudaError_t divide_on_device(void* data, std::int64_t count, DType dtype, std::int64_t divisor, cudaStream_t stream) {
  return with_element(dtype, [=](auto element) {
    using T = typename decltype(element)::Value;
    if constexpr (std::is_integral_v<T> && !std::is_same_v<T, bool>)
      return launch(count, stream, Divide<T>{static_cast<T*>(data), divisor});
    return cudaErrorInvalidValue;
  });
}

cudaError_t fill_on_device(void* to, std::int64_t count, DType dtype, std::int64_t first, std::int64_t period,
                           cudaStream_t stream) {
  return with_element(dtype, [=](auto element) {
    using E = decltype(element);
    return launch(count, stream, Fill<E>{static_cast<typename E::Stored*>(to), first, period});
  });
}

cudaError_t count_wrong_on_device(const void* got, const void* expected, std::int64_t count, DType dtype,
                                  unsigned long long* wrong, cudaStream_t stream) {
  return launch(count, stream,
                CountWrong{static_cast<const unsigned char*>(got), static_cast<const unsigned char*>(expected),
                           static_cast<std::int64_t>(size_of(dtype)), wrong});
}

}  // namespace pdsim
