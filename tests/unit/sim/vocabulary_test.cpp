// Uneven collectives, scans, any source, batches and monitored barriers, over small worlds with each library's semantics.
#include "tests/unit/sim/group_world.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <span>
#include <string>
#include <vector>

namespace pdsim::sim {
namespace {

using namespace literals;
constexpr std::array libraries_tested{"gloo", "nccl", "ideal"};

void in_every_world(const GroupBody& body, std::span<const char* const> on = libraries_tested) {
  for (const char* backend : on)
    for (int p = 1; p <= 6; ++p) {
      const RunRecord record = with_group(world(p, backend), body);
      for (const RankResult& r : record.ranks)
        EXPECT_EQ(r.log.end, RankEnd::returned) << backend << " p=" << p << ": " << r.log.error.message;
    }
}

// How much rank `from` has for rank `to`: all sizes from zero up, and not symmetric.
std::int64_t amount(Rank from, Rank to) { return (from + 2 * to) % 4; }
std::int32_t element(Rank from, Rank to, std::int64_t i) { return static_cast<std::int32_t>(100 * from + 10 * to + i); }
void append(Ints& all, Rank from, Rank to, std::int64_t count) {
  for (std::int64_t i = 0; i < count; ++i) all.push_back(element(from, to, i));
}

TEST(AllToAllV, DeliversPartsOfEverySize) {
  in_every_world([](RankEnvironment& env, ProcessGroup& group) -> Status {
    Ints in, want;
    std::vector<std::int64_t> sends, receives;
    for (Rank peer = 0; peer < group.size(); ++peer) {
      sends.push_back(amount(env.rank, peer));
      receives.push_back(amount(peer, env.rank));
      append(in, env.rank, peer, sends.back());
      append(want, peer, env.rank, receives.back());
    }
    Ints out(want.size());
    PDSIM_TRY(wait(group.all_to_all_v(view(in), view(out), sends, receives)));
    EXPECT_EQ(out, want);
    return {};
  });
}

TEST(AllToAllV, RefusesARankThatDisagreesWithItself) {
  const RunRecord record = with_group(world(2), [](RankEnvironment&, ProcessGroup& group) -> Status {
    Ints in(3), out(2);
    const std::vector<std::int64_t> sends{2, 1}, receives{1, 1};
    const auto refused = group.rank() == 0 ? group.all_to_all_v(view(in), view(out), sends, receives) : WorkPtr{};
    EXPECT_EQ(refused.ok() ? Code::internal : refused.error().code,
              group.rank() == 0 ? Code::invalid_argument : Code::internal);
    return {};
  });
  EXPECT_EQ(record.ranks[0].log.end, RankEnd::returned);
}

TEST(AllGatherV, ConcatenatesPartsOfEverySize) {
  in_every_world([](RankEnvironment& env, ProcessGroup& group) -> Status {
    Ints in, want;
    std::vector<std::int64_t> counts;
    for (Rank r = 0; r < group.size(); ++r) {
      counts.push_back(amount(r, 0));
      append(want, r, 0, counts.back());
    }
    append(in, env.rank, 0, amount(env.rank, 0));
    Ints out(want.size());
    PDSIM_TRY(wait(group.all_gather_v(view(in), view(out), counts)));
    EXPECT_EQ(out, want);
    return {};
  });
}

TEST(ReduceScatterV, SumsPartsOfEverySize) {
  in_every_world([](RankEnvironment& env, ProcessGroup& group) -> Status {
    Ints in;
    std::vector<std::int64_t> counts;
    for (Rank r = 0; r < group.size(); ++r) {
      counts.push_back(amount(r, 0));
      append(in, env.rank, r, counts.back());
    }
    const Ints before = in;
    Ints want(static_cast<std::size_t>(amount(env.rank, 0)));
    for (Rank from = 0; from < group.size(); ++from)
      for (std::size_t i = 0; i < want.size(); ++i) want[i] += element(from, env.rank, static_cast<std::int64_t>(i));
    Ints out(want.size());
    PDSIM_TRY(wait(group.reduce_scatter_v(view(in), view(out), counts, ReduceOp::sum)));
    EXPECT_EQ(out, want);
    EXPECT_EQ(in, before);
    return {};
  });
}

TEST(Scan, CombinesTheRanksUpToThisOneInAndOutOfPlace) {
  in_every_world([](RankEnvironment& env, ProcessGroup& group) -> Status {
    const auto r = static_cast<std::int32_t>(env.rank);
    for (const char* algorithm : {"auto", "linear"}) {
      CallOptions options;
      options.algorithm = algorithm;
      Ints in{r, 1}, out(2);
      PDSIM_TRY(wait(group.scan(view(in), view(out), ReduceOp::sum, options)));
      EXPECT_EQ(out, (Ints{r * (r + 1) / 2, r + 1}));
      EXPECT_EQ(in, (Ints{r, 1}));
      PDSIM_TRY(wait(group.scan(view(in), view(in), ReduceOp::max, options)));
      EXPECT_EQ(in, (Ints{r, 1}));
    }
    return {};
  });
}

TEST(Exscan, CombinesTheRanksBeforeThisOneAndLeavesRankZeroAlone) {
  in_every_world([](RankEnvironment& env, ProcessGroup& group) -> Status {
    const auto r = static_cast<std::int32_t>(env.rank);
    for (const char* algorithm : {"auto", "linear"}) {
      CallOptions options;
      options.algorithm = algorithm;
      Ints in{r + 1}, out{-7};
      PDSIM_TRY(wait(group.exscan(view(in), view(out), ReduceOp::sum, options)));
      EXPECT_EQ(out[0], r == 0 ? -7 : r * (r + 1) / 2);
      PDSIM_TRY(wait(group.exscan(view(in), view(in), ReduceOp::sum, options)));
      EXPECT_EQ(in[0], r == 0 ? 1 : r * (r + 1) / 2);
    }
    return {};
  });
}

TEST(RecvFromAnySource, TellsWhoSent) {
  constexpr std::array offering{"gloo", "mpi", "ideal"};
  in_every_world(
      [](RankEnvironment& env, ProcessGroup& group) -> Status {
        Ints data{static_cast<std::int32_t>(env.rank)};
        if (env.rank > 0) return wait(group.send(view(data), 0, 5));
        std::vector<Rank> senders;
        for (Rank n = 1; n < group.size(); ++n) {
          auto work = group.recv(view(data), any_source, 5);
          PDSIM_TRY(wait(work));
          EXPECT_EQ((*work)->source(), data[0]);
          senders.push_back((*work)->source());
        }
        std::sort(senders.begin(), senders.end());
        for (std::size_t i = 0; i < senders.size(); ++i) EXPECT_EQ(senders[i], static_cast<Rank>(i) + 1);
        return {};
      },
      offering);
}

TEST(Batch, ExchangesWithBothNeighboursWithoutACycle) {
  in_every_world([](RankEnvironment& env, ProcessGroup& group) -> Status {
    const int p = group.size();
    if (p == 1) return {};
    const Rank next = (env.rank + 1) % p, previous = (env.rank + p - 1) % p;
    Ints mine{static_cast<std::int32_t>(env.rank)}, left{-1}, right{-1};
    const std::vector<ProcessGroup::Message> messages{{true, view(mine), next, 1},
                                                      {true, view(mine), previous, 2},
                                                      {false, view(left), previous, 1},
                                                      {false, view(right), next, 2}};
    const auto works = group.batch(messages);
    PDSIM_TRY(works.status());
    for (const WorkPtr& work : *works) PDSIM_TRY(work->wait());
    EXPECT_EQ(left[0], previous);
    EXPECT_EQ(right[0], next);
    return {};
  });
}

// Small messages of MPI travel at once, large ones when their receive is there; neither overtakes the other.
TEST(Messages, OfEverySizeAreReceivedInTheOrderOfTheirSends) {
  for (int mix = 0; mix < 8; ++mix)
    for (const Time late : {Time{}, 2_us, 6_us, 1_ms}) {
      const auto size = [mix](int i) { return std::size_t{((mix >> i) & 1) == 0 ? 3U : 5000U}; };
      const RunRecord record = with_group(world(2, "mpi"), [&](RankEnvironment& env, ProcessGroup& group) -> Status {
        std::vector<Ints> data;
        for (int i = 0; i < 3; ++i) data.emplace_back(size(i), env.rank == 0 ? i + 1 : 0);
        std::vector<WorkPtr> works;
        if (env.rank == 1) env.runtime.compute(late);
        for (Ints& each : data) {
          auto work = env.rank == 0 ? group.send(view(each), 1, 0) : group.recv(view(each), 0, 0);
          if (!work.ok()) return work.error();
          works.push_back(*work);
          if (env.rank == 0) env.runtime.compute(1_us);
        }
        for (const WorkPtr& work : works) PDSIM_TRY(wait(Result<WorkPtr>(work)));
        for (int i = 0; i < 3; ++i) EXPECT_EQ(data[static_cast<std::size_t>(i)], Ints(size(i), i + 1)) << mix;
        return {};
      });
      for (const RankResult& r : record.ranks)
        EXPECT_EQ(r.log.end, RankEnd::returned) << mix << " " << late.ps << ": " << r.log.error.message;
    }
}

TEST(Batch, WithOneBadMessageStartsNone) {
  const RunRecord record = with_group(world(2), [](RankEnvironment& env, ProcessGroup& group) -> Status {
    Ints mine{1}, other{0};
    const std::vector<ProcessGroup::Message> messages{{true, view(mine), 1 - env.rank, 0}, {false, view(other), 2, 0}};
    const auto works = group.batch(messages);
    EXPECT_EQ(works.error().message, "recv: src 2 is not a rank of the group, which has ranks 0..1");
    EXPECT_TRUE(env.recorder.log().calls.empty() || env.recorder.log().calls.back().name != "send");
    return sum_ones(group, 3);
  });
  for (const RankResult& r : record.ranks) EXPECT_EQ(r.log.end, RankEnd::returned) << r.log.error.message;
}

TEST(MonitoredBarrier, LetsAllPassWhenAllCome) {
  for (int p = 1; p <= 6; ++p) {
    const RunRecord record = with_group(world(p), [](RankEnvironment& env, ProcessGroup& group) -> Status {
      PDSIM_TRY(group.monitored_barrier(env.runtime, Time{1'000'000'000'000}));
      PDSIM_TRY(group.monitored_barrier(env.runtime, Time{1'000'000'000'000}));
      return sum_ones(group, 5);
    });
    for (const RankResult& r : record.ranks) EXPECT_EQ(r.log.end, RankEnd::returned) << r.log.error.message;
  }
}

RunRecord without_ranks_2_and_3(bool all) {
  return with_group(world(5), [all](RankEnvironment& env, ProcessGroup& group) -> Status {
    if (env.rank == 2 || env.rank == 3) {
      env.runtime.sleep_until(env.runtime.now() + Time{60'000'000'000'000});
      return {};
    }
    return group.monitored_barrier(env.runtime, Time{1'000'000'000'000}, all);
  });
}

TEST(MonitoredBarrier, NamesTheFirstRankThatIsMissingAndPointsToRankZeroElsewhere) {
  const RunRecord record = without_ranks_2_and_3(false);
  EXPECT_EQ(record.ranks[0].log.error.code, Code::timeout);
  EXPECT_EQ(record.ranks[0].log.error.message, "monitored_barrier of world: rank 2 did not reach it within 1s");
  EXPECT_NE(record.ranks[1].log.error.message.find("rank 1 reached the monitored_barrier of world"), std::string::npos)
      << record.ranks[1].log.error.message;
  EXPECT_NE(record.ranks[1].log.error.message.find("see rank 0"), std::string::npos);
}

TEST(MonitoredBarrier, NamesEveryMissingRankWhenAsked) {
  const RunRecord record = without_ranks_2_and_3(true);
  EXPECT_EQ(record.ranks[0].log.error.message, "monitored_barrier of world: ranks 2, 3 did not reach it within 1s");
  EXPECT_EQ(fact(record.ranks[0].log.error.facts, "missing"), "2, 3");
}

TEST(MonitoredBarrier, IsGloosAlone) {
  const RunRecord record = with_group(world(2, "nccl"), [](RankEnvironment& env, ProcessGroup& group) -> Status {
    EXPECT_EQ(group.monitored_barrier(env.runtime, Time{1'000'000'000'000}).error().code, Code::unsupported);
    return sum_ones(group, 5);
  });
  for (const RankResult& r : record.ranks) EXPECT_EQ(r.log.end, RankEnd::returned) << r.log.error.message;
}

}  // namespace
}  // namespace pdsim::sim
