#include "tests/property/numbers.h"

#include "core/collectives/element.h"
#include "core/measure/payload.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>

namespace pdsim::property {
namespace {

using Buffer = std::vector<std::byte>;

constexpr std::array<std::string_view, 8> logarithmic{"recursive_doubling", "rabenseifner",      "reduce_broadcast",
                                                      "binomial",           "recursive_halving", "bcube",
                                                      "dissemination",      "scatter_doubling"};

double exact_number(Random& draw, ReduceOp op) {
  if (op == ReduceOp::product) return static_cast<double>(1 + draw.below(2)) * (draw.below(2) == 0 ? 1 : -1);
  return static_cast<double>(draw.below(9)) - 4.0;
}

double uneven_number(Random& draw, ReduceOp op) {
  const double unit = draw.unit();
  const int exponent = static_cast<int>(draw.below(9)) - 4;
  if (op == ReduceOp::product) return 0.5 + unit;
  return std::ldexp(unit - 0.5, exponent);
}

double special_number(Random& draw, DType dtype, ReduceOp op) {
  constexpr double inf = std::numeric_limits<double>::infinity();
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  const std::array<double, 8> rare{
      nan, -nan, inf, -inf, 0.0, -0.0, smallest_positive(dtype), -smallest_positive(dtype)};
  const std::uint64_t pick = draw.below(12);
  if (pick >= rare.size()) return exact_number(draw, op);
  // A product of denormals may vanish before it meets an infinity, or after: not the same in every order.
  if (op == ReduceOp::product && pick >= 6) return pick == 6 ? 2.0 : -1.0;
  return rare[pick];
}

void write_number(std::byte* at, Random& draw, const CollectiveCase& c) {
  if (row(c.dtype).floating || c.op == ReduceOp::product || c.dtype == DType::boolean) {
    double value = exact_number(draw, c.op);
    if (c.numbers == Numbers::rounding) value = uneven_number(draw, c.op);
    if (c.numbers == Numbers::special) value = special_number(draw, c.dtype, c.op);
    if (c.dtype == DType::boolean) value = draw.below(2) == 1 ? 1.0 : 0.0;
    return write_element(at, c.dtype, value);
  }
  // Integers wrap, so that any bits are exact; an average divides the sum, which must not have wrapped.
  const std::uint64_t bits = draw.next();
  if (c.op == ReduceOp::avg || c.op == ReduceOp::premul_sum)
    return write_element(at, c.dtype, static_cast<double>(bits % 9));
  std::copy_n(reinterpret_cast<const std::byte*>(&bits), size_of(c.dtype), at);
}

std::vector<std::size_t> byte_offsets(const CollectiveCase& c) {
  const auto parts = parts_of(c);
  std::vector<std::size_t> offsets(parts.size() + 1, 0);
  for (std::size_t i = 0; i < parts.size(); ++i)
    offsets[i + 1] = offsets[i] + static_cast<std::size_t>(parts[i]) * size_of(c.dtype);
  return offsets;
}

Buffer cut(const Buffer& from, std::size_t begin, std::size_t end) {
  return {from.begin() + static_cast<std::ptrdiff_t>(begin), from.begin() + static_cast<std::ptrdiff_t>(end)};
}

Collective call_of(const CollectiveCase& c) {
  Collective call;
  call.kind = c.kind;
  call.dtype = c.dtype;
  call.count = c.count;
  call.op = c.op;
  call.root = c.root;
  call.premul = 0.5;
  return call;
}

// Who contributes to an element of rank's output: ranks 0 .. last.
Rank last_contributor(const CollectiveCase& c, Rank rank) {
  if (c.kind == CollectiveKind::scan) return rank;
  if (c.kind == CollectiveKind::exscan) return rank - 1;
  return c.ranks - 1;
}

// Where the first element of rank's output lies in the tensor that is combined.
std::int64_t first_element(const CollectiveCase& c, Rank rank) {
  if (c.kind == CollectiveKind::reduce_scatter) return rank * c.count;
  if (c.kind != CollectiveKind::reduce_scatter_v) return 0;
  const auto parts = parts_of(c);
  return std::accumulate(parts.begin(), parts.begin() + rank, std::int64_t{0});
}

struct Bound {
  long double value = 0;
  long double tolerance = 0;
};

// The combination of one element, exactly, and how far off rounding may leave it.
Bound bound_of(const CollectiveCase& c, const RankBuffers& inputs, Rank rank, std::int64_t element) {
  const bool product = c.op == ReduceOp::product;
  const std::size_t at = static_cast<std::size_t>(first_element(c, rank) + element) * size_of(c.dtype);
  long double sum = product ? 1 : 0, magnitude = 0;
  for (Rank r = 0; r <= last_contributor(c, rank); ++r) {
    long double x = read_element(inputs[static_cast<std::size_t>(r)].data() + at, c.dtype);
    if (c.op == ReduceOp::avg) x /= c.ranks;
    if (c.op == ReduceOp::premul_sum) x *= 0.5L;
    sum = product ? sum * x : sum + x;
    magnitude += std::abs(x);
  }
  if (product) magnitude = std::abs(sum);
  // Scaling rounds the factor and the product.
  const int scaled = c.op == ReduceOp::avg || c.op == ReduceOp::premul_sum ? 2 : 0;
  const long double mu = (additions(c) + scaled) * static_cast<long double>(unit_roundoff(c.dtype));
  const long double g = mu < 1 ? mu / (1 - mu) : std::numeric_limits<long double>::infinity();
  return {sum, g * magnitude * 1.0001L + (scaled != 0 ? c.ranks : 0) * smallest_positive(c.dtype)};
}

bool must_be_exact(const CollectiveCase& c) {
  if (!row(c.kind).reduces || !can_round(c.dtype, c.op)) return true;
  const bool scales_unevenly = c.op == ReduceOp::avg && (c.ranks & (c.ranks - 1)) != 0;
  return c.numbers == Numbers::exact && !scales_unevenly;
}

}  // namespace

RankBuffers inputs_of(const CollectiveCase& c) {
  RankBuffers inputs;
  for (Rank r = 0; r < c.ranks; ++r) {
    Random draw = Random(c.data).stream("inputs", static_cast<std::uint64_t>(r));
    const std::int64_t count = input_count(c, r);
    Buffer buffer(static_cast<std::size_t>(count) * size_of(c.dtype));
    for (std::size_t at = 0; at < buffer.size(); at += size_of(c.dtype)) write_number(buffer.data() + at, draw, c);
    inputs.push_back(std::move(buffer));
  }
  return inputs;
}

int additions(const CollectiveCase& c) {
  const int chain = c.ranks - 1;
  const bool tree = std::find(logarithmic.begin(), logarithmic.end(), c.algorithm) != logarithmic.end();
  if (!tree || c.own != nullptr || c.kind == CollectiveKind::scan || c.kind == CollectiveKind::exscan) return chain;
  int levels = 0;
  while ((1 << levels) < c.ranks) ++levels;
  const bool folds = (c.ranks & (c.ranks - 1)) != 0;
  return c.algorithm == "bcube" ? chain : std::min(chain, levels + (folds ? 1 : 0));
}

RankBuffers expected_of(const CollectiveCase& c, const RankBuffers& inputs) {
  Collective call = call_of(c);
  if (c.kind == CollectiveKind::reduce_scatter_v) {
    const auto offsets = byte_offsets(c);
    call.kind = CollectiveKind::all_reduce;
    call.count = static_cast<std::int64_t>(offsets.back() / size_of(c.dtype));
    RankBuffers out = reference_result(call, inputs);
    for (std::size_t r = 0; r < out.size(); ++r) out[r] = cut(out[r], offsets[r], offsets[r + 1]);
    return out;
  }
  if (c.kind != CollectiveKind::all_to_all_v) return reference_result(call, inputs);
  const auto offsets = byte_offsets(c);
  RankBuffers out(inputs.size());
  for (std::size_t r = 0; r < out.size(); ++r)
    for (const Buffer& from : inputs) {
      const Buffer part = cut(from, offsets[r], offsets[r + 1]);
      out[r].insert(out[r].end(), part.begin(), part.end());
    }
  return out;
}

bool same_numbers(DType dtype, std::span<const std::byte> a, std::span<const std::byte> b) {
  if (std::equal(a.begin(), a.end(), b.begin(), b.end())) return true;
  if (a.size() != b.size() || !row(dtype).floating) return false;
  for (std::size_t at = 0; at < a.size(); at += size_of(dtype)) {
    const bool both_nan =
        std::isnan(read_element(a.data() + at, dtype)) && std::isnan(read_element(b.data() + at, dtype));
    if (!both_nan && bits_of_element(a.data() + at, dtype) != bits_of_element(b.data() + at, dtype)) return false;
  }
  return true;
}

std::string wrong_output(const CollectiveCase& c, const RankBuffers& inputs, Rank rank,
                         std::span<const std::byte> output) {
  const Buffer expected = expected_of(c, inputs)[static_cast<std::size_t>(rank)];
  if (expected.size() != output.size())
    return fmt::format("rank {} has {} bytes, and must have {}", rank, output.size(), expected.size());
  const std::size_t width = size_of(c.dtype);
  for (std::size_t at = 0; at < output.size(); at += width) {
    const std::span<const std::byte> one = output.subspan(at, width);
    if (same_numbers(c.dtype, one, std::span(expected).subspan(at, width))) continue;
    const double got = read_element(one.data(), c.dtype), reference = read_element(expected.data() + at, c.dtype);
    const auto element = static_cast<std::int64_t>(at / width);
    if ((c.op == ReduceOp::min || c.op == ReduceOp::max) && row(c.kind).reduces && got == 0 && reference == 0) continue;
    if (!must_be_exact(c) && std::isfinite(reference) && std::isfinite(got)) {
      const Bound bound = bound_of(c, inputs, rank, element);
      if (std::abs(got - bound.value) <= bound.tolerance) continue;
    }
    return fmt::format("element {} of rank {} is {} (0x{:x}), and must be {} (0x{:x})", element, rank, got,
                       bits_of_element(one.data(), c.dtype), reference, bits_of_element(expected.data() + at, c.dtype));
  }
  return {};
}

}  // namespace pdsim::property
