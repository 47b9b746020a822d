// Sub-groups, uneven collectives, batches and the checked mode: each error with the text that the user sees.
#include "tests/unit/language/report_of.h"

#include <gtest/gtest.h>

namespace pdsim::scenarios {
namespace {

TEST(VocabularyError, WantsTheGroupMadeBefore) {
  EXPECT_EQ(instead_of_barrier("  - barrier: {group: evens}\n  - new_group: {name: evens, ranks: even}\n"),
            R"(error[scenario]: no earlier `new_group` creates `evens`
  --> mine.yaml:13:22
   |
13 |   - barrier: {group: evens}
   |                      ^^^^^ there are `world`
)");
}

TEST(VocabularyError, SuggestsTheNearestGroup) {
  EXPECT_EQ(instead_of_barrier("  - new_group: {name: evens, ranks: even}\n  - barrier: {group: even}\n"),
            R"(error[scenario]: no earlier `new_group` creates `even`
  --> mine.yaml:14:22
   |
14 |   - barrier: {group: even}
   |                      ^^^^ did you mean `evens`?
)");
}

TEST(VocabularyError, KeepsTheNameOfTheWorld) {
  EXPECT_EQ(instead_of_barrier("  - new_group: {name: world, ranks: [0, 1]}\n"),
            R"(error[scenario]: `world` is the group of all ranks
  --> mine.yaml:13:23
   |
13 |   - new_group: {name: world, ranks: [0, 1]}
   |                       ^^^^^ give the new group another name
)");
}

TEST(VocabularyError, WantsTheRanksOfAGroupInTheWorld) {
  EXPECT_EQ(instead_of_barrier("  - new_group: {name: a, ranks: [0, 2]}\n"),
            R"(error[scenario]: rank 2 in a world of 2
  --> mine.yaml:13:33
   |
13 |   - new_group: {name: a, ranks: [0, 2]}
   |                                 ^^^^^^ ranks are 0..1
)");
}

TEST(VocabularyError, WantsTheFirstRankOfAGroupInTheWorld) {
  EXPECT_EQ(report_of(with("  - barrier\n", "  - new_group: {name: a, ranks: 2..}\n")),
            R"(error[scenario]: rank 2 in a world of 2
  --> mine.yaml:13:33
   |
13 |   - new_group: {name: a, ranks: 2..}
   |                                 ^^^ ranks are 0..1
)");
}

TEST(VocabularyError, WantsNameAndRanksOfAGroup) {
  EXPECT_EQ(instead_of_barrier("  - new_group\n"), R"(error[scenario]: `name` is missing in new_group
  --> mine.yaml:13:5
   |
13 |   - new_group
   |     ^^^^^^^^^ name: the name that `group` uses
error[scenario]: `ranks` is missing in new_group
  --> mine.yaml:13:5
   |
13 |   - new_group
   |     ^^^^^^^^^ ranks: its members, ranks of the world
)");
}

TEST(VocabularyError, TellsTheWordForWhatScriptsCallOtherwise) {
  EXPECT_EQ(instead_of_barrier("  - save_checkpoint: {path: x}\n"),
            R"(error[scenario]: unknown operation `save_checkpoint` in program
  --> mine.yaml:13:5
   |
13 |   - save_checkpoint: {path: x}
   |     ^^^^^^^^^^^^^^^ `checkpoint` writes the model to a file
)");
  EXPECT_EQ(instead_of_barrier("  - for: {times: 3, do: [barrier]}\n"),
            R"(error[scenario]: unknown operation `for` in program
  --> mine.yaml:13:5
   |
13 |   - for: {times: 3, do: [barrier]}
   |     ^^^ `repeat` is a loop, `train` a training loop
)");
}

TEST(VocabularyError, WantsNewGroupOutsideTrain) {
  EXPECT_EQ(report_of(with("  - train: {steps: 3}", "  - train: {steps: 3, do: [{new_group: {name: a, ranks: all}}]}")),
            R"(error[scenario]: `new_group` inside train
  --> mine.yaml:12:29
   |
12 |   - train: {steps: 3, do: [{new_group: {name: a, ranks: all}}]}
   |                             ^^^^^^^^^ put it in the program itself, before or after train
)");
}

TEST(VocabularyError, WantsACountForEachRank) {
  EXPECT_EQ(instead_of_barrier("  - all_gather_v: {counts: [3, 0, 2]}\n"),
            R"(error[scenario]: 3 counts in a world of 2 ranks
  --> mine.yaml:13:28
   |
13 |   - all_gather_v: {counts: [3, 0, 2]}
   |                            ^^^^^^^^^ give one count for each rank
)");
}

TEST(VocabularyError, WantsAListOfCounts) {
  EXPECT_EQ(instead_of_barrier("  - reduce_scatter_v: {counts: 3}\n"),
            R"(error[scenario]: `3` is not a list of whole numbers
  --> mine.yaml:13:32
   |
13 |   - reduce_scatter_v: {counts: 3}
   |                                ^ expected whole numbers such as [3, 0, 2]
)");
}

TEST(VocabularyError, WantsNoNegativeCounts) {
  EXPECT_EQ(instead_of_barrier("  - all_to_all_single: {input_split_sizes: [3, -1]}\n"),
            R"(error[scenario]: `-1` is not a whole number
  --> mine.yaml:13:48
   |
13 |   - all_to_all_single: {input_split_sizes: [3, -1]}
   |                                                ^^ expected a whole number 0..4294967296
)");
}

TEST(VocabularyError, KnowsOneWordForThePeerOfARecv) {
  EXPECT_EQ(instead_of_barrier("  - recv: {src: somebody}\n"), R"(error[scenario]: `somebody` is not a whole number
  --> mine.yaml:13:17
   |
13 |   - recv: {src: somebody}
   |                 ^^^^^^^^ expected a whole number from 0, or `any`
)");
}

TEST(VocabularyError, SendsToOneRankOnly) {
  EXPECT_EQ(instead_of_barrier("  - send: {dst: any}\n"), R"(error[scenario]: `any` is not a whole number
  --> mine.yaml:13:17
   |
13 |   - send: {dst: any}
   |                 ^^^ expected a whole number from 0
)");
}

TEST(VocabularyError, TellsTheNewNameOfRootAndPeer) {
  EXPECT_EQ(instead_of_barrier("  - broadcast: {root: 1}\n"), R"(error[scenario]: unknown key `root` in broadcast
  --> mine.yaml:13:17
   |
13 |   - broadcast: {root: 1}
   |                 ^^^^ it is called `src`, as in torch.distributed
)");
  EXPECT_EQ(instead_of_barrier("  - gather: {root: 1}\n"), R"(error[scenario]: unknown key `root` in gather
  --> mine.yaml:13:14
   |
13 |   - gather: {root: 1}
   |              ^^^^ it is called `dst`, as in torch.distributed
)");
  EXPECT_EQ(instead_of_barrier("  - recv: {peer: 1, src: 1}\n"), R"(error[scenario]: unknown key `peer` in recv
  --> mine.yaml:13:12
   |
13 |   - recv: {peer: 1, src: 1}
   |            ^^^^ it is called `src`, as in torch.distributed
)");
}

TEST(VocabularyError, NamesTheRootByOneOfTwoKeys) {
  EXPECT_EQ(instead_of_barrier("  - reduce: {dst: 1, group_dst: 1}\n"), R"(error[scenario]: `group_dst` beside `dst`
  --> mine.yaml:13:22
   |
13 |   - reduce: {dst: 1, group_dst: 1}
   |                      ^^^^^^^^^ keep one of the two
)");
  EXPECT_EQ(instead_of_barrier("  - new_group: {name: a, ranks: 1}\n  - scatter: {group_src: 1, group: a}\n"),
            R"(error[scenario]: `group_src` is rank 1 in group `a`, which has 1
  --> mine.yaml:14:26
   |
14 |   - scatter: {group_src: 1, group: a}
   |                          ^ its ranks are 0..0
)");
}

TEST(VocabularyError, RepeatsWhatMayStandAroundIt) {
  EXPECT_EQ(instead_of_barrier("  - repeat: {times: 2, do: [relaunch]}\n"),
            R"(error[scenario]: `relaunch` inside repeat
  --> mine.yaml:13:29
   |
13 |   - repeat: {times: 2, do: [relaunch]}
   |                             ^^^^^^^^ put it in the program itself, before or after repeat
)");
  EXPECT_EQ(instead_of_barrier("  - repeat: {times: 2, do: [zero_grad]}\n").substr(0, 49),
            "error[scenario]: `zero_grad` outside train\n  --> ");
  EXPECT_EQ(instead_of_barrier("  - repeat: {do: [barrier]}\n"), R"(error[scenario]: `times` is missing in repeat
  --> mine.yaml:13:5
   |
13 |   - repeat: {do: [barrier]}
   |     ^^^^^^ times: how many times `do` runs; outside `train`, its rounds are the steps of `when`
)");
}

TEST(VocabularyError, RepeatsNoMoreThanTheLimits) {
  const std::string refused =
      instead_of_barrier("  - repeat: {times: 10000, do: [{repeat: {times: 10000, do: [barrier]}}]}\n");
  EXPECT_NE(refused.find("error[scenario]: "), std::string::npos) << refused;
  EXPECT_NE(refused.find("limit"), std::string::npos) << refused;
}

TEST(VocabularyError, WantsMessagesInABatch) {
  EXPECT_EQ(instead_of_barrier("  - batch_isend_irecv: {messages: [barrier]}\n"),
            R"(error[scenario]: `barrier` inside `messages`
  --> mine.yaml:13:36
   |
13 |   - batch_isend_irecv: {messages: [barrier]}
   |                                    ^^^^^^^ its messages are isends and irecvs
)");
}

TEST(VocabularyError, WantsNoGroupOfOneMessage) {
  EXPECT_EQ(instead_of_barrier(R"(  - batch_isend_irecv:
      messages:
        - isend: {dst: 1}
        - irecv: {src: 1, group: world}
)"),
            R"(error[scenario]: `group` for one message of a batch
  --> mine.yaml:16:27
   |
16 |         - irecv: {src: 1, group: world}
   |                           ^^^^^ put `group` beside `messages`: a batch has one group
)");
}

TEST(VocabularyError, TellsTheNewNamesOfOperations) {
  EXPECT_EQ(instead_of_barrier("  - destroy\n"), R"(error[scenario]: unknown operation `destroy`
  --> mine.yaml:13:5
   |
13 |   - destroy
   |     ^^^^^^^ it is called `destroy_process_group`, as in torch.distributed
)");
  EXPECT_EQ(instead_of_barrier("  - all_to_all_v: {counts: [3, 1]}\n"),
            R"(error[scenario]: unknown operation `all_to_all_v` in program
  --> mine.yaml:13:5
   |
13 |   - all_to_all_v: {counts: [3, 1]}
   |     ^^^^^^^^^^^^ it is called `all_to_all_single`, as in torch.distributed
)");
  EXPECT_EQ(instead_of_barrier("  - send: {dst: 1, async: true}\n"), R"(error[scenario]: unknown key `async` in send
  --> mine.yaml:13:20
   |
13 |   - send: {dst: 1, async: true}
   |                    ^^^^^ `isend` returns at once
)");
}

TEST(VocabularyError, WantsASplitForEachRank) {
  EXPECT_EQ(instead_of_barrier("  - all_to_all_single: {input_split_sizes: [1, 2], output_split_sizes: [1]}\n"),
            R"(error[scenario]: 1 counts in a world of 2 ranks
  --> mine.yaml:13:72
   |
13 |   - all_to_all_single: {input_split_sizes: [1, 2], output_split_sizes: [1]}
   |                                                                        ^^^ give one count for each rank
)");
}

TEST(VocabularyError, KnowsTheWordsOfDebug) {
  EXPECT_EQ(report_of(with("  ranks: 2", "  ranks: 2\n  debug: info")),
            R"(error[scenario]: `info` is not a valid `debug`
  --> mine.yaml:6:10
  |
6 |   debug: info
  |          ^^^^ expected `none` or `detail`
)");
}

TEST(VocabularyError, WantsATimeoutWithAUnit) {
  EXPECT_EQ(instead_of_barrier("  - monitored_barrier: {timeout: 5}\n"), R"(error[scenario]: `5` is not a duration
  --> mine.yaml:13:34
   |
13 |   - monitored_barrier: {timeout: 5}
   |                                  ^ write a number and a unit with no space: 5ns, 5us, 5ms, 5s, 5min
)");
}

TEST(VocabularyWarning, TellsWhichMembersOfAGroupCall) {
  EXPECT_EQ(instead_of_barrier(R"(  - new_group: {name: one, ranks: [0]}
  - new_group: {name: both, ranks: all}
  - barrier: {group: one}
    when: {rank: 0}
  - barrier: {group: both}
    when: {rank: 1}
)"),
            R"(warning[scenario]: only rank 1 calls `barrier` of group `both`
  --> mine.yaml:17:5
   |
17 |   - barrier: {group: both}
   |     ^^^^^^^ every rank of the group must make the call, or the ranks that make it will wait
)");
}

TEST(VocabularyWarning, TellsWhoMakesAGroupAlone) {
  EXPECT_EQ(instead_of_barrier("  - new_group: {name: a, ranks: all}\n    when: {rank: 0}\n"),
            R"(warning[scenario]: only rank 0 calls `new_group` of group `a`
  --> mine.yaml:13:5
   |
13 |   - new_group: {name: a, ranks: all}
   |     ^^^^^^^^^ every rank of the group must make the call, or the ranks that make it will wait
)");
}

TEST(Vocabulary, IsReadIntoTheOperation) {
  const LoadedFile file =
      load_text("mine.yaml", with("  - barrier\n", R"(  - new_group: {name: a, ranks: 0..1, timeout: 5s}
  - all_to_all_single: {input_split_sizes: [3, 0], group: a}
  - recv: {src: any}
    when: {rank: 1}
)"));
  ASSERT_EQ(file.errors, 0);
  const Scenario& s = file.variants.front();
  EXPECT_EQ(s.program[2].as<NewGroupOptions>().ranks.text(), "0..1");
  EXPECT_EQ(s.program[3].as<CollectiveOptions>().input_split_sizes, (std::vector<std::int64_t>{3, 0}));
  EXPECT_TRUE(s.program[4].as<CollectiveOptions>().src->word);
  EXPECT_FALSE(s.world.checked);
}

TEST(Vocabulary, ReadsTheCheckedMode) {
  const LoadedFile file = load_text("mine.yaml", with("  ranks: 2", "  ranks: 2\n  debug: detail"));
  ASSERT_EQ(file.errors, 0);
  EXPECT_TRUE(file.variants.front().world.checked);
}

}  // namespace
}  // namespace pdsim::scenarios
