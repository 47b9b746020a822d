// Reduction kernels against a plain copy of the same bytes: 1 MiB stays in the cache, 64 MiB does not.
#include "core/collectives/kernels.h"

#include "core/collectives/reduce.h"

#include <benchmark/benchmark.h>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

namespace pdsim {
namespace {

constexpr std::int64_t sizes[] = {1 << 20, 64 << 20};

// 2.0 and 1.0 alternating would denormalise under products; small positive numbers of every dtype do not.
std::vector<std::byte> ones(DType dtype, std::int64_t bytes) {
  std::vector<std::byte> data(static_cast<std::size_t>(bytes));
  const std::size_t width = size_of(dtype);
  const std::uint64_t one = dtype == DType::f64   ? 0x3ff0000000000000U
                            : dtype == DType::f32 ? 0x3f800000U
                            : dtype == DType::f16 ? 0x3c00U
                                                  : 0x3f80U;
  for (std::size_t at = 0; at < data.size(); at += width) std::memcpy(data.data() + at, &one, width);
  return data;
}

void rate(benchmark::State& state) { state.SetBytesProcessed(state.iterations() * state.range(0)); }

void copy(benchmark::State& state) {
  auto to = ones(DType::f32, state.range(0));
  const auto from = ones(DType::f32, state.range(0));
  for (auto _ : state) {
    std::memcpy(to.data(), from.data(), to.size());
    benchmark::ClobberMemory();
  }
  rate(state);
}
BENCHMARK(copy)->ArgsProduct({{sizes[0], sizes[1]}});

void combine(benchmark::State& state, DType dtype, ReduceOp op, Processor processor) {
  auto inout = ones(dtype, state.range(0));
  const auto in = ones(dtype, state.range(0));
  const auto count = state.range(0) / static_cast<std::int64_t>(size_of(dtype));
  for (auto _ : state) {
    reduce({inout.data(), dtype, count}, {in.data(), dtype, count}, op, processor);
    benchmark::ClobberMemory();
  }
  rate(state);
}

[[maybe_unused]] const bool declared = [] {
  for (const DType dtype : {DType::f32, DType::f64, DType::f16, DType::bf16})
    for (const ReduceOp op : {ReduceOp::sum, ReduceOp::max})
      for (const Processor processor : {Processor::any, this_processor()}) {
        if (processor == Processor::any && this_processor() == Processor::any) continue;
        const std::string name = "reduce/" + std::string(row(dtype).name) + "/" + std::string(name_of(op)) +
                                 (processor == Processor::any ? "/any" : "/avx2");
        benchmark::RegisterBenchmark(name.c_str(), combine, dtype, op, processor)->Arg(sizes[0])->Arg(sizes[1]);
      }
  return true;
}();

}  // namespace
}  // namespace pdsim
