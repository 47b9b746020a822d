#include "scenarios/reports/html/html_report.h"

#include "scenarios/language/loader.h"
#include "scenarios/reports/html/page.h"
#include "scenarios/reports/time_scale.h"
#include "scenarios/reports/timeline_events.h"
#include "scenarios/run/analyse.h"
#include "scenarios/run/expectations.h"
#include "scenarios/run/run_scenarios.h"
#include "scenarios/worlds/worlds.h"
#include "tests/unit/report/run_builder.h"
#include "tests/unit/report/well_formed.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <set>
#include <sstream>
#include <string>
#include <vector>

namespace pdsim::scenarios {
namespace {

Report hang(Scenario& scenario, int ranks) {
  scenario = scenario_of(ranks);
  scenario.variant = "broken";
  scenario.summary = "a <b> & \"c\"";
  std::vector<RankScript> scripts = train({ranks, {1}});
  scripts[1]
      .site("barrier", -1, 28, 5)
      .enter("barrier")
      .note(notes::Fault{FaultKind::slow, {}})
      .collective("barrier", "", true);
  RunRecord run = run_of(scripts);
  run.messages.push_back({0, 0, 1, 64, {100'000'000}, {105'000'000}, {105'000'000}, false});
  run.messages.push_back({1, 1, 0, 64, {200'000'000}, {}, {}, true});
  Report report = analyse(scenario, std::move(run));
  check_expectations(report);
  return report;
}

TEST(HtmlReport, IsWellFormedAndNeedsNothingElse) {
  Scenario scenario;
  const Report report = hang(scenario, 4);
  const std::string html = render_html(report, "the <text> & report\n");
  EXPECT_EQ(first_problem(html), "");
  for (const char* outside : {"http://", "https://", "src=", "href=", "@import", "url(h"}) {
    std::string rest = html;
    for (std::size_t at; (at = rest.find("http://www.w3.org/2000/svg")) != std::string::npos;) rest.erase(at, 26);
    EXPECT_EQ(rest.find(outside), std::string::npos) << outside;
  }
  EXPECT_NE(html.find("the &lt;text&gt; &amp; report"), std::string::npos);
  EXPECT_NE(html.find("class=\"hang"), std::string::npos);
  EXPECT_NE(html.find("a &lt;b&gt; &amp; &quot;c&quot;"), std::string::npos);
  EXPECT_NE(html.find("fault: slow"), std::string::npos);
  if (const char* path = std::getenv("PDSIM_SHOW_HTML"); path != nullptr) std::ofstream(path) << html;
}

TEST(HtmlReport, ABarSaysItsPlaceAndThePhaseOfTheTraining) {
  Scenario scenario;
  Report report = hang(scenario, 2);
  Call& call = report.run.ranks[0].log.calls.back();
  call.site.phase = Phase::backward;
  call.site.origin = CallOrigin{.file = {}, .label = {}, .frames = {{"step", "train.py", 12}}};
  const std::string html = render_html(report, "");
  EXPECT_NE(html.find("; train.py:12 in step; in the backward pass</title>"), std::string::npos) << html;
}

TEST(HtmlReport, HostileNamesCannotLeaveTheirElement) {
  Scenario scenario;
  Report report = hang(scenario, 2);
  scenario.name = "</script><script>alert(1)</script>";
  report.run.ranks[0].log.calls[0].name = "</script><script>alert(2)</script>";
  const std::string html = render_html(report, "</pre><script>alert(3)</script>");
  EXPECT_EQ(html.find("<script>alert"), std::string::npos);
}

// How many rows the first picture has, and the ranks of each.
std::vector<std::string> rows_of(const std::string& html) {
  std::vector<std::string> rows;
  constexpr std::string_view mark = "data-ranks=\"";
  for (std::size_t at = 0, end = html.find("</svg>", html.find("svg class=\"timeline\""));
       (at = html.find(mark, at)) < end;) {
    at += mark.size();
    rows.push_back(html.substr(at, html.find('"', at) - at));
  }
  return rows;
}

TEST(HtmlReport, RanksThatMadeTheSameCallsShareARowWhereThereAreMany) {
  Scenario scenario;
  const std::string many = render_html(hang(scenario, 20), "");
  EXPECT_EQ(first_problem(many), "");
  EXPECT_EQ(rows_of(many), (std::vector<std::string>{"0, 2..19", "1"})) << "rank 1 is the culprit";
  EXPECT_NE(many.find("<summary>19 ranks made the same calls: ranks 0, 2..19</summary>"), std::string::npos);
  const std::string few = render_html(hang(scenario, 4), "");
  EXPECT_EQ(rows_of(few), (std::vector<std::string>{"0", "1", "2", "3"}));
  EXPECT_EQ(few.find("<details>"), std::string::npos);
}

// Each rank has put its own address into the store.
TEST(HtmlReport, RanksOfARunShareRowsOnEachSideOfTheFinding) {
  const LoadedFile file = load_text("mine.yaml",
                                    "pdsim: 1\nname: mine\nsummary: s\nworld: {ranks: 20, backend: gloo}\nprogram:\n"
                                    "  - init_process_group\n  - all_reduce: {count: 4}\n    when: {rank: 1..3}\n"
                                    "  - barrier\nexpect: {outcome: ok}\n");
  ASSERT_EQ(file.errors, 0);
  std::string problem;
  const Result<Report> report = run_scenario(file.variants.front(), *world_named("sim", problem), {});
  ASSERT_TRUE(report.ok());
  EXPECT_EQ(rows_of(render_html(*report, "")), (std::vector<std::string>{"0, 4..19", "1..3"}));
}

TEST(HtmlReport, OfManyStepsHasLabelsAndLinesWithRoomBetweenThem) {
  const LoadedFile file = load_text("mine.yaml",
                                    "pdsim: 1\nname: mine\nsummary: s\nworld: {ranks: 4, backend: nccl}\nprogram:\n"
                                    "  - init_process_group\n  - repeat: {times: 1000, do: [barrier]}\nexpect: {outcome: ok}\n");
  ASSERT_EQ(file.errors, 0);
  std::string problem;
  const Result<Report> report = run_scenario(file.variants.front(), *world_named("sim", problem), {});
  ASSERT_TRUE(report.ok());
  const std::string html = render_html(*report, "");
  const auto count = [&html](const std::string& text) {
    std::size_t found = 0;
    for (std::size_t at = html.find(text); at != std::string::npos; at = html.find(text, at + 1)) ++found;
    return found;
  };
  EXPECT_GT(count("class=\"step\""), 50U);
  EXPECT_LT(count("class=\"step\""), 200U);
  EXPECT_GT(count(">step "), 5U);
  EXPECT_LT(count(">step "), 20U);
}

// The library cannot tell the calls of line 9 and line 11 apart.
TEST(HtmlReport, TheFirstDivergenceIsTheFirstCallOfAnotherPlace) {
  const LoadedFile file = load_text("mine.yaml",
                                    "pdsim: 1\nname: mine\nsummary: s\nworld: {ranks: 3, backend: gloo}\nprogram:\n  - init_process_group\n"
                                    "  - all_reduce: {count: 4}\n"
                                    "  - all_reduce: {count: 4}\n    label: a\n    when: {rank: not 1}\n"
                                    "  - all_reduce: {count: 4}\n    label: b\n  - barrier\nexpect: {outcome: deadlock}\n");
  ASSERT_EQ(file.errors, 0);
  std::string problem;
  const Result<Report> report = run_scenario(file.variants.front(), *world_named("sim", problem), {});
  ASSERT_TRUE(report.ok());
  ASSERT_NE(report->first_divergence(), nullptr);
  EXPECT_EQ(report->first_divergence()->seq, 2);
  EXPECT_EQ(report->first_divergence()->field, DivergenceKind::place);
  EXPECT_EQ(report->first_divergence()->minority, (std::vector<Rank>{1}));
  EXPECT_EQ(report->divergence->seq, 3) << "what the library compares";
  EXPECT_NE(render_html(*report, "").find("first divergence: #2"), std::string::npos);
}

std::string file_of_page(const std::string& name) {
  std::ifstream file(PDSIM_SOURCE_DIR "/scenarios/reports/html/page/" + name);
  return {std::istreambuf_iterator<char>(file), {}};
}

TEST(HtmlReport, IsMadeOfTheFilesOfThePage) {
  EXPECT_EQ(page::report_html, file_of_page("report.html"));
  EXPECT_EQ(page::report_css, file_of_page("report.css"));
  EXPECT_EQ(page::report_js, file_of_page("report.js"));
  EXPECT_EQ(page::index_html, file_of_page("index.html"));
  EXPECT_EQ(page::index_css, file_of_page("index.css"));
  EXPECT_EQ(page::index_js, file_of_page("index.js"));
  Scenario scenario;
  const std::string html = render_html(hang(scenario, 4), "{{title}}");
  EXPECT_NE(html.find(page::report_css), std::string::npos);
  EXPECT_NE(html.find(page::report_js), std::string::npos);
  EXPECT_NE(html.find("<pre>{{title}}</pre>"), std::string::npos) << "texts of a report are not filled in again";
  EXPECT_EQ(html.find("{{summary}}"), std::string::npos);
}

TEST(HtmlReport, StylesEveryClassThatItUses) {
  Scenario scenario;
  const std::string html = render_html(hang(scenario, 4), "");
  std::set<std::string> used;
  for (std::size_t at = 0; (at = html.find("class=\"", at)) != std::string::npos;) {
    at += 7;
    std::istringstream names(html.substr(at, html.find('"', at) - at));
    for (std::string name; names >> name;) used.insert(name);
  }
  EXPECT_GT(used.size(), 20U);
  for (const std::string& name : used) EXPECT_NE(page::report_css.find("." + name), std::string_view::npos) << name;
}

TEST(HtmlReport, LeavesOutRanksOfLargeWorldsAndSaysSo) {
  Scenario scenario;
  const Report report = hang(scenario, 1200);
  const std::string html = render_html(report, "");
  EXPECT_NE(html.find("1199 ranks made the same calls"), std::string::npos);
  EXPECT_NE(html.find("1135 of 1199 ranks are left out"), std::string::npos);
  EXPECT_LT(html.size(), 4U << 20);
  EXPECT_NE(html.find(">rank 1 "), std::string::npos);
}

TEST(TimelineEvents, AreThoseAroundTheDivergenceWhereThereAreMore) {
  Scenario scenario;
  const Report report = hang(scenario, 4);
  const TimelineEvents all = timeline_events(report);
  EXPECT_EQ(all.left_out, 0U);
  const TimelineEvents some = timeline_events(report, {}, 12);
  EXPECT_EQ(some.events.size(), 12U);
  EXPECT_EQ(some.left_out, all.events.size() - 12);
  const auto is_blocked = [](const TimelineEvent& e) { return e.blocked; };
  EXPECT_EQ(std::count_if(some.events.begin(), some.events.end(), is_blocked),
            std::count_if(all.events.begin(), all.events.end(), is_blocked))
      << "what is blocked is the point";
  for (const TimelineEvent& e : timeline_events(report, {2}).events) EXPECT_EQ(e.rank, 2);
}

TEST(TimeScale, FoldsWhatIsLongerThanEverythingElse) {
  const std::vector<Time> moments{{0}, {10}, {20}, {30'000'000}, {30'000'010}};
  const TimeScale folded(moments, 100.0, 500.0, true);
  ASSERT_EQ(folded.gaps().size(), 1U);
  EXPECT_NEAR(folded.x({30'000'000}) - folded.x({20}), TimeScale::gap_width, 1e-6);
  EXPECT_NEAR(folded.x({30'000'010}), 600.0, 1e-6);
  EXPECT_NEAR(folded.x({0}), 100.0, 1e-6);
  const TimeScale straight(moments, 100.0, 500.0, false);
  EXPECT_TRUE(straight.gaps().empty());
  EXPECT_LT(straight.x({20}), 100.1);
}

TEST(TimeScale, StandsASingleMomentAndNone) {
  EXPECT_EQ(TimeScale({}, 5.0, 10.0, true).x({7}), 5.0);
  EXPECT_EQ(TimeScale({{7}, {7}}, 5.0, 10.0, true).x({9}), 5.0);
}

}  // namespace
}  // namespace pdsim::scenarios
