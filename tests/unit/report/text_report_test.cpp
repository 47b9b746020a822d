#include "scenarios/reports/text/text_report.h"

#include "scenarios/reports/json/json_report.h"
#include "scenarios/run/analyse.h"
#include "scenarios/run/expectations.h"
#include "scenarios/text/text_layout.h"
#include "tests/unit/report/run_builder.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <iostream>
#include <sstream>

namespace pdsim::scenarios {
namespace {

std::string source() {
  std::string text;
  for (int i = 1; i <= 30; ++i) {
    if (i == 21) text += "    - {path: short, when: {rank: 1, step: 2}}";
    if (i == 23) text += "ddp: {bucket_cap: 25MiB, find_unused_parameters: false}";
    text += "\n";
  }
  return text;
}

struct Two {
  Scenario broken = scenario_of(2), fixed = scenario_of(2);
  std::vector<Report> reports;
  Two() {
    broken.variant = "broken";
    broken.expect.outcome.value = Outcome::deadlock;
    fixed.variant = "fixed";
    fixed.settings = {{"ddp.find_unused_parameters", {}, {"true", {}}}};
    std::vector<RankScript> hang = train({});
    hang[1].site("barrier", -1, 28, 5).enter("barrier").collective("barrier", "", true);
    reports.push_back(analyse(broken, run_of(hang)));
    std::vector<RankScript> ok;
    for (Rank r = 0; r < 2; ++r) {
      ok.emplace_back(r);
      for (int step = 0; step < 3; ++step) {
        ok.back()
            .site("train", step, 27, 5)
            .enter("forward")
            .wait({90'000'000})
            .leave()
            .enter("backward")
            .wait({150'000'000});
        ok.back().collective("all_reduce", "bucket 0").collective("all_reduce", "used map").leave();
        ok.back().enter("optimizer_step").leave();
      }
      ok.back().returns();
    }
    reports.push_back(analyse(fixed, run_of(ok)));
    for (Report& r : reports) check_expectations(r);
  }
};

TEST(TextReport, FitsThePageAndSaysEverything) {
  const Two two;
  const std::string text = render_text(two.reports, {false, false, "pdsim-out", source(), "fifo"});
  std::size_t lines = 0;
  for (std::string_view rest = text; !rest.empty(); ++lines) {
    const std::size_t end = rest.find('\n');
    EXPECT_LE(width_of(rest.substr(0, end)), text_width) << rest.substr(0, end);
    rest.remove_prefix(end + 1);
  }
  EXPECT_LE(lines, 60U);
  if (std::getenv("PDSIM_SHOW") != nullptr) std::cout << text << render_json(two.reports);
  for (const char* part :
       {"PASS  broken", "deadlocked in step 2, as expected", "[unused-parameters]", "PASS  fixed",
        "deadlock[unused-parameters]: rank 0 waits for a gradient bucket that rank 1 will never send",
        "--> scenarios/example.yaml:21:8", "cycle: 0 -> 1 -> 0", "who waits for whom", "state of the ranks", "timeline",
        "why\n", "(variant `fixed` proves it)", "it adds one collective", "pdsim explain unused-parameters",
        "replay   pdsim scenario scenarios/example.yaml --variant broken --seed 7", "2 of 2 variants as expected"})
    EXPECT_NE(text.find(part), std::string::npos) << part << "\n" << text;
}

TEST(TextReport, TellsNoTimeOfAFixOnARealWorldWhereOneRunIsNoMeasurement) {
  Two two;
  for (Report& r : two.reports) r.world = RunWorld("gloo");
  const std::string text = render_text(two.reports, {false, false, "", source(), "fifo"});
  EXPECT_NE(text.find("adds one collective per step"), std::string::npos) << text;
}

// The whole page, so that a change of wording is seen as one.
TEST(TextReport, IsThisPage) {
  const Two two;
  EXPECT_EQ(render_text(two.reports, {false, false, "pdsim-out", source(), "fifo"}),
            R"(example   2 ranks, gloo semantics, 5us, 25GB/s, seed 7

PASS  broken  deadlocked in step 2, as expected         [unused-parameters]
PASS  fixed   finished in 870us                         all expectations hold

deadlock[unused-parameters]: rank 0 waits for a gradient bucket that rank 1 will never send
  --> scenarios/example.yaml:21:8
   |
21 |     - {path: short, when: {rank: 1, step: 2}}
   |        ^ in step 2 rank 1 does not use aux.weight, aux.bias
23 | ddp: {bucket_cap: 25MiB, find_unused_parameters: false}
   |                          ----------------------------- so DDP does not look for them

fix   (variant `fixed` proves it)
  ddp: {find_unused_parameters: true}
  or use every parameter in the loss on every rank, for example loss + 0 * aux_output.sum()
  `fixed` (ddp.find_unused_parameters: true) finished in 870us; it adds one collective and 10us
  (+3.6%) per step

why
  DDP reduces a bucket when every gradient in it has arrived. On rank 1 aux.weight, aux.bias never
  arrived, so it never called all_reduce for bucket 0 and the buckets after it. backward() still
  returned normally there; its gradients were NOT averaged, and an optimizer step on them lets the
  replicas drift apart. Another forward on rank 1 would have raised reduction-not-finished.
  unavoidable since 580us: rank 1 took path short in step 2

who waits for whom (no rank can make progress after 870us)
  rank 0 --all_reduce #3 (bucket 0, step 2)--> rank 1   which called barrier instead
  rank 1 --barrier #3------------------------> rank 0   which called all_reduce instead
  cycle: 0 -> 1 -> 0

state of the ranks
  rank  step  last completed  current     #  since  gradients
  0     2     all_reduce #2   all_reduce  3  840us  all complete
  1     2     all_reduce #2   barrier     3  860us  bucket 0: 4 of 6, without aux.weight, aux.bias

timeline   F forward  B backward  O optimizer  | barrier  R collective  . blocked  one column = 20us
          step 0        step 1        step 2
  rank 0  FFFFFBBBBBBBBOFFFFFBBBBBBBBOFFFFFBBBBBBBBR.............
  rank 1  FFFFFBBBBBBBBOFFFFFBBBBBBBBOFFFFFBBBBBBBB||............
          20us                                     ^ first divergence: #3

replay   pdsim scenario scenarios/example.yaml --variant broken --seed 7
look     pdsim-out/example/broken/{report.html,trace.json,events.jsonl}
more     pdsim explain unused-parameters
2 of 2 variants as expected   fingerprint 01b371a2075b17a0   simulated 1.74ms
)");
}

TEST(TextReport, QuietIsTheVerdictsAndTheTotals) {
  const Two two;
  const std::string text = render_text(two.reports, {true, false, "", "", "fifo"});
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 3);
}

TEST(TextReport, GivesTheWholeReasonWhyAVariantIsSkipped) {
  Two two;
  for (const std::string& reason : {std::string(), "why " + std::string(30, 'w') + std::string(20, ' ') +
                                                       "a real socket does what it wants, and the last word is: end"}) {
    two.reports[0].verdict = Verdict::skip;
    two.reports[0].skip_reason = reason;
    const std::string text = render_text(two.reports, {true, false, "", "", "fifo"});
    EXPECT_EQ(text.substr(text.find("SKIP"), 14), "SKIP  broken  ");
    EXPECT_EQ(text.find("end\n") != std::string::npos, !reason.empty()) << text;
  }
}

// The part of a report on one rank that raised this message.
std::string error_told(const std::string& message) {
  RankScript script(0);
  script.collective("all_reduce", "bucket 1", true).raises(Code::timeout, message);
  Scenario scenario = scenario_of(1);
  const std::string text = render_text({analyse(scenario, run_of({script}))}, {});
  const std::size_t begin = text.find("errors, by time");
  return begin == std::string::npos ? text : text.substr(begin, text.find("\n\n", begin) - begin);
}

TEST(TextReport, CutsALongErrorAtTheEndOfASentenceAndMarksTheCut) {
  EXPECT_NE(error_told("Short. And whole.").find("      Short. And whole."), std::string::npos);
  std::string words, lines;
  for (int i = 0; i < 200; ++i) words += "word ", lines += "line\n";
  const std::string sentences = error_told("The first one.\nThe second one. " + words);
  EXPECT_NE(sentences.find("The first one. The second one. ..."), std::string::npos) << sentences;
  for (const std::string& one : {words, lines}) {
    const std::string told = error_told(one);
    EXPECT_EQ(std::count(told.begin(), told.end(), '\n'), 6) << told;  // the heading, the rank and five lines
    EXPECT_TRUE(told.ends_with(one.substr(0, 4) + " ...")) << told;
  }
}

TEST(TextReport, ColourChangesNothingButEscapes) {
  const Two two;
  std::string coloured = render_text(two.reports, {false, true, "", "", "fifo"});
  for (std::size_t at; (at = coloured.find('\x1b')) != std::string::npos;)
    coloured.erase(at, coloured.find('m', at) - at + 1);
  EXPECT_EQ(coloured, render_text(two.reports, {false, false, "", "", "fifo"}));
}

TEST(TextReport, ShowsTheDivergenceWhereNoRuleSpeaks) {
  Scenario s = scenario_of(2);
  s.expect.outcome.value = Outcome::deadlock;
  std::vector<RankScript> scripts = train({2, {}});
  scripts[0].collective("all_reduce", "", true);
  scripts[1].site("compute").enter("compute");
  std::vector<Report> reports{analyse(s, run_of(scripts))};
  check_expectations(reports[0]);
  const std::string text = render_text(reports, {});
  EXPECT_NE(text.find("no known cause matches"), std::string::npos) << text;
  EXPECT_NE(text.find("first divergence: sequence number 4 of group world"), std::string::npos) << text;
}

TEST(TextReport, AThousandRanksStayOnThePage) {
  Scenario s = scenario_of(1000);
  s.expect.outcome.value = Outcome::deadlock;
  std::vector<RankScript> scripts = train({1000, {7, 8, 9, 500}});
  for (const std::size_t r : {7U, 8U, 9U, 500U})
    scripts[r].site("barrier").enter("barrier").collective("barrier", "", true);
  std::vector<Report> reports{analyse(s, run_of(scripts))};
  check_expectations(reports[0]);
  const std::string text = render_text(reports, {});
  EXPECT_LE(std::count(text.begin(), text.end(), '\n'), 60);
  EXPECT_LE(text.size(), 6000U);
  EXPECT_NE(text.find("ranks 7..9, 500"), std::string::npos) << text;
}

TEST(TextReport, WrapsAndCutsByCodePoints) {
  EXPECT_EQ(width_of("a\xc3\xa9"), 2U);
  EXPECT_EQ(cut("abcdef", 5), "ab...");
  EXPECT_EQ(cut("abcde", 5), "abcde");
  EXPECT_EQ(wrapped("  two   words ", 2), "  two words\n");
}

TEST(TextReport, WrapsWordsAndCellsThatAreTooLongInPlaceOfCuttingThem) {
  const std::string word(120, 'w');
  EXPECT_EQ(wrapped(word, 2), "  " + std::string(98, 'w') + "\n  " + std::string(22, 'w') + "\n");
  std::string many;
  for (int i = 0; i < 30; ++i) many += "all_reduce, ";
  std::istringstream lines(beside("  ranks 1, 2  ", many + "end"));
  std::string line;
  std::getline(lines, line);
  EXPECT_TRUE(line.starts_with("  ranks 1, 2  all_reduce, ")) << line;
  while (std::getline(lines, line)) EXPECT_EQ(line.find_first_not_of(' '), 14U) << line;
  std::istringstream rows(table({{"operation", "collectives", "took"}, {"forward", many + "end", "1s"}}));
  int ends = 0;
  while (std::getline(rows, line)) {
    EXPECT_LE(width_of(line), text_width);
    EXPECT_EQ(line.find("..."), std::string::npos) << line;
    ends += line.find("end") == std::string::npos ? 0 : 1;
  }
  EXPECT_EQ(ends, 1);
}

TEST(TextReport, ShowsThePartOfALongLineThatItsCaretPointsAt) {
  const std::string source = std::string(150, 'a') + "{here}" + std::string(150, 'b') + "\n";
  const std::string text = excerpt("f.yaml", source, {{1, 151, 6, "this", true}, {1, 1, 1, "and this", false}});
  std::istringstream lines(text);
  std::string line, shown;
  int carets = 0;
  while (std::getline(lines, line)) {
    EXPECT_LE(width_of(line), text_width) << line;
    if (line.starts_with("1 |")) shown = line;
    if (const std::size_t at = line.find("^^^^^^ this"); at != std::string::npos) {
      EXPECT_EQ(shown.substr(at, 6), "{here}");
      ++carets;
    }
    if (line.find("- and this") != std::string::npos) ++carets;
  }
  EXPECT_EQ(carets, 2) << text;
}

}  // namespace
}  // namespace pdsim::scenarios
