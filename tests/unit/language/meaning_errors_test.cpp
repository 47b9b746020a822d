// Names and numbers that mean nothing, each error with the text that the user sees.
#include "tests/unit/language/report_of.h"

#include <gtest/gtest.h>

namespace pdsim::scenarios {
namespace {

TEST(MeaningError, WarnsOfACollectiveThatSomeRanksReach) {
  EXPECT_EQ(report_of(with("  - barrier",
                           R"(  - barrier: {}
    when: {rank: 0})")),
            R"(warning[scenario]: only rank 0 calls `barrier`
  --> mine.yaml:13:5
   |
13 |   - barrier: {}
   |     ^^^^^^^ every rank of the group must make the call, or the ranks that make it will wait
)");
}

TEST(MeaningError, WantsRanksInRange) {
  EXPECT_EQ(report_of(with("  - barrier",
                           R"(  - barrier: {}
    when: {rank: 5})")),
            R"(error[scenario]: rank 5 in a world of 2
  --> mine.yaml:14:18
   |
14 |     when: {rank: 5}
   |                  ^ ranks are 0..1
)");
}

TEST(MeaningError, WantsKnownLayers) {
  EXPECT_EQ(report_of(with("  paths: {full: [trunk, norm, head], short: [trunk, head]}",
                           "  paths: {full: [trunk, norm, head], short: [trunk, haed]}")),
            R"(error[scenario]: path `short` names an unknown layer `haed`
  --> mine.yaml:9:53
  |
9 |   paths: {full: [trunk, norm, head], short: [trunk, haed]}
  |                                                     ^^^^ did you mean `head`?
)");
}

TEST(MeaningError, WantsWidthsThatFit) {
  EXPECT_EQ(report_of(with("  paths: {full: [trunk, norm, head], short: [trunk, head]}",
                           "  paths: {full: [trunk, norm, head], short: [head, trunk]}")),
            R"(error[scenario]: `trunk` takes 4 features, but `head` gives 1 in path `short`
  --> mine.yaml:9:52
  |
9 |   paths: {full: [trunk, norm, head], short: [head, trunk]}
  |                                                    ^^^^^ widths must fit along a path
)");
}

TEST(MeaningError, WantsWidthsThatFitInAModelWithoutPaths) {
  std::string text = with("  paths: {full: [trunk, norm, head], short: [trunk, head]}\n", "");
  text.replace(text.find("batchnorm: 8"), 12, "batchnorm: 6");
  EXPECT_EQ(report_of(text), R"(error[scenario]: `norm` takes 6 features, but `trunk` gives 8 in path `full`
  --> mine.yaml:8:37
  |
8 |   layers: {trunk: {linear: [4, 8]}, norm: {batchnorm: 6}, head: {linear: [8, 1]}}
  |                                     ^^^^ widths must fit along a path
error[scenario]: `head` takes 8 features, but `norm` gives 6 in path `full`
  --> mine.yaml:8:59
  |
8 |   layers: {trunk: {linear: [4, 8]}, norm: {batchnorm: 6}, head: {linear: [8, 1]}}
  |                                                           ^^^^ widths must fit along a path
)");
}

TEST(MeaningError, WantsUniqueLabels) {
  EXPECT_EQ(report_of(with("  - barrier",
                           R"(  - barrier: {}
    label: a
  - barrier: {}
    label: a)")),
            R"(error[scenario]: duplicate label `a`
  --> mine.yaml:16:12
   |
16 |     label: a
   |            ^ first used at line 14, column 12
)");
}

TEST(MeaningError, WantsTheRootInRange) {
  EXPECT_EQ(report_of(with("  - barrier", "  - broadcast: {src: 2}")),
            R"(error[scenario]: `src` is rank 2 in a world of 2
  --> mine.yaml:13:22
   |
13 |   - broadcast: {src: 2}
   |                      ^ ranks are 0..1
)");
}

TEST(MeaningError, WantsThePeerInRange) {
  EXPECT_EQ(report_of(with("  - barrier", "  - send: {dst: 9}")),
            R"(error[scenario]: `dst` is rank 9 in a world of 2
  --> mine.yaml:13:17
   |
13 |   - send: {dst: 9}
   |                 ^ ranks are 0..1
)");
}

TEST(MeaningError, WantsAnOperationToWaitFor) {
  EXPECT_EQ(report_of(with("  - barrier", "  - wait: {for: x}")),
            R"(error[scenario]: no earlier operation with `async: true` has the label `x`
  --> mine.yaml:13:17
   |
13 |   - wait: {for: x}
   |                 ^ give the operation to wait for `async: true` and a label
)");
}

TEST(MeaningError, WantsLossesOfForwards) {
  EXPECT_EQ(report_of(with("  - train: {steps: 3}",
                           "  - train: {steps: 3, do: [{forward: {output: a}}, {backward: {losses: [b]}}]}")),
            R"(error[scenario]: no earlier forward outputs `b`
  --> mine.yaml:12:73
   |
12 |   - train: {steps: 3, do: [{forward: {output: a}}, {backward: {losses: [b]}}]}
   |                                                                         ^ did you mean `a`?
)");
}

TEST(MeaningError, WantsKnownAlgorithms) {
  EXPECT_EQ(report_of(with("  - barrier", "  - all_reduce: {algorithm: rin}")),
            R"(error[scenario]: `all_reduce` has no algorithm `rin`
  --> mine.yaml:13:29
   |
13 |   - all_reduce: {algorithm: rin}
   |                             ^^^ did you mean `ring`?
)");
}

TEST(MeaningError, WantsThePathOfAStoreFile) {
  EXPECT_EQ(report_of(with("  - init_process_group", "  - init_process_group: {method: file}")),
            R"(error[scenario]: `init_process_group` by file without a path
  --> mine.yaml:11:5
   |
11 |   - init_process_group: {method: file}
   |     ^^^^^^^^^^^^^^^^^^ add `path: run/store`
)");
}

TEST(MeaningError, WantsKnownPathsAndWarnsOfStepsNeverRun) {
  EXPECT_EQ(report_of(with("  layers: {trunk: {linear: [4, 8]}, norm: {batchnorm: 8}, head: {linear: [8, 1]}}",
                           R"(  branches: [{path: shrt, when: {step: 7}}]
  layers: {trunk: {linear: [4, 8]}, norm: {batchnorm: 8}, head: {linear: [8, 1]}})")),
            R"(error[scenario]: unknown path `shrt`
  --> mine.yaml:8:21
  |
8 |   branches: [{path: shrt, when: {step: 7}}]
  |                     ^^^^ did you mean `short`?
warning[scenario]: step 7 is never run
  --> mine.yaml:8:40
  |
8 |   branches: [{path: shrt, when: {step: 7}}]
  |                                        ^ steps are 0..2
)");
}

TEST(MeaningError, WantsKnownTensors) {
  EXPECT_EQ(report_of(valid_start + R"(expect: {outcome: ok, values: [{tensor: had.weight, across_ranks: equal}]}
)"),
            R"(error[scenario]: unknown tensor `had.weight`
  --> mine.yaml:14:41
   |
14 | expect: {outcome: ok, values: [{tensor: had.weight, across_ranks: equal}]}
   |                                         ^^^^^^^^^^ did you mean `head.weight`?
)");
}

TEST(MeaningError, WantsOneClaimPerValue) {
  EXPECT_EQ(report_of(valid_start + R"(expect: {outcome: ok, values: [{tensor: head.weight}]}
)"),
            R"(error[scenario]: a value without an expectation
  --> mine.yaml:14:32
   |
14 | expect: {outcome: ok, values: [{tensor: head.weight}]}
   |                                ^^^^^^^^^^^^^^^^^^^^^ give one of `across_ranks`, `near`, `holds` and `equals`
)");
}

TEST(MeaningError, WantsKnownErrorCodes) {
  EXPECT_EQ(report_of(valid_start + R"(expect: {outcome: error, error: reduction-not-finishd}
)"),
            R"(error[scenario]: unknown error code `reduction-not-finishd`
  --> mine.yaml:14:33
   |
14 | expect: {outcome: error, error: reduction-not-finishd}
   |                                 ^^^^^^^^^^^^^^^^^^^^^ did you mean `reduction-not-finished`?
)");
}

TEST(MeaningError, WantsKnownDiagnoses) {
  EXPECT_EQ(report_of(valid_start + R"(expect: {outcome: deadlock, diagnosis: unused-params}
)"),
            R"(error[scenario]: unknown diagnosis `unused-params`
  --> mine.yaml:14:40
   |
14 | expect: {outcome: deadlock, diagnosis: unused-params}
   |                                        ^^^^^^^^^^^^^ did you mean `unused-parameters`?
)");
}

TEST(MeaningError, WantsErrorsWithOutcomeErrorOnly) {
  EXPECT_EQ(report_of(valid_start + R"(expect: {outcome: ok, error: timeout}
)"),
            R"(error[scenario]: `error` with `outcome: ok`
  --> mine.yaml:14:23
   |
14 | expect: {outcome: ok, error: timeout}
   |                       ^^^^^ errors need `outcome: error` or `outcome: timeout`
)");
}

TEST(MeaningError, WantsARangeOfTimeThatHoldsATime) {
  EXPECT_EQ(report_of(valid_start + R"(expect: {outcome: ok, time: {min: 3s, max: 1s}}
)"),
            R"(error[scenario]: `min` is greater than `max`
  --> mine.yaml:14:35
   |
14 | expect: {outcome: ok, time: {min: 3s, max: 1s}}
   |                                   ^^ no time lies in between
)");
}

TEST(MeaningError, ChecksBlockedRanks) {
  EXPECT_EQ(report_of(valid_start + R"(expect: {outcome: deadlock, blocked: [{rank: 3, in: allreduce}]}
)"),
            R"(error[scenario]: rank 3 in a world of 2
  --> mine.yaml:14:46
   |
14 | expect: {outcome: deadlock, blocked: [{rank: 3, in: allreduce}]}
   |                                              ^ ranks are 0..1
error[scenario]: unknown operation `allreduce`
  --> mine.yaml:14:53
   |
14 | expect: {outcome: deadlock, blocked: [{rank: 3, in: allreduce}]}
   |                                                     ^^^^^^^^^ did you mean `all_reduce`?
)");
}

TEST(MeaningError, SetWantsASection) {
  EXPECT_EQ(report_of(valid_start + R"(variants:
  a:
    set: {wrld.ranks: 3}
    expect: {outcome: ok}
)"),
            R"(error[scenario]: `wrld.ranks` does not exist: no `wrld` of the file
  --> mine.yaml:16:11
   |
16 |     set: {wrld.ranks: 3}
   |           ^^^^ did you mean `world`?
)");
}

TEST(MeaningError, SetWantsAKey) {
  EXPECT_EQ(report_of(valid_start + R"(variants:
  a:
    set: {ddp.find_unused: true}
    expect: {outcome: ok}
)"),
            R"(error[scenario]: `ddp.find_unused` does not exist: no `find_unused` in ddp
  --> mine.yaml:16:15
   |
16 |     set: {ddp.find_unused: true}
   |               ^^^^^^^^^^^ did you mean `find_unused_parameters`?
)");
}

TEST(MeaningError, SetWantsAnEntryOfTheProgram) {
  EXPECT_EQ(report_of(valid_start + R"(variants:
  a:
    set: {program.trian.steps: 4}
    expect: {outcome: ok}
)"),
            R"(error[scenario]: `program.trian.steps` does not exist: no `trian` in the program
  --> mine.yaml:16:19
   |
16 |     set: {program.trian.steps: 4}
   |                   ^^^^^ did you mean `train`?
)");
}

TEST(MeaningError, SetWantsAnOption) {
  EXPECT_EQ(report_of(valid_start + R"(variants:
  a:
    set: {program.train.stps: 4}
    expect: {outcome: ok}
)"),
            R"(error[scenario]: `program.train.stps` does not exist: no `stps` in `train`
  --> mine.yaml:16:25
   |
16 |     set: {program.train.stps: 4}
   |                         ^^^^ did you mean `steps`?
)");
}

TEST(MeaningError, SetValuesAreCheckedWhereTheyStand) {
  EXPECT_EQ(report_of(valid_start + R"(variants:
  a:
    set: {program.train.steps: many}
    expect: {outcome: ok}
)"),
            R"(error[scenario]: `many` is not a whole number
  --> mine.yaml:16:32
   |
16 |     set: {program.train.steps: many}
   |                                ^^^^ expected a whole number 0..1000000
)");
}

TEST(MeaningError, SetValuesAreLimited) {
  EXPECT_EQ(report_of(valid_start + R"(variants:
  a:
    set: {world.ranks: 1000000000}
    expect: {outcome: ok}
)"),
            R"(error[scenario]: `1000000000` is out of range for `ranks`
  --> mine.yaml:16:24
   |
16 |     set: {world.ranks: 1000000000}
   |                        ^^^^^^^^^^ expected a whole number 1..8192
)");
}

TEST(MeaningError, SetEndsAtAPlainValue) {
  EXPECT_EQ(report_of(valid_start + R"(variants:
  a:
    set: {world.ranks.x: 1}
    expect: {outcome: ok}
)"),
            R"(error[scenario]: `world.ranks.x` does not exist: no `x` below `ranks`
  --> mine.yaml:16:23
   |
16 |     set: {world.ranks.x: 1}
   |                       ^ set `ranks` as a whole
)");
}

TEST(MeaningError, SetWantsALayer) {
  EXPECT_EQ(report_of(valid_start + R"(variants:
  a:
    set: {model.layers.had: {linear: [8, 1]}}
    expect: {outcome: ok}
)"),
            R"(error[scenario]: `model.layers.had` does not exist: no `had` in `layers`
  --> mine.yaml:16:24
   |
16 |     set: {model.layers.had: {linear: [8, 1]}}
   |                        ^^^ did you mean `head`?
)");
}

TEST(MeaningError, NamesTheVariantWhoseSettingsDoNotFit) {
  EXPECT_EQ(report_of(valid_start + R"(variants:
  a:
    set: {model.layers.head: {linear: [9, 1]}}
    expect: {outcome: ok}
)"),
            R"(error[scenario]: `head` takes 9 features, but `norm` gives 8 in path `full`, in variant `a`
  --> mine.yaml:9:31
  |
9 |   paths: {full: [trunk, norm, head], short: [trunk, head]}
  |                               ^^^^ widths must fit along a path
error[scenario]: `head` takes 9 features, but `trunk` gives 8 in path `short`, in variant `a`
  --> mine.yaml:9:53
  |
9 |   paths: {full: [trunk, norm, head], short: [trunk, head]}
  |                                                     ^^^^ widths must fit along a path
)");
}

TEST(MeaningError, SetWantsALabelWhereTwoEntriesFit) {
  EXPECT_EQ(report_of(valid_start + R"(  - barrier
variants:
  a:
    set: {program.barrier.group: world}
    expect: {outcome: ok}
)"),
            R"(error[scenario]: `program.barrier.group` names 2 entries
  --> mine.yaml:17:19
   |
17 |     set: {program.barrier.group: world}
   |                   ^^^^^^^ give the intended `barrier` a label, and use that label
)");
}

TEST(MeaningError, SetWantsTheWholeOfASectionThatIsOff) {
  EXPECT_EQ(report_of(valid_start + R"(ddp: none
variants:
  a:
    set: {ddp.static_graph: true}
    expect: {outcome: ok}
)"),
            R"(error[scenario]: `ddp.static_graph` does not exist: `ddp` is `none` here
  --> mine.yaml:17:15
   |
17 |     set: {ddp.static_graph: true}
   |               ^^^^^^^^^^^^ set `ddp` as a whole
)");
}

}  // namespace
}  // namespace pdsim::scenarios
