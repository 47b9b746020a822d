// Dumps whose ranks made their calls from different places: what was inserted, left out or swapped, whether or not anything hung.

#include "scenarios/reports/dumped/dump_report.h"
#include "tests/unit/pytorch/dumps.h"

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

namespace pdsim::scenarios::pytorch {
namespace {

using Culprits = std::vector<Rank>;

// A letter is a call of one place: a and A are line 10 of train.py. Capitals are open. An u is a broadcast, the others are all_reduce.
DumpScript made(Rank rank, int ranks, const std::string& calls) {
  DumpScript script(rank, ranks);
  for (const char letter : calls) {
    const bool is_open = letter >= 'A' && letter <= 'Z';
    const int place = is_open ? letter - 'A' : letter - 'a';
    script.call(place == 'u' - 'a' ? "nccl:broadcast" : "nccl:all_reduce", is_open ? EntryState::scheduled : EntryState::completed, {4});
    script.last().frames = std::vector<Frame>{{"all_reduce", "/opt/lib/torch/distributed/distributed_c10d.py", 2696},
                                              {std::string("f_") + static_cast<char>('a' + place), "train.py", 10 + place}};
  }
  return script;
}

std::unique_ptr<Diagnosed> job(const std::vector<std::string>& calls) {
  std::vector<DumpScript> ranks;
  for (std::size_t r = 0; r < calls.size(); ++r)
    ranks.push_back(made(static_cast<Rank>(r), static_cast<int>(calls.size()), calls[r]));
  return diagnosed(ranks);
}

TEST(CallSites, OfASilentInsertionAreAFinding) {
  const auto d = job({"ababababab", "ababababab", "ababxyabababa", "abababab"});
  ASSERT_EQ(d->id(), "collective-mismatch");
  EXPECT_EQ(d->report.outcome, Outcome::ok);
  EXPECT_EQ(d->report.diagnosis()->ranks, Culprits{2});
  EXPECT_EQ(d->headline(),
            "rank 2 made 2 calls that ranks 0, 1, 3 did not make: all_reduce at train.py:33 in f_x (#5), all_reduce at "
            "train.py:34 in f_y (#6)");
  EXPECT_NE(d->report.diagnosis()->why.find("the values of different calls are mixed"), std::string::npos);
  EXPECT_EQ(render_dumps(d->report).find("same count"), std::string::npos);
}

TEST(CallSites, OfALoopThatARankLeftEarlySayHowOftenEachRankWentRound) {
  const auto d = job({"abababcdefg", "ababcdefg", "abababcdefg", "abababcdefg"});
  ASSERT_EQ(d->id(), "collective-mismatch");
  EXPECT_EQ(d->report.diagnosis()->ranks, Culprits{1});
  EXPECT_NE(d->headline().find("rank 1 left out 2 calls that ranks 0, 2, 3 made: "), std::string::npos) << d->headline();
  EXPECT_NE(d->report.diagnosis()->why.find("it was called 2 times on rank 1, 3 times on ranks 0, 2, 3"), std::string::npos)
      << d->report.diagnosis()->why;
}

TEST(CallSites, OfASwapNameBothCalls) {
  const auto d = job({"abcabcabc", "abcacbabc", "abcabcabc"});
  ASSERT_EQ(d->id(), "collective-mismatch");
  EXPECT_EQ(d->report.diagnosis()->ranks, Culprits{1});
  EXPECT_EQ(d->headline(),
            "rank 1 made these two in the other order: all_reduce at train.py:12 in f_c first, where ranks 0, 2 called "
            "all_reduce at train.py:11 in f_b first");
}

TEST(CallSites, OfASwapInEveryRoundAreNoCallMore) {
  for (const auto& [usual, other] : {std::pair("abxabxabxabx", "baxbaxbaxbax"), std::pair("abcabcabcabc", "cabcabcabcab")}) {
    const auto d = job({usual, usual, other, usual});
    ASSERT_EQ(d->id(), "collective-mismatch") << other;
    EXPECT_EQ(d->report.diagnosis()->ranks, Culprits{2});
    EXPECT_NE(d->headline().find("rank 2 made these two in the other order"), std::string::npos) << d->headline();
    EXPECT_NE(d->headline().find("and so 3 times more"), std::string::npos) << d->headline();
  }
}

// u is what each round begins with, as the broadcast of buffers, and g and h follow it.
TEST(CallSites, OfARoundThatARankCutShortAreThoseThatItLeftOut) {
  const auto d = job({"ughughughuGH", "ughughughuUGH", "ughughughuGH"});
  ASSERT_NE(d->id(), "");
  EXPECT_EQ(d->report.diagnosis()->ranks, Culprits{1});
  EXPECT_NE(d->headline().find("rank 1 left out 2 calls that ranks 0, 2 made: all_reduce at train.py:16 in f_g (#11)"), std::string::npos) << d->headline();
  EXPECT_EQ(d->report.diagnosis()->why.find("left the loop"), std::string::npos) << d->report.diagnosis()->why;
}

TEST(CallSites, OfASwapAreThoseOfTheFunctionsThatMakeTheCalls) {
  const std::vector<std::string> calls{"abcabcabcabc", "abcacbabcabc", "abcabcabcabc"};
  std::vector<DumpScript> ranks;
  for (Rank r = 0; r < 3; ++r) {
    DumpScript script = made(r, 3, "");
    for (std::size_t i = 0; i < calls[static_cast<std::size_t>(r)].size(); ++i) {
      const char letter = calls[static_cast<std::size_t>(r)][i];
      const bool is_branch = r == 1 && (i == 4 || i == 5);  // of another line of the loop
      script.call("nccl:all_reduce");
      script.last().frames =
          std::vector<Frame>{{std::string("f_") + letter, "train.py", 10 + letter - 'a'}, {"main", "train.py", is_branch ? 40 : 50 + letter}};
    }
    ranks.push_back(script);
  }
  const auto d = diagnosed(ranks);
  ASSERT_EQ(d->id(), "collective-mismatch");
  EXPECT_EQ(d->report.diagnosis()->ranks, Culprits{1});
  EXPECT_NE(d->headline().find("rank 1 made these two in the other order"), std::string::npos) << d->headline();
}

TEST(CallSites, ThatBothMakeOneCallEachFromTheirOwnPlaceAreOneCall) {
  EXPECT_EQ(job({"axbaxbaxb", "aybaybayb", "aybaybayb"})->id(), "");
}

TEST(CallSites, OfBranchesThatEveryRankTakesAtTimesAreNoFinding) {
  EXPECT_EQ(job({"cacbcacacb", "cbcbcacbca", "cacacbcbca"})->id(), "");
}

TEST(CallSites, OfRanksThatAreOnlyAheadAreNoFinding) { EXPECT_EQ(job({"ababab", "abab", "aba"})->id(), ""); }

TEST(CallSites, WhoseSizesDifferAreTwoCallsAndNotOneOfTwoSizes) {
  std::vector<DumpScript> ranks;
  for (Rank r = 0; r < 3; ++r) ranks.push_back(made(r, 3, r == 2 ? "ababX" : "ababA"));
  ranks[2].last().input_sizes = {{9}};
  const auto d = diagnosed(ranks);
  ASSERT_EQ(d->id(), "collective-mismatch");
  EXPECT_EQ(d->report.diagnosis()->ranks, Culprits{2});
  EXPECT_EQ(d->headline(),
            "rank 2 called all_reduce at train.py:33 in f_x, where ranks 0, 1 called all_reduce at train.py:10 in f_a");
  EXPECT_EQ(render_dumps(d->report).find("pass the same"), std::string::npos);
}

TEST(CallSites, AreComparedFromTheFirstCallThatAllRecordsHold) {
  std::vector<DumpScript> ranks;
  for (Rank r = 0; r < 4; ++r) {
    ranks.push_back(made(r, 4, r == 3 ? "ababababcxababab" : "ababababcababab"));
    ranks.back().forget(static_cast<std::size_t>(2 + r));
  }
  const auto d = diagnosed(ranks);
  ASSERT_EQ(d->id(), "collective-mismatch");
  EXPECT_EQ(d->report.diagnosis()->ranks, Culprits{3});
  EXPECT_NE(d->report.diagnosis()->why.find("begin at #6"), std::string::npos) << d->report.diagnosis()->why;
}

TEST(CallSites, OfASilentCauseComeBeforeTheHangThatFollowed) {
  const auto d = job({"abababaB", "abababaB", "abxababab", "abababaB"});
  ASSERT_GE(d->report.findings.size(), 1U);
  EXPECT_EQ(d->report.findings.front().ranks, Culprits{2});
  EXPECT_NE(d->headline().find("f_x (#3)"), std::string::npos) << d->headline();
}

// As on NCCL: autograd sends DistributedDataParallel's buckets (g) from threads of its own, whose calls have no frames. b: buffers in
// the training's forward, e: in that of an evaluation, which the training's next forward does not broadcast again. Others: as above.
DumpScript with_wrapper(Rank rank, int ranks, const std::string& calls) {
  const auto buffers_of = [](const char* function, int line) {
    return std::vector<Frame>{{"_distributed_broadcast_coalesced", "/opt/lib/torch/nn/parallel/distributed.py", 2172},
                              {"_sync_buffers", "/opt/lib/torch/nn/parallel/distributed.py", 2231},
                              {function, "train.py", line}};
  };
  DumpScript script(rank, ranks);
  for (const char letter : calls) {
    const bool is_bucket = letter == 'g' || letter == 'G', is_buffers = letter == 'b' || letter == 'e';
    const char* const name = is_buffers ? "nccl:broadcast" : letter == 'x' ? "nccl:all_reduce_barrier" : "nccl:all_reduce";
    script.call(name, letter == 'G' ? EntryState::started : EntryState::completed,
                {is_bucket ? 160 : is_buffers ? 16 : 1});
    script.last().frames = std::vector<Frame>();
    if (is_buffers) script.last().frames = letter == 'b' ? buffers_of("<module>", 30) : buffers_of("evaluate", 27);
    if (letter == 'x')
      script.last().frames = std::vector<Frame>{{"barrier", "/opt/lib/torch/distributed/distributed_c10d.py", 5030},
                                                {"<module>", "train.py", 37}};
  }
  return script;
}

TEST(CallSites, OfAutogradsThreadsAreNotNeededToFindTheCallThatOneRankMade) {
  const auto d = diagnosed({with_wrapper(0, 3, "bgbgexG"), with_wrapper(1, 3, "bgbgbG"), with_wrapper(2, 3, "bgbgbG")});
  ASSERT_EQ(d->id(), "collective-mismatch");
  EXPECT_EQ(d->report.diagnosis()->ranks, Culprits{0});
  EXPECT_EQ(d->headline(), "rank 0 made a call that ranks 1, 2 did not make: barrier at train.py:37 in <module> (#6)");
  EXPECT_NE(d->report.diagnosis()->why.find("all_reduce (gradient bucket)"), std::string::npos) << d->report.diagnosis()->why;
}

TEST(CallSites, InATieAreMovedOutOfTheirBranch) {
  const auto d = diagnosed({with_wrapper(0, 2, "bgbgexG"), with_wrapper(1, 2, "bgbgbG")});
  ASSERT_EQ(d->id(), "collective-mismatch");
  EXPECT_EQ(d->report.diagnosis()->fix.text, "move the call that only rank 0 made out of its branch, or make it on every rank");
}

TEST(CallSites, SayThePartOfTheTrainingAroundThem) {
  std::vector<DumpScript> ranks;
  for (Rank r = 0; r < 3; ++r) ranks.push_back(made(r, 3, r == 2 ? "ab" : "abA"));
  for (const std::size_t r : {0U, 1U})
    ranks[r].last().frames = std::vector<Frame>{{"all_reduce", "/opt/lib/torch/distributed/distributed_c10d.py", 2696},
                                                {"hook", "train.py", 30},
                                                {"_engine_run_backward", "/opt/lib/torch/autograd/graph.py", 825},
                                                {"step", "train.py", 41}};
  const std::string text = render_dumps(diagnosed(ranks)->report);
  EXPECT_NE(text.find("train.py:30 in hook, in the backward pass, since"), std::string::npos) << text;
}

TEST(CallSites, InAGroupOfTwoAreThoseOfTheOtherGroupsOfOneProgram) {
  std::vector<DumpScript> ranks;
  for (Rank r = 0; r < 4; ++r) {
    const std::int64_t first = r / 2 * 2;
    DumpScript script = made(r, 4, "");
    script.group("1", "tp", {first, first + 1}).in("1", "tp");
    for (const char letter : std::string(r == 3 ? "ababaababab" : "abababababab")) {
      script.call("nccl:all_reduce");
      script.last().frames = std::vector<Frame>{{std::string("f_") + letter, "train.py", 10 + letter - 'a'}};
    }
    ranks.push_back(script);
  }
  const auto d = diagnosed(ranks);
  ASSERT_EQ(d->id(), "collective-mismatch");
  EXPECT_EQ(d->report.diagnosis()->ranks, Culprits{3});
  EXPECT_NE(d->headline().find("rank 3 left out a call that rank 2 made: all_reduce at train.py:11 in f_b"), std::string::npos)
      << d->headline();
}

TEST(CallSites, OfThousandsOfRanksAreComparedByTheirClasses) {
  std::vector<std::string> calls(600, "abababababab");
  calls[77] = "ababxabababab";
  const auto d = job(calls);
  ASSERT_EQ(d->id(), "collective-mismatch");
  EXPECT_EQ(d->report.diagnosis()->ranks, Culprits{77});
}

}  // namespace
}  // namespace pdsim::scenarios::pytorch
