#include "backends/capabilities.h"

#include "core/base/check.h"

#include <array>

namespace pdsim {
namespace {

using K = CollectiveKind;
using O = ReduceOp;
using D = DType;

// Gloo reduces through a function that it is handed, which is pdsim's kernel.
constexpr std::array worlds{
    Capabilities{
        "gloo",
        "gloo",
        "cpu",
        {K::broadcast, K::all_reduce, K::reduce, K::all_gather, K::gather, K::scatter, K::all_to_all, K::barrier},
        {},
        {},
        {},
        {}},
    Capabilities{"mpi",
                 "MPI",
                 "cpu",
                 EnumSet<K>{K::send, K::recv, K::monitored_barrier}.but(),
                 {O::sum, O::product, O::min, O::max},
                 {O::band, O::bor, O::bxor},
                 {D::f32, D::f64, D::i8, D::u8, D::i32, D::i64},
                 {D::i8, D::u8, D::i32, D::i64}},
    // bool as uint8, as in PyTorch.
    Capabilities{"nccl",
                 "NCCL",
                 "cpu",
                 {K::broadcast, K::all_reduce, K::reduce, K::all_gather, K::gather, K::scatter, K::reduce_scatter,
                  K::all_to_all},
                 {O::sum, O::product, O::min, O::max, O::avg, O::premul_sum},
                 {},
                 EnumSet<D>{}.but(),
                 {}},
};

}  // namespace

std::span<const Capabilities> capabilities() { return worlds; }

const Capabilities& capabilities_of(std::string_view world) {
  for (const Capabilities& row : worlds)
    if (row.world == world) return row;
  PDSIM_CHECK(false, "a world without a row of capabilities was asked for them");
  return worlds[0];
}

}  // namespace pdsim
