// Keys, types and units, each error with the text that the user sees.
#include "tests/unit/language/report_of.h"

#include <gtest/gtest.h>

namespace pdsim::scenarios {
namespace {

TEST(ShapeError, SuggestsTheNearestKey) {
  EXPECT_EQ(report_of(with("  link: {latency: 5us, bandwidth: 25GB/s}", "  link: {latency: 5us, bandwith: 25GB/s}")),
            R"(error[scenario]: unknown key `bandwith` in world.link
  --> mine.yaml:6:24
  |
6 |   link: {latency: 5us, bandwith: 25GB/s}
  |                        ^^^^^^^^ did you mean `bandwidth`?
)");
}

TEST(ShapeError, WantsNoSpaceInADuration) {
  EXPECT_EQ(report_of(with("  link: {latency: 5us, bandwidth: 25GB/s}", "  link: {latency: 5 us, bandwidth: 25GB/s}")),
            R"(error[scenario]: `5 us` is not a duration
  --> mine.yaml:6:19
  |
6 |   link: {latency: 5 us, bandwidth: 25GB/s}
  |                   ^^^^ write a number and a unit with no space: 5ns, 5us, 5ms, 5s, 5min
)");
}

TEST(ShapeError, WantsAUnit) {
  EXPECT_EQ(report_of(with("  link: {latency: 5us, bandwidth: 25GB/s}", "  link: {latency: 5, bandwidth: 25GB/s}")),
            R"(error[scenario]: `5` is not a duration
  --> mine.yaml:6:19
  |
6 |   link: {latency: 5, bandwidth: 25GB/s}
  |                   ^ write a number and a unit with no space: 5ns, 5us, 5ms, 5s, 5min
)");
}

TEST(ShapeError, TellsAllErrorsAtOnce) {
  EXPECT_EQ(report_of(R"(pdsim: 1
name: mine
summary: one sentence
world:
  ranks: 2
  link: {latency: 5us, bandwith: 25GB/s}
model:
  layers: {trunk: {linear: [4, 8]}, norm: {batchnorm: 8}, head: {linear: [8, 1]}}
  paths: {full: [trunk, norm, head], short: [trunk, head]}
program:
  - init_process_group
  - train: {steps: 3}
  - barrier
expect: {outcome: okay}
timeout: 5 us
)"),
            R"(error[scenario]: unknown key `bandwith` in world.link
  --> mine.yaml:6:24
  |
6 |   link: {latency: 5us, bandwith: 25GB/s}
  |                        ^^^^^^^^ did you mean `bandwidth`?
error[scenario]: `okay` is not a valid `outcome`
  --> mine.yaml:14:19
   |
14 | expect: {outcome: okay}
   |                   ^^^^ expected `ok`, `deadlock`, `timeout` or `error`
error[scenario]: unknown key `timeout` in the file
  --> mine.yaml:15:1
   |
15 | timeout: 5 us
   | ^^^^^^^ its keys are `pdsim`, `name`, `summary`, `pitfall`, `seed`, `world`, `model`, `ddp`, `data_parallel`, `optimizer`, `data`, `batch` ...
)");
}

TEST(ShapeError, WantsTheVersion) {
  EXPECT_EQ(report_of(with(R"(pdsim: 1
name: mine)",
                           "name: mine")),
            R"(error[scenario]: `pdsim` is missing in the file
  --> mine.yaml:1:1
  |
1 | name: mine
  | ^^^^ pdsim: language version
)");
}

TEST(ShapeError, KnowsOneVersion) {
  EXPECT_EQ(report_of(with("pdsim: 1", "pdsim: 2")),
            R"(error[scenario]: `2` is out of range for `pdsim`
  --> mine.yaml:1:8
  |
1 | pdsim: 2
  |        ^ expected 1
)");
}

TEST(ShapeError, WantsTheNameOfTheFile) {
  EXPECT_EQ(report_of(with("name: mine", "name: other")),
            R"(error[scenario]: the name `other` differs from the name of the file
  --> mine.yaml:2:7
  |
2 | name: other
  |       ^^^^^ write `name: mine`, or rename the file
)");
}

TEST(ShapeError, LimitsTheSummary) {
  EXPECT_EQ(report_of(with("summary: one sentence",
                           "summary: "
                           "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"
                           "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx")),
            R"(error[scenario]: a summary of 130 characters
  --> mine.yaml:3:10
  |
3 | summary: xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx...
  |          ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ at most 120 are shown
)");
}

TEST(ShapeError, WantsExpectOrVariantsNotBoth) {
  EXPECT_EQ(report_of(valid_start + R"(variants: {a: {expect: {outcome: ok}}}
expect: {outcome: ok}
)"),
            R"(error[scenario]: `variants` beside `expect`
  --> mine.yaml:14:1
   |
14 | variants: {a: {expect: {outcome: ok}}}
   | ^^^^^^^^ each variant has its own `expect`; keep one of the two
)");
}

TEST(ShapeError, WantsAnExpectation) {
  EXPECT_EQ(report_of(valid_start + ""),
            R"(error[scenario]: the file has no expectation
  --> mine.yaml:1:1
  |
1 | pdsim: 1
  | ^^^^^ add `expect: {outcome: ok}`, or `variants`
)");
}

TEST(ShapeError, WantsAFlatWorldOrTwoLevels) {
  EXPECT_EQ(report_of(with("  link: {latency: 5us, bandwidth: 25GB/s}",
                           R"(  nodes: 2
  link: {latency: 5us, bandwidth: 25GB/s})")),
            R"(error[scenario]: `nodes` beside `ranks` in world
  --> mine.yaml:6:3
  |
6 |   nodes: 2
  |   ^^^^^ a world is flat (`ranks`, `link`) or has two levels (`nodes`, `ranks_per_node`, `intra`, `inter`)
error[scenario]: `nodes` without `ranks_per_node` in world
  --> mine.yaml:6:3
  |
6 |   nodes: 2
  |   ^^^^^ give the number of ranks of each node
error[scenario]: `link` in a world with `nodes`
  --> mine.yaml:7:3
  |
7 |   link: {latency: 5us, bandwidth: 25GB/s}
  |   ^^^^ use `intra` (within a node) and `inter` (between nodes)
)");
}

TEST(ShapeError, WantsRanksPerNode) {
  EXPECT_EQ(report_of(with(R"(  ranks: 2
  link: {latency: 5us, bandwidth: 25GB/s})",
                           "  nodes: 2")),
            R"(error[scenario]: `nodes` without `ranks_per_node` in world
  --> mine.yaml:5:3
  |
5 |   nodes: 2
  |   ^^^^^ give the number of ranks of each node
)");
}

TEST(ShapeError, WantsARank) {
  EXPECT_EQ(report_of(with("  ranks: 2", "  ranks: 0")),
            R"(error[scenario]: `0` is out of range for `ranks`
  --> mine.yaml:5:10
  |
5 |   ranks: 0
  |          ^ expected a whole number 1..8192
)");
}

TEST(ShapeError, LimitsRanks) {
  EXPECT_EQ(report_of(with("  ranks: 2", "  ranks: 1000000000")),
            R"(error[scenario]: `1000000000` is out of range for `ranks`
  --> mine.yaml:5:10
  |
5 |   ranks: 1000000000
  |          ^^^^^^^^^^ expected a whole number 1..8192
)");
}

TEST(ShapeError, LimitsRanksWithPayload) {
  EXPECT_EQ(report_of(with("  ranks: 2", "  ranks: 5000")),
            R"(error[scenario]: a world of 5000 ranks
  --> mine.yaml:5:10
  |
5 |   ranks: 5000
  |          ^^^^ the limit is 2048 ranks, or 8192 with `payload: none`
)");
}

TEST(ShapeError, SurvivesNumbersThatDoNotFit) {
  EXPECT_EQ(report_of(with("  ranks: 2", "  ranks: 99999999999999999999")),
            R"(error[scenario]: `99999999999999999999` is out of range for `ranks`
  --> mine.yaml:5:10
  |
5 |   ranks: 99999999999999999999
  |          ^^^^^^^^^^^^^^^^^^^^ expected a whole number 1..8192
)");
}

TEST(ShapeError, WantsNoNegativeNumbers) {
  EXPECT_EQ(report_of(with("  ranks: 2", "  ranks: -1")),
            R"(error[scenario]: `-1` is not a whole number
  --> mine.yaml:5:10
  |
5 |   ranks: -1
  |          ^^ expected a whole number 1..8192
)");
}

TEST(ShapeError, WantsANumberAndNoList) {
  EXPECT_EQ(report_of(with("  ranks: 2", "  ranks: [2]")),
            R"(error[scenario]: `ranks`: a list is not a whole number
  --> mine.yaml:5:10
  |
5 |   ranks: [2]
  |          ^^^ expected a whole number 1..8192
)");
}

TEST(ShapeError, ExplainsWhereWhenStands) {
  EXPECT_EQ(report_of(with("  - barrier", "  - barrier: {when: {rank: 0}}")),
            R"(error[scenario]: unknown key `when` in barrier
  --> mine.yaml:13:15
   |
13 |   - barrier: {when: {rank: 0}}
   |               ^^^^ put `when` beside `barrier`, not inside it
)");
}

TEST(ShapeError, SuggestsTheNearestOperation) {
  EXPECT_EQ(report_of(with("  - barrier", "  - barier")),
            R"(error[scenario]: unknown operation `barier`
  --> mine.yaml:13:5
   |
13 |   - barier
   |     ^^^^^^ did you mean `barrier`?
)");
}

TEST(ShapeError, SuggestsTheNearestOperationWithOptions) {
  EXPECT_EQ(report_of(with("  - barrier", "  - all_reduc: {count: 3}")),
            R"(error[scenario]: unknown operation `all_reduc` in program
  --> mine.yaml:13:5
   |
13 |   - all_reduc: {count: 3}
   |     ^^^^^^^^^ did you mean `all_reduce`?
)");
}

TEST(ShapeError, SuggestsTheNearestOption) {
  EXPECT_EQ(report_of(with("  - barrier", "  - all_reduce: {cuont: 3}")),
            R"(error[scenario]: unknown key `cuont` in all_reduce
  --> mine.yaml:13:18
   |
13 |   - all_reduce: {cuont: 3}
   |                  ^^^^^ did you mean `count`?
)");
}

TEST(ShapeError, WantsOneOperationPerEntry) {
  EXPECT_EQ(report_of(with("  - barrier",
                           R"(  - barrier: {}
    init_process_group: {})")),
            R"(error[scenario]: `init_process_group` beside `barrier` in one entry
  --> mine.yaml:14:5
   |
14 |     init_process_group: {}
   |     ^^^^^^^^^^^^^^^^^^ an entry is one operation; start another entry
)");
}

TEST(ShapeError, WantsRequiredOptions) {
  EXPECT_EQ(report_of(with("  - barrier", "  - send")),
            R"(error[scenario]: `dst` is missing in send
  --> mine.yaml:13:5
   |
13 |   - send
   |     ^^^^ dst: the rank of the world that it goes to; this or `group_dst` must be given
)");
}

TEST(ShapeError, WantsAMapping) {
  EXPECT_EQ(report_of(R"(- a
- b
)"),
            R"(error[scenario]: the file is a list, not a mapping
  --> mine.yaml:1:1
  |
1 | - a
  | ^ a scenario begins with `pdsim: 1`
)");
}

TEST(ShapeError, SuggestsTheNearestWord) {
  EXPECT_EQ(report_of(valid_start + R"(expect: {outcome: deadlok}
)"),
            R"(error[scenario]: `deadlok` is not a valid `outcome`
  --> mine.yaml:14:19
   |
14 | expect: {outcome: deadlok}
   |                   ^^^^^^^ did you mean `deadlock`?
)");
}

TEST(ShapeError, ChecksFaults) {
  EXPECT_EQ(report_of(valid_start + R"(faults:
  - delay: {by: 40}
    match: {rank: 1}
  - crash: {}
    match: {from: 1}
    at: {step: 9, before: backwrd}
  - explode
expect: {outcome: ok}
)"),
            R"(error[scenario]: `40` is not a duration
  --> mine.yaml:15:17
   |
15 |   - delay: {by: 40}
   |                 ^^ write a number and a unit with no space: 5ns, 5us, 5ms, 5s, 5min
error[scenario]: unknown fault `explode`
  --> mine.yaml:20:5
   |
20 |   - explode
   |     ^^^^^^^ there are `delay`, `drop`, `duplicate`, `reorder`, `corrupt`, `crash`, `hang`, `slow`, `skew` or `partition`
)");
}

TEST(ShapeError, WantsForwardInTrain) {
  EXPECT_EQ(report_of(with("  - barrier", "  - forward")),
            R"(error[scenario]: `forward` outside train
  --> mine.yaml:13:5
   |
13 |   - forward
   |     ^^^^^^^ put it in the `do` of train
)");
}

TEST(ShapeError, WantsRelaunchOutsideTrain) {
  EXPECT_EQ(report_of(with("  - train: {steps: 3}", "  - train: {steps: 3, do: [forward, relaunch]}")),
            R"(error[scenario]: `relaunch` inside train
  --> mine.yaml:12:37
   |
12 |   - train: {steps: 3, do: [forward, relaunch]}
   |                                     ^^^^^^^^ put it in the program itself, before or after train
)");
}

}  // namespace
}  // namespace pdsim::scenarios
