// All errors of a file at once: what is broken in one place does not hide what is wrong in another, and nothing is
// reported that only follows from an error elsewhere.
#include "tests/unit/language/report_of.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace pdsim::scenarios {
namespace {

std::vector<std::string> errors_of(const std::string& text) {
  std::vector<std::string> errors;
  for (const Diagnostic& d : load_text("mine.yaml", text).diagnostics)
    errors.push_back(std::to_string(d.mark.line) + ":" + std::to_string(d.mark.column) + " " + d.what);
  return errors;
}

using Errors = std::vector<std::string>;

TEST(EveryError, IsReportedAtOnceFromAllSections) {
  EXPECT_EQ(errors_of(R"(pdsim: 1
name: mine
summary: one sentence
world:
  ranks: 2
  link: {latency: 5us, bandwith: 25GB/s}
model:
  layers: {trunk: {linear: [4, 8]}, head: {linear: [9, 1]}}
ddp: {first_buckets: 1MiB}
program:
  - init_process_group
  - all_redcue: {count: 4}
  - all_reduce: {count: many}
  - broadcast: {src: 7}
  - all_gather: {algorithm: ringg}
  - train:
      steps: few
      do:
        - zero_grad
        - barrier: {algorithm: quick}
faults:
  - slow: {factor: 4}
    match: {rank: 9}
variants:
  a:
    set: {program.train.stepz: 4}
    expect: {outcome: ok}
  b:
    set: {seed: one}
    expect: {outcome: error, diagnosis: moon-phase}
)"),
            (Errors{
                "6:24 unknown key `bandwith` in world.link",
                "8:37 `head` takes 9 features, but `trunk` gives 8 in path `full`",
                "9:7 unknown key `first_buckets` in ddp",
                "12:5 unknown operation `all_redcue` in program",
                "13:25 `many` is not a whole number",
                "14:22 `src` is rank 7 in a world of 2",
                "15:29 `all_gather` has no algorithm `ringg`",
                "17:14 `few` is not a whole number",
                "20:32 `barrier` has no algorithm `quick`",
                "23:19 rank 9 in a world of 2",
                "26:25 `program.train.stepz` does not exist: no `stepz` in `train`",
                "29:17 `one` is not a whole number",
                "30:41 unknown diagnosis `moon-phase`",
            }));
}

TEST(EveryError, ComparesNothingWithASizeThatIsInError) {
  const std::string rest = valid.substr(valid.find("  link"));
  const std::string start = valid.substr(0, valid.find("  ranks"));
  const std::string faults = "faults:\n  - slow: {factor: 4}\n    match: {rank: 9}\n  - hang: {}\n    at: {step: 9}\n";
  EXPECT_EQ(errors_of(start + "  ranks: two\n" + rest + faults),
            (Errors{"5:10 `two` is not a whole number", "19:16 step 9 is never run"}));
  EXPECT_EQ(errors_of(start + "  ranks: 5000\n" + rest + faults),
            (Errors{"5:10 a world of 5000 ranks", "19:16 step 9 is never run"}));
  EXPECT_EQ(errors_of(start + rest + faults), (Errors{"4:1 the world has no size", "18:16 step 9 is never run"}));
  EXPECT_EQ(errors_of(start + "  nodes: 5\n  ranks_per_nod: 2\n" + rest.substr(rest.find("model")) + faults),
            (Errors{"6:3 unknown key `ranks_per_nod` in world", "19:16 step 9 is never run"}));
}

TEST(EveryError, ComparesNothingWithNamesThatABrokenEntryMayHaveMade) {
  EXPECT_EQ(errors_of(with("  - barrier\n", R"(  - new_gruop: {name: half, ranks: 0}
  - barrier: {group: half, algorithm: quick}
  - all_reduce: {count: 4, async: yes}
    label: sum
  - wait: {for: sum}
faults:
  - hang: {}
    at: {step: 9}
)")),
            (Errors{"13:5 unknown operation `new_gruop` in program", "14:39 `barrier` has no algorithm `quick`",
                    "15:35 `yes` is not a boolean"}));
}

TEST(EveryError, MissesNoModelWhoseSectionIsMisspeltOrBroken) {
  EXPECT_EQ(errors_of(with("model:", "modle:")), (Errors{"7:1 unknown key `modle` in the file"}));
  EXPECT_EQ(errors_of(with("linear: [8, 1]", "linear: [8]") + "ddp: {find_unused_parameters: 2}\n"),
            (Errors{"8:74 `linear`: a list is not a pair of widths", "15:31 `2` is not a boolean"}));
}

TEST(EveryError, TakesNoEntryThatIsMisspeltForOneThatASettingDoesNotFind) {
  EXPECT_EQ(errors_of(valid_start + R"(  - all_redcue: {count: 4}
variants: {a: {set: {program.all_reduce.count: 8}, expect: {outcome: ok}}}
)"),
            (Errors{"14:5 unknown operation `all_redcue` in program"}));
}

TEST(EveryError, IsReportedHoweverManyThereAre) {
  std::string program;
  for (int i = 0; i < 60; ++i) program += "  - all_reduce: {cuont: 4}\n";
  const LoadedFile file = load_text("mine.yaml", with("  - barrier\n", program));
  EXPECT_EQ(file.errors, 60);
  EXPECT_EQ(file.diagnostics.back().mark.line, 72);
}

TEST(EveryError, IsReportedBelowAnAnchorAndATag) {
  EXPECT_EQ(errors_of(with("  ranks: 2", "  ranks: &n 2") + "seed: !!int one\nddp: {first_buckets: 1MiB}\n"),
            (Errors{"5:10 an anchor (`&name`)", "15:7 a tag (`tag:yaml.org,2002:int`)", "15:7 `one` is not a whole number",
                    "16:7 unknown key `first_buckets` in ddp"}));
}

TEST(EveryError, OfExpectationsDoesNotHideTheOthers) {
  EXPECT_EQ(errors_of(valid_start + "expect: {outcome: okay, blocked: [{rank: 7}], diagnosis: moon-phase, wacthdog: late}\n"),
            (Errors{"14:19 `okay` is not a valid `outcome`", "14:42 rank 7 in a world of 2",
                    "14:58 unknown diagnosis `moon-phase`", "14:70 unknown key `wacthdog` in expect"}));
  EXPECT_EQ(errors_of(valid_start + "expect: {outcome: deadlock, diagnosis: [a], culprits: 9}\n"),
            (Errors{"14:40 `diagnosis`: a list is not a text", "14:55 rank 9 in a world of 2"}));
}

}  // namespace
}  // namespace pdsim::scenarios
