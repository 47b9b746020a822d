#include "sim/offers.h"

#include "core/collectives/reduce.h"

#include <fmt/format.h>

#include <array>
#include <cstdint>

namespace pdsim::sim {
namespace {

using Mask = std::uint32_t;
template <class E>
constexpr Mask bit(E e) {
  return Mask{1} << static_cast<unsigned>(e);
}

constexpr Mask half_types = bit(DType::f16) | bit(DType::bf16);
constexpr Mask bitwise = bit(ReduceOp::band) | bit(ReduceOp::bor) | bit(ReduceOp::bxor);
constexpr Mask scaled = bit(ReduceOp::avg) | bit(ReduceOp::premul_sum);

// What a library refuses. The first row that names the library and, if it says one, the profile holds.
struct Row {
  std::string_view backend;
  std::string_view profile;  // empty: any
  Mask dtypes;
  Mask kinds;
  Mask ops;            // whatever the dtype
  Mask premul_dtypes;  // of premul_sum alone
};

constexpr Mask all_but(Mask m) { return ~m; }

constexpr std::array rows{
    Row{"gloo", "pytorch-1.13", bit(DType::bf16) | bit(DType::boolean), bit(CollectiveKind::reduce_scatter), scaled, 0},
    Row{"gloo", "", 0, 0, scaled, 0},
    Row{"nccl", "", 0, 0, bitwise, all_but(bit(DType::f16) | bit(DType::f32) | bit(DType::f64))},
    Row{"mpi", "", half_types | bit(DType::boolean), bit(CollectiveKind::reduce_scatter), scaled | bitwise, 0},
};

Error refused(const Personality& personality, const Profile& profile, const Collective& call, std::string_view what) {
  return {Code::unsupported,
          fmt::format("{}: {} of {} does not offer {}; the ideal backend does", name_of(call.kind), personality.name,
                      profile.name, what),
          {{"in", std::string(name_of(call.kind))}, {"backend", std::string(personality.name)}}};
}

}  // namespace

Status offers(const Personality& personality, const Profile& profile, const Collective& call) {
  const CollectiveRow& kind = row(call.kind);
  const bool monitored = call.kind == CollectiveKind::monitored_barrier;
  if (monitored && (personality.name == "nccl" || personality.name == "mpi"))
    return refused(personality, profile, call, "this operation");
  if (call.kind == CollectiveKind::recv && call.root == any_source && personality.name == "nccl")
    return refused(personality, profile, call, "a receive from any source");
  if (kind.point_to_point || monitored || call.kind == CollectiveKind::barrier) return {};
  for (const Row& r : rows) {
    if (r.backend != personality.name || !(r.profile.empty() || r.profile == profile.name)) continue;
    if (r.kinds & bit(call.kind)) return refused(personality, profile, call, "this operation");
    if (r.dtypes & bit(call.dtype))
      return refused(personality, profile, call, fmt::format("the dtype {}", name_of(call.dtype)));
    if (!kind.reduces) return {};
    const bool factor = call.op == ReduceOp::premul_sum && (r.premul_dtypes & bit(call.dtype));
    // A bitwise op on floats is refused by its own sentence, which holds for every library.
    if (factor || ((r.ops & bit(call.op)) && supports(call.op, call.dtype)))
      return refused(personality, profile, call, fmt::format("{} for {}", name_of(call.op), name_of(call.dtype)));
    return {};
  }
  return {};
}

}  // namespace pdsim::sim
