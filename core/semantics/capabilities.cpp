#include "core/semantics/capabilities.h"

#include "core/base/check.h"
#include "core/collectives/reduce.h"

#include <fmt/format.h>

#include <array>

namespace pdsim {
namespace {

using Kinds = EnumSet<CollectiveKind>;
using Ops = EnumSet<ReduceOp>;
using DTypes = EnumSet<DType>;
using K = CollectiveKind;

constexpr Kinds native_in(std::string_view NativeNames::*library) {
  Kinds kinds;
  for (const CollectiveRow& kind : collective_table)
    if (!(kind.native.*library).empty()) kinds.add(kind.kind);
  return kinds;
}

constexpr std::array worlds{
    // Gloo reduces through a function that it is handed, which is pdsim's kernel.
    Capabilities{.world = "gloo", .title = "gloo", .memory = "cpu", .collectives = native_in(&NativeNames::gloo)},
    Capabilities{.world = "mpi",
                 .title = "MPI",
                 .memory = "cpu",
                 .collectives = native_in(&NativeNames::mpi),
                 .arithmetic = {ReduceOp::sum, ReduceOp::product, ReduceOp::min, ReduceOp::max},
                 .bitwise = {ReduceOp::band, ReduceOp::bor, ReduceOp::bxor},
                 .arithmetic_dtypes = {DType::f32, DType::f64, DType::i8, DType::u8, DType::i32, DType::i64},
                 .bitwise_dtypes = {DType::i8, DType::u8, DType::i32, DType::i64}},
    // bool as uint8, as in PyTorch.
    Capabilities{.world = "nccl",
                 .title = "NCCL",
                 .memory = "cpu",
                 .collectives = native_in(&NativeNames::nccl),
                 .arithmetic = {ReduceOp::sum, ReduceOp::product, ReduceOp::min, ReduceOp::max, ReduceOp::avg,
                                ReduceOp::premul_sum},
                 .arithmetic_dtypes = DTypes{}.but()},
};

// What PyTorch's backend refuses. The first row that names the library and, if it says one, the profile holds.
struct Refusals {
  std::string_view library;
  std::string_view profile{};  // empty: any
  DTypes dtypes{};
  Kinds kinds{};
  Ops ops{};                // whatever the dtype
  DTypes premul_dtypes{};   // of premul_sum alone
  bool any_source = false;  // receives from any rank
};

constexpr Ops scaled{ReduceOp::avg, ReduceOp::premul_sum};

constexpr std::array refusals{
    Refusals{.library = "gloo",
             .profile = "pytorch-1.13",
             .dtypes = {DType::bf16, DType::boolean},
             .kinds = {K::reduce_scatter},
             .ops = scaled},
    Refusals{.library = "gloo", .profile = "pytorch-2.14", .dtypes = {DType::bf16}, .ops = {ReduceOp::premul_sum}},
    Refusals{.library = "gloo", .ops = scaled},
    Refusals{.library = "nccl",
             .kinds = {K::monitored_barrier},
             .ops = {ReduceOp::band, ReduceOp::bor, ReduceOp::bxor},
             .premul_dtypes = DTypes{DType::f16, DType::f32, DType::f64}.but(),
             .any_source = true},
    Refusals{.library = "mpi",
             .dtypes = {DType::f16, DType::bf16, DType::boolean},
             .kinds = {K::reduce_scatter, K::monitored_barrier},
             .ops = {ReduceOp::avg, ReduceOp::premul_sum, ReduceOp::band, ReduceOp::bor, ReduceOp::bxor}},
};

const Refusals* refusals_of(const LibrarySemantics& library, const Profile& profile) {
  for (const Refusals& row : refusals)
    if (row.library == library.name && (row.profile.empty() || row.profile == profile.name)) return &row;
  return nullptr;
}

Error unsupported(const LibrarySemantics& library, const Profile& profile, const Collective& call, std::string_view what) {
  return {Code::unsupported,
          fmt::format("{}: {} of {} does not offer {}; the ideal backend does", name_of(call.kind), library.name,
                      profile.name, what),
          {{"in", std::string(name_of(call.kind))}, {"backend", std::string(library.name)}}};
}

Error refused_operation(const LibrarySemantics& library, const Profile& profile, const Collective& call) {
  Error error = unsupported(library, profile, call, fmt::format("{} for {}", name_of(call.op), name_of(call.dtype)));
  error.facts.push_back({"reduce_op", std::string(name_of(call.op))});
  return error;
}

}  // namespace

std::span<const Capabilities> capabilities() { return worlds; }

const Capabilities& capabilities_of(std::string_view world) {
  for (const Capabilities& row : worlds)
    if (row.world == world) return row;
  PDSIM_CHECK(false, "a world without a row of capabilities was asked for them");
  return worlds[0];
}

Status offers(const LibrarySemantics& library, const Profile& profile, const Collective& call) {
  const Refusals* refuses = refusals_of(library, profile);
  if (refuses == nullptr) return {};
  const CollectiveRow& kind = row(call.kind);
  if (refuses->kinds.has(call.kind)) return unsupported(library, profile, call, "this operation");
  if (refuses->any_source && call.kind == K::recv && call.root == any_source)
    return unsupported(library, profile, call, "a receive from any source");
  if (kind.point_to_point || !kind.has_input) return {};
  if (refuses->dtypes.has(call.dtype))
    return unsupported(library, profile, call, fmt::format("the dtype {}", name_of(call.dtype)));
  if (!kind.reduces) return {};
  const bool factor = call.op == ReduceOp::premul_sum && refuses->premul_dtypes.has(call.dtype);
  // A bitwise op on floats is refused by its own sentence, which holds for every library.
  if (factor || (refuses->ops.has(call.op) && supports(call.op, call.dtype)))
    return refused_operation(library, profile, call);
  return {};
}

}  // namespace pdsim
