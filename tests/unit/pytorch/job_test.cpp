// What `pdsim diagnose` says of PyTorch jobs: who is named, by which rule, and that a healthy job is left alone.

#include "scenarios/records/pytorch/job.h"

#include "scenarios/diagnosis/analysis/wait_graph.h"
#include "scenarios/records/log_view.h"
#include "scenarios/reports/dumped/dump_report.h"
#include "tests/unit/pytorch/dumps.h"

#include <gtest/gtest.h>

namespace pdsim::scenarios::pytorch {
namespace {

constexpr EntryState open = EntryState::scheduled;
using Ranks = std::vector<Rank>;

std::vector<DumpScript> world(int ranks, int calls) {
  std::vector<DumpScript> all;
  for (Rank r = 0; r < ranks; ++r) all.push_back(DumpScript(r, ranks).calls(calls));
  return all;
}

std::string text_of(const Diagnosed& d) { return render_dumps(d.report); }

TEST(PytorchJob, ThatIsHealthyGetsNoDiagnosis) {
  EXPECT_EQ(diagnosed(world(4, 20))->id(), "");
  auto ranks = world(4, 20);
  ranks[2].forget(7);  // other ranks' rings reach back further
  ranks[0].forget(3);
  const auto d = diagnosed(ranks);
  EXPECT_EQ(d->id(), "");
  EXPECT_EQ(d->report.outcome, Outcome::ok);
  EXPECT_NE(text_of(*d).find("4 ranks, no call is open\n"), std::string::npos) << text_of(*d);
}

TEST(PytorchJob, NamesTheStraggler) {
  auto ranks = world(4, 5);
  for (const int r : {0, 1, 3}) ranks[static_cast<std::size_t>(r)].call("nccl:all_reduce", EntryState::started);
  const auto d = diagnosed(ranks);
  EXPECT_EQ(d->id(), "missing-call");
  EXPECT_EQ(d->report.diagnosis()->ranks, Ranks{2});
  EXPECT_EQ(d->headline(), "ranks 0, 1, 3 wait in all_reduce #6 for rank 2, which has not called it");
  EXPECT_NE(text_of(*d).find("rank 2: all_reduce #5, train.py:14 in train_step"), std::string::npos) << text_of(*d);
}

TEST(PytorchJob, NamesTheStragglerWhenEveryRingHasForgottenItsBeginning) {
  auto ranks = world(4, 50);
  for (std::size_t r = 0; r < 4; ++r) {
    if (r != 1) ranks[r].call("nccl:all_reduce", open);
    ranks[r].forget(20 + 5 * r);
  }
  const auto d = diagnosed(ranks);
  EXPECT_EQ(d->id(), "missing-call");
  EXPECT_EQ(d->report.diagnosis()->ranks, Ranks{1});
  EXPECT_EQ(log_of(d->report.run, 3).dropped, 35);
}

TEST(PytorchJob, NamesTheRankThatLeftNoDump) {
  auto ranks = world(4, 5);
  for (DumpScript& r : ranks) r.call("nccl:all_reduce", open);
  ranks.erase(ranks.begin() + 2);
  const auto d = diagnosed(ranks);
  EXPECT_EQ(d->id(), "missing-record");
  EXPECT_EQ(d->report.diagnosis()->ranks, Ranks{2});
  EXPECT_NE(text_of(*d).find("(no record)"), std::string::npos) << text_of(*d);
}

TEST(PytorchJob, WhoseRanksDisagreeIsExplainedThoughADumpIsMissing) {
  auto ranks = world(4, 5);
  ranks[0].call("nccl:broadcast", open);
  for (const std::size_t r : {1U, 3U}) ranks[r].call("nccl:all_reduce", open);
  ranks.erase(ranks.begin() + 2);
  const auto d = diagnosed(ranks);
  EXPECT_EQ(d->id(), "collective-mismatch");
  EXPECT_EQ(d->report.diagnosis()->ranks, Ranks{0});
}

TEST(PytorchJob, NamesTheRankWithAnotherCall) {
  auto ranks = world(4, 5);
  for (std::size_t r = 0; r < 4; ++r) ranks[r].call(r == 1 ? "nccl:broadcast" : "nccl:all_reduce", open);
  const auto d = diagnosed(ranks);
  EXPECT_EQ(d->id(), "collective-mismatch");
  EXPECT_EQ(d->headline(), "rank 1 called broadcast at train.py:15 in train_step, where ranks 0, 2, 3 called all_reduce at train.py:15 in "
            "train_step");
}

TEST(PytorchJob, NamesTheRankWithAnotherSize) {
  auto ranks = world(4, 5);
  for (std::size_t r = 0; r < 4; ++r) ranks[r].call("nccl:all_reduce", open, {3, r == 3 ? 5 : 4});
  const auto d = diagnosed(ranks);
  EXPECT_EQ(d->id(), "parameter-mismatch");
  EXPECT_EQ(d->report.diagnosis()->ranks, Ranks{3});
  EXPECT_NE(d->headline().find("15 elements, shape [3, 5]"), std::string::npos) << d->headline();
}

TEST(PytorchJob, OfEqualElementsInOtherShapesIsNotBlamed) {
  auto ranks = world(2, 5);
  ranks[0].call("nccl:all_reduce", EntryState::completed, {3, 4});
  ranks[1].call("nccl:all_reduce", EntryState::completed, {12});
  EXPECT_EQ(diagnosed(ranks)->id(), "");
}

TEST(PytorchJob, NamesTheRankWithAnotherTypeAlsoOfThoseWeDoNotHave) {
  for (const auto& [theirs, shown] : {std::pair{"Half", "f16"}, {"Float8_e4m3fn", "Float8_e4m3fn"}}) {
    auto ranks = world(3, 5);
    for (std::size_t r = 0; r < 3; ++r) ranks[r].call("gloo:all_reduce", open, {4}, r == 2 ? theirs : "Float");
    const auto d = diagnosed(ranks);
    EXPECT_EQ(d->id(), "parameter-mismatch");
    EXPECT_EQ(d->report.diagnosis()->ranks, Ranks{2});
    EXPECT_NE(d->headline().find(shown), std::string::npos) << d->headline();
  }
}

TEST(PytorchJob, WhoseRanksAllWaitInOneCallIsAllStuck) {
  auto ranks = world(4, 5);
  for (DumpScript& r : ranks) r.call("nccl:all_reduce", EntryState::started);
  EXPECT_EQ(diagnosed(ranks)->id(), "all-stuck");
}

TEST(PytorchJob, ThatRanWhenItWasDumpedIsNotAccused) {
  auto ranks = world(4, 5);
  for (const std::size_t r : {0U, 1U, 3U}) ranks[r].call("nccl:all_reduce", EntryState::started);
  constexpr std::int64_t second = 1'000'000'000;
  EXPECT_EQ(diagnosed(ranks, began_ns + second)->id(), "");
  EXPECT_EQ(diagnosed(ranks, began_ns + 11 * second)->id(), "missing-call");
  EXPECT_EQ(diagnosed(ranks, began_ns - second)->id(), "missing-call");  // clocks that disagree tell nothing
  for (const std::size_t r : {0U, 1U, 3U}) ranks[r].last().timeout_ms = 1000;
  EXPECT_EQ(diagnosed(ranks, began_ns + 2 * second)->id(), "missing-call");  // its timeout was over
}

TEST(PytorchJob, SitsInTheOldestCallThatIsNotDone) {
  auto ranks = world(2, 3);
  ranks[0].call("nccl:all_reduce", EntryState::started).call("nccl:broadcast", open).call("nccl:all_reduce", open);
  const auto d = diagnosed(ranks);
  ASSERT_EQ(d->report.blocked.size(), 1U);
  EXPECT_EQ(d->report.blocked[0].seq, 4);
  EXPECT_EQ(d->id(), "missing-call");
  EXPECT_EQ(d->report.diagnosis()->ranks, Ranks{1});
}

TEST(PytorchJob, NamesASendThatNobodyReceives) {
  auto ranks = world(2, 3);
  ranks[0].message("nccl:send 0->1", open);
  const auto d = diagnosed(ranks);
  EXPECT_EQ(d->id(), "unmatched-message");
  EXPECT_EQ(d->report.diagnosis()->ranks, Ranks{1});
}

TEST(PytorchJob, KeepsAReceiveFromAnybodyApartFromAPeerThatIsNotRecorded) {
  auto ranks = world(3, 1);
  ranks[0].message("gloo:recvAnySource", open);
  ranks[1].message("nccl:send", open);
  const auto d = diagnosed(ranks);
  ASSERT_EQ(d->report.blocked.size(), 2U);
  EXPECT_TRUE(d->report.blocked[0].any);
  EXPECT_EQ(awaited_ranks(d->report.blocked[0]), (Ranks{1, 2}));
  EXPECT_FALSE(d->report.blocked[1].any);
  EXPECT_EQ(awaited_ranks(d->report.blocked[1]), Ranks{});
}

TEST(PytorchJob, MatchesMessagesFromTheEndWhenTheRingForgotTheBeginning) {
  auto ranks = world(2, 1);
  for (int i = 0; i < 10; ++i) {
    ranks[0].message("nccl:send 0->1");
    ranks[1].message("nccl:recv 1<-0");
  }
  ranks[0].message("nccl:send 0->1", open);
  ranks[1].message("nccl:recv 1<-0", open, {9});
  ranks[0].forget(6);
  const auto d = diagnosed(ranks);
  EXPECT_EQ(d->id(), "unmatched-message");
  EXPECT_NE(d->headline().find("8 elements of f32, and rank 1 has 9"), std::string::npos) << d->headline();
}

TEST(PytorchJob, KnowsThatABatchSendsAndReceivesTogether) {
  auto ranks = world(2, 3);
  ranks[0].batch({"nccl:send 0->1", "nccl:recv 0<-1"});
  ranks[1].batch({"nccl:send 1->0", "nccl:recv 1<-0"});
  EXPECT_EQ(diagnosed(ranks)->id(), "");
  ranks[0].batch({"nccl:send 0->1", "nccl:recv 0<-1"}, open);
  ranks[1].batch({"nccl:send 1->0", "nccl:recv 1<-0"}, open, {9});
  EXPECT_EQ(diagnosed(ranks)->id(), "unmatched-message");
}

TEST(PytorchJob, NamesRanksThatSendToEachOtherFirst) {
  auto ranks = world(2, 3);
  ranks[0].message("nccl:send 0->1", open).message("nccl:recv 0<-1", open);
  ranks[1].message("nccl:send 1->0", open).message("nccl:recv 1<-0", open);
  EXPECT_EQ(diagnosed(ranks)->id(), "send-cycle");
}

TEST(PytorchJob, NamesTheOneMessageOfALargeBatchThatHasNoCounterpart) {
  constexpr std::size_t messages = 500;
  std::vector<DumpScript> ranks{{0, 2}, {1, 2}};
  ranks[0].batch(std::vector<std::string>(messages, "nccl:send 0->1"), open);
  ranks[1].batch(std::vector<std::string>(messages - 1, "nccl:recv 1<-0"), open);
  const auto d = diagnosed(ranks);
  EXPECT_EQ(d->id(), "unmatched-message");
  EXPECT_EQ(d->report.diagnosis()->ranks, std::vector<Rank>{1});
  EXPECT_NE(d->headline().find("send to rank 1, which did not receive it"), std::string::npos) << d->headline();
}

TEST(PytorchJob, ComparesTheCallsOfABatchOfCollectivesTogether) {
  auto ranks = world(2, 3);
  ranks[0].batch({"nccl:all_reduce", "nccl:all_reduce"});
  ranks[1].batch({"nccl:all_reduce", "nccl:all_reduce"});
  EXPECT_EQ(diagnosed(ranks)->id(), "");
  ranks[0].batch({"nccl:all_reduce", "nccl:all_reduce"}, open);
  ranks[1].batch({"nccl:all_reduce"}, open);
  const auto d = diagnosed(ranks);
  EXPECT_EQ(d->id(), "collective-mismatch") << d->headline();
  EXPECT_EQ(d->report.divergence->seq, 5);
}

TEST(PytorchJob, TellsGroupsOfOneNameApartByTheirRanks) {
  std::vector<DumpScript> ranks;
  for (Rank r = 0; r < 4; ++r) {
    const std::int64_t first = r < 2 ? 0 : 2;
    ranks.push_back(DumpScript(r, 4).group("1", "tp", {first, first + 1}).calls(2).in("1", "tp"));
  }
  for (const std::size_t r : {0U, 1U}) ranks[r].calls(3, "nccl:_all_gather_base");
  ranks[2].call("nccl:_all_gather_base", open);
  const auto d = diagnosed(ranks);
  EXPECT_EQ(d->id(), "missing-call");
  EXPECT_EQ(d->report.diagnosis()->ranks, Ranks{3});
  EXPECT_EQ(d->report.divergence->group, "tp 1 [2, 3]");
}

TEST(PytorchJob, SeesACircleAcrossGroups) {
  std::vector<DumpScript> ranks;
  for (Rank r = 0; r < 2; ++r)
    ranks.push_back(DumpScript(r, 2).group("1", "tp", {0, 1}).group("2", "dp", {0, 1}).calls(2));
  ranks[0].in("1", "tp").call("nccl:all_reduce", open);
  ranks[1].in("2", "dp").call("nccl:all_reduce", open);
  EXPECT_EQ(diagnosed(ranks)->id(), "group-cycle");
}

TEST(PytorchJob, DoesNotCompareWhatMayDifferPerRank) {
  auto ranks = world(2, 1);
  ranks[0].call("nccl:all_to_all", EntryState::completed, {6}).call("nccl:scatter");
  ranks[1].call("nccl:all_to_all", EntryState::completed, {8}).call("nccl:scatter");
  ranks[0].last().input_sizes = {{3, 4}, {3, 4}};
  ranks[1].last().input_sizes = {};
  for (DumpScript& r : ranks) r.call("nccl:gather");
  ranks[0].last().output_sizes = {{3, 4}, {3, 4}};
  ranks[1].last().output_sizes = {};
  EXPECT_EQ(diagnosed(ranks)->id(), "");
}

TEST(PytorchJob, RefusesTwoDumpsOfOneRankAndAbsurdRanks) {
  const Dump dump = DumpScript(0, 2).calls(1).dump();
  EXPECT_EQ(run_of({dump, dump}).error().message, "there are two dumps of rank 0");
  EXPECT_NE(run_of({DumpScript(0, 1).group("9", "x", {1LL << 60}).dump()}).error().message.find("is above 131071"),
            std::string::npos);
}

// Each of these took minutes when it was looked through once for every call.
TEST(PytorchJob, OfManySendsCallsOfOneNumberOrGroupsIsExplained) {
  constexpr int many = 20'000;
  const auto job = [](const auto& add) {
    std::vector<DumpScript> ranks;
    for (Rank r = 0; r < 2; ++r) {
      ranks.emplace_back(r, 2);
      for (int i = 0; i < many; ++i) add(ranks.back(), r, i);
    }
    return diagnosed(ranks);
  };
  const auto sends = job(
      [](DumpScript& d, Rank r, int) { d.message(r == 0 ? "nccl:send 0->1" : "nccl:send 1->0", EntryState::started); });
  EXPECT_EQ(sends->id(), "send-cycle");
  const auto one_number = job([](DumpScript& d, Rank, int) {
    d.call("nccl:all_reduce", EntryState::started);
    d.last().collective_seq = 1;
  });
  EXPECT_EQ(one_number->id(), "all-stuck");
  const auto groups = job([](DumpScript& d, Rank r, int i) {
    if (r == 0 && i + 1 == many) return;
    d.in(std::to_string(i), "group_" + std::to_string(i)).call("nccl:all_reduce", EntryState::started);
  });
  EXPECT_EQ(groups->report.outcome, Outcome::deadlock);
}

}  // namespace
}  // namespace pdsim::scenarios::pytorch
