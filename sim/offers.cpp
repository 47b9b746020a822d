#include "sim/offers.h"

#include "core/base/enum_set.h"
#include "core/collectives/reduce.h"

#include <fmt/format.h>

#include <array>

namespace pdsim::sim {
namespace {

using Kinds = EnumSet<CollectiveKind>;
using Ops = EnumSet<ReduceOp>;
using DTypes = EnumSet<DType>;

// What a library refuses. The first row that names the library and, if it says one, the profile holds.
struct Offer {
  std::string_view backend;
  std::string_view profile;  // empty: any
  DTypes dtypes;
  Kinds kinds;
  Ops ops;               // whatever the dtype
  DTypes premul_dtypes;  // of premul_sum alone
};

constexpr Ops scaled{ReduceOp::avg, ReduceOp::premul_sum};

constexpr std::array offer_rows{
    Offer{"gloo", "pytorch-1.13", {DType::bf16, DType::boolean}, {CollectiveKind::reduce_scatter}, scaled, {}},
    Offer{"gloo", "", {}, {}, scaled, {}},
    Offer{"nccl",
          "",
          {},
          {},
          {ReduceOp::band, ReduceOp::bor, ReduceOp::bxor},
          DTypes{DType::f16, DType::f32, DType::f64}.but()},
    Offer{"mpi",
          "",
          {DType::f16, DType::bf16, DType::boolean},
          {CollectiveKind::reduce_scatter},
          {ReduceOp::avg, ReduceOp::premul_sum, ReduceOp::band, ReduceOp::bor, ReduceOp::bxor},
          {}},
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
  for (const Offer& r : offer_rows) {
    if (r.backend != personality.name || !(r.profile.empty() || r.profile == profile.name)) continue;
    if (r.kinds.has(call.kind)) return refused(personality, profile, call, "this operation");
    if (r.dtypes.has(call.dtype))
      return refused(personality, profile, call, fmt::format("the dtype {}", name_of(call.dtype)));
    if (!kind.reduces) return {};
    const bool factor = call.op == ReduceOp::premul_sum && r.premul_dtypes.has(call.dtype);
    // A bitwise op on floats is refused by its own sentence, which holds for every library.
    if (factor || (r.ops.has(call.op) && supports(call.op, call.dtype)))
      return refused(personality, profile, call, fmt::format("{} for {}", name_of(call.op), name_of(call.dtype)));
    return {};
  }
  return {};
}

}  // namespace pdsim::sim
