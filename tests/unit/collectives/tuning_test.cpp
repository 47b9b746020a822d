// What MPICH, Open MPI, NCCL and Gloo would run.
#include "core/collectives/tuning/tuning.h"

#include "core/collectives/tuning/algorithm_choice.h"
#include "core/collectives/tuning/nccl_model.h"

#include <gtest/gtest.h>

#include <string>

namespace pdsim {
namespace {

using K = CollectiveKind;
constexpr std::int64_t KiB = 1024;

// `bytes` elements of one byte.
std::string_view pick(std::string_view library, K kind, int ranks, std::int64_t bytes, int per_node = 1) {
  const Tuning* tuning = tuning_named(std::string("auto:") + std::string(library));
  return tuning == nullptr ? "no such tuning" : chosen_by(*tuning, {kind, ranks, bytes, 1, per_node});
}

struct Case {
  K kind;
  int ranks;
  std::int64_t bytes;
  std::string_view algorithm;
};

TEST(Tuning, OfMpichHasItsThresholds) {
  for (const Case& c : {
           Case{K::all_reduce, 16, 2048, "recursive_doubling"},
           Case{K::all_reduce, 16, 2049, "rabenseifner"},
           Case{K::broadcast, 64, 12'287, "binomial"},
           Case{K::broadcast, 64, 12'288, "scatter_doubling"},
           Case{K::broadcast, 8, 1'000'000, "binomial"},
           Case{K::broadcast, 64, 524'287, "scatter_doubling"},
           Case{K::broadcast, 64, 524'288, "scatter_ring"},
           Case{K::broadcast, 12, 20'000, "scatter_ring"},
           Case{K::all_gather, 8, 64 * KiB - 1, "recursive_doubling"},
           Case{K::all_gather, 8, 64 * KiB, "ring"},
           Case{K::all_gather, 10, 8 * KiB, "bruck"},
           Case{K::all_gather, 10, 8 * KiB + 1, "ring"},
           Case{K::all_to_all, 8, 255, "bruck"},
           Case{K::all_to_all, 7, 255, "linear"},
           Case{K::all_to_all, 8, 32 * KiB - 1, "linear"},
           Case{K::all_to_all, 8, 32 * KiB, "pairwise_xor"},
           Case{K::reduce, 16, 2047, "binomial"},
           Case{K::reduce, 16, 2048, "rabenseifner"},
           Case{K::reduce_scatter, 8, 64 * KiB, "recursive_halving"},
           Case{K::reduce_scatter, 8, 64 * KiB + 1, "pairwise"},
           Case{K::barrier, 100, 0, "dissemination"},
       })
    EXPECT_EQ(pick("mpich", c.kind, c.ranks, c.bytes), c.algorithm)
        << name_of(c.kind) << " " << c.ranks << " " << c.bytes;
}

TEST(Tuning, OfMpichDoublesVectorsShorterThanTheRanksAndTakesTwoLevelsOnNodesThatAreAlike) {
  const Tuning& mpich = *tuning_named("auto:mpich");
  EXPECT_EQ(chosen_by(mpich, {K::all_reduce, 1024, 1023, 8}), "recursive_doubling");
  EXPECT_EQ(chosen_by(mpich, {K::all_reduce, 1024, 1024, 8}), "rabenseifner");
  EXPECT_EQ(pick("mpich", K::all_reduce, 16, 100, 8), "two_level");
  EXPECT_EQ(pick("mpich", K::all_reduce, 17, 100, 8), "recursive_doubling");
  EXPECT_EQ(pick("mpich", K::all_reduce, 8, 100, 8), "recursive_doubling");
}

TEST(Tuning, OfOpenMpiHasItsThresholds) {
  for (const Case& c : {
           Case{K::all_reduce, 3, 65'535, "ring"},
           Case{K::all_reduce, 3, 65'536, "segmented_ring"},
           Case{K::all_reduce, 3, 256 * KiB, "rabenseifner"},
           Case{K::all_reduce, 4, 15, "ring"},
           Case{K::all_reduce, 4, 16, "recursive_doubling"},
           Case{K::all_reduce, 7, 8192, "rabenseifner"},
           Case{K::all_reduce, 8, 8191, "recursive_doubling"},
           Case{K::all_reduce, 16, 4095, "recursive_doubling"},
           Case{K::all_reduce, 31, 4096, "rabenseifner"},
           Case{K::all_reduce, 32, 127, "segmented_ring"},
           Case{K::all_reduce, 63, 128, "rabenseifner"},
           Case{K::all_reduce, 64, 256 * KiB - 1, "recursive_doubling"},
           Case{K::all_reduce, 128, 128 * KiB - 1, "reduce_broadcast"},
           Case{K::all_reduce, 255, 128 * KiB, "recursive_doubling"},
           Case{K::all_reduce, 255, 256 * KiB, "rabenseifner"},
           Case{K::all_reduce, 256, 4095, "reduce_broadcast"},
           Case{K::all_reduce, 512, 2047, "reduce_broadcast"},
           Case{K::all_reduce, 512, 16 * KiB - 1, "recursive_doubling"},
           Case{K::all_reduce, 512, 16 * KiB, "rabenseifner"},
           Case{K::barrier, 3, 0, "recursive_doubling"},
           Case{K::barrier, 7, 0, "linear"},
           Case{K::barrier, 63, 0, "recursive_doubling"},
           Case{K::barrier, 255, 0, "dissemination"},
           Case{K::barrier, 511, 0, "tree"},
           Case{K::all_gather, 16, 1 << 20, "recursive_doubling"},
           Case{K::all_gather, 17, 1 << 20, "bruck"},
           Case{K::all_gather, 32, 1023, "recursive_doubling"},
           Case{K::all_gather, 32, 64 * KiB - 1, "neighbour_exchange"},
           Case{K::all_gather, 32, 64 * KiB, "ring"},
           Case{K::reduce_scatter, 16, 16 * KiB - 1, "recursive_halving"},
           Case{K::reduce_scatter, 16, 16 * KiB, "ring"},
       })
    EXPECT_EQ(pick("openmpi", c.kind, c.ranks, c.bytes), c.algorithm)
        << name_of(c.kind) << " " << c.ranks << " " << c.bytes;
}

// NVLink, eight GPUs a node.
TEST(NcclModel, HasTheLatenciesOfItsTable) {
  using nccl_model::Protocol;
  using nccl_model::Shape;
  const struct {
    int nodes;
    double ring[3], tree[3];
  } table[] = {
      {1, {15.0, 40.6, 56.0}, {15.2, 31.5, 64.4}},
      {2, {40.0, 75.2, 131.6}, {25.2, 48.5, 92.4}},
      {16, {311.6, 559.6, 1190.0}, {55.2, 99.5, 176.4}},
  };
  for (const auto& row : table)
    for (const Protocol p : {Protocol::ll, Protocol::ll128, Protocol::simple}) {
      const nccl_model::Machine machine{row.nodes, 8};
      EXPECT_NEAR(nccl_model::latency_us(machine, Shape::ring, p), row.ring[static_cast<int>(p)], 0.1) << row.nodes;
      EXPECT_NEAR(nccl_model::latency_us(machine, Shape::tree, p), row.tree[static_cast<int>(p)], 0.1) << row.nodes;
    }
}

TEST(NcclModel, TakesTreesForShortVectorsOverManyNodesAndRingsForLongOnes) {
  EXPECT_EQ(pick("nccl", K::all_reduce, 128, 1 * KiB, 8), "double_tree");
  EXPECT_EQ(pick("nccl", K::all_reduce, 128, std::int64_t{4} << 30, 8), "ring");
  EXPECT_EQ(pick("nccl", K::all_reduce, 8, 256 << 20, 8), "ring");
  EXPECT_EQ(pick("nccl", K::all_reduce, 1, 1, 8), "ring");
}

TEST(NcclModel, TakesTheLeastTime) {
  using nccl_model::Protocol;
  using nccl_model::Shape;
  for (const int nodes : {1, 2, 16})
    for (std::int64_t bytes = 0; bytes < std::int64_t{1} << 34; bytes = bytes * 2 + 64) {
      const nccl_model::Machine machine{nodes, 8};
      const auto best = nccl_model::choose(machine, bytes);
      for (const Shape s : {Shape::tree, Shape::ring})
        for (const Protocol p : {Protocol::ll, Protocol::ll128, Protocol::simple})
          EXPECT_LE(best.us, nccl_model::time_us(machine, s, p, bytes)) << nodes << " " << bytes;
    }
}

// Whatever a table names must be there, at every size and number of ranks, and the last rule must take all.
TEST(Tuning, NamesAlgorithmsThatThereAreForEverything) {
  for (const Tuning& tuning : tunings())
    for (const CollectiveRow& row : collective_table) {
      if (!row.planned) continue;
      for (const int ranks : {1, 2, 3, 4, 5, 8, 15, 16, 31, 33, 63, 64, 100, 200, 300, 600, 1500, 3000, 5000})
        for (std::int64_t bytes = 0; bytes < 16 << 20; bytes = bytes * 2 + 1) {
          const std::string_view name = chosen_by(tuning, {row.kind, ranks, bytes, 1, 4});
          EXPECT_TRUE(find_algorithm(row.kind, name).ok()) << tuning.name << " " << row.name << " " << name;
        }
      for (const SelectionRule& rule : tuning.rules()) {
        if (rule.when == SelectionRule::When::by_model) continue;
        EXPECT_TRUE(find_algorithm(rule.kind, rule.algorithm).ok()) << tuning.name << " " << rule.algorithm;
      }
    }
}

TEST(FindAlgorithm, AsksTheTuningThatTheCallNames) {
  AlgorithmProofs proofs;
  Collective call;
  call.kind = K::all_reduce;
  call.dtype = DType::f32;
  call.count = 512;
  call.algorithm = "auto:mpich";
  EXPECT_EQ(find_algorithm(call, proofs, 16).value()->name, "recursive_doubling");
  call.count = 513;
  EXPECT_EQ(find_algorithm(call, proofs, 16).value()->name, "rabenseifner");
  EXPECT_EQ(find_algorithm(call, proofs, 16, 4).value()->name, "two_level");
  call.algorithm = "auto:mvapich";
  EXPECT_FALSE(find_algorithm(call, proofs, 16).ok());
}

TEST(FindAlgorithm, TakesTheCallersOwnRowForItsOwnCollective) {
  const Algorithm own{K::all_reduce, "mine", find_algorithm(K::all_reduce, "ring").value()->plan};
  AlgorithmProofs proofs;
  Collective call;
  call.kind = K::all_reduce;
  call.own_algorithm = &own;
  EXPECT_EQ(find_algorithm(call, proofs, 4).value(), &own);
  call.kind = K::reduce;
  EXPECT_EQ(find_algorithm(call, proofs, 4).error().message,
            "reduce: the call's algorithm mine is one of all_reduce");
}

}  // namespace
}  // namespace pdsim
