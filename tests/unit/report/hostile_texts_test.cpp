// What a scenario or another process calls itself, in every form of the report: nothing that a terminal or browser obeys.

#include "scenarios/reports/html/html_report.h"
#include "scenarios/reports/json/json_report.h"
#include "scenarios/reports/json/trace_report.h"
#include "scenarios/reports/text/text_report.h"
#include "scenarios/run/analyse.h"
#include "scenarios/run/expectations.h"
#include "scenarios/text/printable_json.h"
#include "scenarios/text/text_layout.h"
#include "tests/unit/report/run_builder.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <string>
#include <vector>

namespace pdsim::scenarios {
namespace {

constexpr const char* hostile = "w\x1b[31m\xc2\x9b\xe2\x80\xae\xff\x08\\n\"<";

void expect_harmless(const std::string& text) {
  for (const char* obeyed : {"\x1b", "\xc2\x9b", "\xe2\x80\xae", "\xff", "\x08", "\\u001", "\\u009", "\\u202", "\\b"})
    EXPECT_EQ(text.find(obeyed), std::string::npos) << text;
}

TEST(HostileTexts, AreHarmlessInEveryFormOfTheReport) {
  Scenario scenario = scenario_of(2);
  scenario.name = scenario.variant = scenario.file = scenario.summary = hostile;
  std::vector<RankScript> scripts = train({2, {1}});
  scripts[1].site(hostile, -1, 28, 5).enter(hostile).collective(hostile, hostile, true);
  Report report = analyse(scenario, run_of(scripts));
  check_expectations(report);
  TextOptions options;
  options.source = hostile;
  expect_harmless(render_text({report}, options));
  expect_harmless(render_diagnosis(report, options));
  expect_harmless(render_html(report, hostile));
  expect_harmless(render_json({report}));
  expect_harmless(render_trace(report));
}

TEST(HostileTexts, InJsonLeaveItTheSameJson) {
  const nlohmann::ordered_json json{{"k\x1b", "a\x1b\x7f\\u001b\n\t\"\\"}, {"numbers", {1, 2.5, nullptr}}};
  const std::string text = printable_json(json.dump());
  EXPECT_EQ(text, R"({"k?":"a??\\u001b\n\t\"\\","numbers":[1,2.5,null]})");
  EXPECT_EQ(nlohmann::ordered_json::parse(text)["numbers"], json["numbers"]);
}

TEST(HostileTexts, PointAtTheEndOfALineWhoseColumnIsFarBeyondIt) {
  Span span;
  span.line = 1;
  span.column = 2'000'000'000;
  span.width = 2'000'000'000;
  span.label = "here";
  span.primary = true;
  const std::string text = excerpt("f", "a: b\n", {span});
  EXPECT_NE(text.find("\n  |     ^ here\n"), std::string::npos) << text;
}

}  // namespace
}  // namespace pdsim::scenarios
