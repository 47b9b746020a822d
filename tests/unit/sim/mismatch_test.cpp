// What each library makes of calls that do not fit together, as was measured with the real ones: rank by rank, for two
// ranks of which rank 1 does something else. `hangs` is a rank that nothing will ever wake.
#include "tests/unit/sim/group_world.h"

#include <gtest/gtest.h>

#include <array>
#include <string>
#include <string_view>
#include <vector>

namespace pdsim::sim {
namespace {

using Act = Status (*)(ProcessGroup&, Floats&, bool odd);

struct MismatchRow {
  std::string_view mismatch;
  Act act;
  std::array<std::string_view, 4> ends;  // gloo, nccl, mpi, ideal: rank 0, rank 1
};

const MismatchRow rows[] = {
    {"another operation",
     [](ProcessGroup& g, Floats& x, bool odd) {
       return odd ? wait(g.broadcast(view(x, 4), 0)) : wait(g.all_reduce(view(x, 4), ReduceOp::sum));
     },
     {"hangs, hangs", "hangs, ok", "hangs, hangs", "hangs, hangs"}},
    {"another order",
     [](ProcessGroup& g, Floats& x, bool odd) -> Status {
       for (const bool first : {true, false}) {
         if (first == odd) PDSIM_TRY(wait(g.broadcast(view(x, 4), 0)));
         if (first != odd) PDSIM_TRY(wait(g.all_reduce(view(x, 4), ReduceOp::sum)));
       }
       return {};
     },
     {"hangs, hangs", "hangs, hangs", "hangs, hangs", "hangs, hangs"}},
    {"a larger count",
     [](ProcessGroup& g, Floats& x, bool odd) { return wait(g.all_reduce(view(x, odd ? 6 : 4), ReduceOp::sum)); },
     {"process-aborted, peer-closed", "hangs, hangs", "size-mismatch, cancelled", "size-mismatch, peer-closed"}},
    {"another dtype of as many bytes",
     [](ProcessGroup& g, Floats& x, bool odd) {
       return wait(g.all_reduce(view(x, 4, odd ? DType::i32 : DType::f32), ReduceOp::sum));
     },
     {"ok, ok", "ok, ok", "ok, ok", "ok, ok"}},
    {"another reduce operation",
     [](ProcessGroup& g, Floats& x, bool odd) {
       return wait(g.all_reduce(view(x, 4), odd ? ReduceOp::sum : ReduceOp::max));
     },
     {"ok, ok", "ok, ok", "ok, ok", "ok, ok"}},
    {"itself as the root of a broadcast",
     [](ProcessGroup& g, Floats& x, bool odd) { return wait(g.broadcast(view(x, 4), odd ? 1 : 0)); },
     {"hangs, hangs", "hangs, hangs", "ok, ok", "ok, ok"}},
    {"nothing, and ends",
     [](ProcessGroup& g, Floats& x, bool odd) {
       return odd ? Status{} : wait(g.all_reduce(view(x, 4), ReduceOp::sum));
     },
     {"peer-closed, ok", "hangs, ok", "hangs, ok", "peer-closed, ok"}},
    {"a send as well, before the recv",
     [](ProcessGroup& g, Floats& x, bool odd) -> Status {
       PDSIM_TRY(wait(g.send(view(x, 4), odd ? 0 : 1, 0)));
       return wait(g.recv(view(x, 4), odd ? 0 : 1, 0));
     },
     {"hangs, hangs", "hangs, hangs", "ok, ok", "ok, ok"}},
    {"no send for the recv",
     [](ProcessGroup& g, Floats& x, bool odd) -> Status {
       if (!odd) PDSIM_TRY(wait(g.recv(view(x, 4), 1, 0)));
       return wait(g.barrier());
     },
     {"hangs, hangs", "hangs, hangs", "hangs, hangs", "hangs, hangs"}},
    {"a longer message than the recv",
     [](ProcessGroup& g, Floats& x, bool odd) {
       return odd ? wait(g.send(view(x, 6), 0, 0)) : wait(g.recv(view(x, 4), 1, 0));
     },
     {"process-aborted, ok", "hangs, hangs", "size-mismatch, ok", "size-mismatch, ok"}},
    {"another tag",
     [](ProcessGroup& g, Floats& x, bool odd) {
       return odd ? wait(g.send(view(x, 4), 0, 2)) : wait(g.recv(view(x, 4), 1, 1));
     },
     {"hangs, hangs", "ok, ok", "hangs, ok", "peer-closed, ok"}},
};

constexpr std::array<const char*, 4> backends{"gloo", "nccl", "mpi", "ideal"};

std::string end_of(const RankResult& r) {
  if (r.log.end == RankEnd::running) return "hangs";
  return r.log.end == RankEnd::returned ? "ok" : std::string(name_of(r.log.error.code));
}

struct Ended {
  std::string ends;
  Floats values[2];
};

Ended run_row(const MismatchRow& row, const std::string& backend) {
  Ended ended;
  const RunRecord r = with_group(world(2, backend), [&](RankEnvironment& env, ProcessGroup& g) -> Status {
    Floats x(6, static_cast<float>(env.rank + 1));
    const Status status = row.act(g, x, env.rank == 1);
    ended.values[env.rank] = x;
    return status;
  });
  ended.ends = end_of(r.ranks[0]) + ", " + end_of(r.ranks[1]);
  return ended;
}

TEST(Mismatch, EndsAsInEachLibrary) {
  for (const MismatchRow& row : rows)
    for (std::size_t b = 0; b < backends.size(); ++b)
      EXPECT_EQ(run_row(row, backends[b]).ends, row.ends[b]) << backends[b] << ": rank 1 calls " << row.mismatch;
}

const MismatchRow& row_named(std::string_view name) {
  for (const MismatchRow& row : rows)
    if (row.mismatch == name) return row;
  return rows[0];
}

TEST(Mismatch, OfReduceOperationsGivesOneMixtureOnAllRanksOfGloo) {
  const Ended ended = run_row(row_named("another reduce operation"), "gloo");
  const Floats mixture{2, 2, 3, 3};  // each half by the operation of the rank that combines it last
  for (const Floats& x : ended.values) EXPECT_EQ((Floats{x.begin(), x.begin() + 4}), mixture);
}

// Measured on PyTorch with Gloo: the maximum is 1.2524, the sum 0.77, and rank 0 gets neither by intent.
TEST(Mismatch, OfReduceOperationsInReduceGivesWhatGlooGave) {
  float got = 0.0F;
  const auto run = with_group(world(3, "gloo"), [&](RankEnvironment& env, ProcessGroup& g) -> Status {
    Floats x{std::array{0.0F, 1.2524F, -0.4824F}[static_cast<std::size_t>(env.rank)]};
    const Status status = wait(g.reduce(view(x, 1), view(x, 1), env.rank == 0 ? ReduceOp::max : ReduceOp::sum, 0));
    if (env.rank == 0) got = x[0];
    return status;
  });
  EXPECT_EQ(end_of(run.ranks[0]), "ok");
  EXPECT_FLOAT_EQ(got, 0.77F);
}

TEST(Mismatch, OfRootsOnMpiLeavesEverybodyWithItsOwn) {
  const Ended ended = run_row(row_named("itself as the root of a broadcast"), "mpi");
  EXPECT_EQ(ended.values[0][0], 1.0F);
  EXPECT_EQ(ended.values[1][0], 2.0F);
}

}  // namespace
}  // namespace pdsim::sim
