// The arithmetic below every simulated run: random streams, half precision, reductions.

#include "core/base/fingerprint.h"
#include "core/base/random.h"
#include "core/collectives/half.h"
#include "core/collectives/reduce.h"
#include "core/collectives/reference.h"
#include "tests/fingerprints/fingerprints.h"

#include <bit>
#include <cstddef>
#include <vector>

namespace pdsim::fingerprints {
namespace {

// Finite values of a dtype, some negative, some with fractions where the dtype has them.
std::vector<std::byte> values(Random random, DType dtype, std::int64_t count) {
  std::vector<std::byte> bytes(static_cast<std::size_t>(count) * size_of(dtype));
  for (std::int64_t i = 0; i < count; ++i) {
    const double value = (random.unit() - 0.5) * 16.0;
    const std::size_t at = static_cast<std::size_t>(i) * size_of(dtype);
    std::uint64_t bits = 0;
    switch (dtype) {
      case DType::f64:
        bits = std::bit_cast<std::uint64_t>(value);
        break;
      case DType::f32:
        bits = std::bit_cast<std::uint32_t>(static_cast<float>(value));
        break;
      case DType::f16:
        bits = to_f16(static_cast<float>(value));
        break;
      case DType::bf16:
        bits = to_bf16(static_cast<float>(value));
        break;
      case DType::boolean:
        bits = value > 0 ? 1 : 0;
        break;
      default:
        bits = static_cast<std::uint64_t>(static_cast<std::int64_t>(value));
        break;
    }
    for (std::size_t b = 0; b < size_of(dtype); ++b) bytes[at + b] = static_cast<std::byte>(bits >> (8 * b));
  }
  return bytes;
}

}  // namespace

std::uint64_t random_streams() {
  Fingerprint fingerprint;
  const Random root(7);
  for (std::uint64_t index = 0; index < 64; ++index) {
    Random stream = root.stream("jitter", index);
    for (std::uint64_t n = 1; n < 200; n += 7) fingerprint.add(stream.below(n));
    fingerprint.add(std::bit_cast<std::uint64_t>(stream.unit()));
  }
  return fingerprint.value();
}

std::uint64_t half_conversions() {
  Fingerprint fingerprint;
  Random random(7);
  for (int i = 0; i < 100'000; ++i) {
    const auto value = std::bit_cast<float>(static_cast<std::uint32_t>(random.next()));
    if (value != value) continue;
    fingerprint.add(to_f16(value));
    fingerprint.add(to_bf16(value));
  }
  return fingerprint.value();
}

std::uint64_t reductions() {
  Fingerprint fingerprint;
  constexpr int ranks = 5;
  constexpr std::int64_t count = 37;
  for (const DTypeRow& dtype : dtypes) {
    for (std::size_t o = 0; o < reduce_op_names.size(); ++o) {
      const auto op = static_cast<ReduceOp>(o);
      if (!supports(op, dtype.dtype)) continue;
      Collective call;
      call.kind = CollectiveKind::all_reduce;
      call.dtype = dtype.dtype;
      call.count = count;
      call.op = op;
      call.premul = 0.3;
      RankBuffers inputs;
      for (std::uint64_t rank = 0; rank < ranks; ++rank)
        inputs.push_back(values(Random(7).stream("input", rank), dtype.dtype, count));
      const RankBuffers results = reference_result(call, inputs);
      for (const auto& result : results) fingerprint.add(result.data(), result.size());
    }
  }
  return fingerprint.value();
}

}  // namespace pdsim::fingerprints
