// What a report on dumps shows of many ranks: the answer first, equal ranks and groups folded, times of day, lists that are not cut.

#include "scenarios/reports/dumped/dump_report.h"

#include "scenarios/reports/json/findings_json.h"
#include "scenarios/reports/html/html_report.h"
#include "tests/unit/pytorch/dumps.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <sstream>

namespace pdsim::scenarios::pytorch {
namespace {

constexpr EntryState still_open = EntryState::scheduled;

void expect_part(const std::string& text, const std::string& part) {
  EXPECT_NE(text.find(part), std::string::npos) << part << "\nis not in\n" << text;
}

// Rank 3 of 8 does not make the last call.
std::vector<DumpScript> one_missing() {
  std::vector<DumpScript> ranks;
  for (Rank r = 0; r < 8; ++r) {
    ranks.push_back(DumpScript(r, 8).calls(5));
    if (r != 3) ranks.back().call("nccl:all_reduce", still_open);
  }
  return ranks;
}

// Every fourth rank leaves out the call of its own group of two, in a job of so many.
std::vector<DumpScript> pairs(int size) {
  std::vector<DumpScript> ranks;
  for (Rank r = 0; r < size; ++r) {
    const std::string name = fmt::format("pair{}", r / 2);
    DumpScript rank(r, size);
    rank.group(name, name, {r / 2 * 2, r / 2 * 2 + 1}).calls(2).in(name, name);
    if (r % 4 != 0) rank.call("nccl:all_reduce", still_open);
    ranks.push_back(rank);
  }
  return ranks;
}

TEST(DumpReport, BeginsWithTheAnswer) {
  const auto d = diagnosed(one_missing());
  const std::string text = render_dumps(d->report);
  expect_part(text,
              "deadlock[missing-call]: ranks 0..2, 4..7 wait in all_reduce #6 for rank 3, which has not called it\n"
              "  who     rank 3: no open call since ");
  expect_part(text, "\n  call    all_reduce #6 of group default_pg, train.py:15 in train_step, since ");
  expect_part(text, "\n  others  ranks 0..2, 4..7 wait in this call\n  next    while the job hangs, run `py-spy dump");
  EXPECT_LT(text.find("  next "), text.find("\nwhy\n"));
}

TEST(DumpReport, HasTheTimesOfDay) {
  const std::string text = render_dumps(diagnosed(one_missing())->report);
  expect_part(text, "calls from 2023-11-14 22:13:20.");  // of began_ns
  EXPECT_EQ(text.find("0ns"), std::string::npos) << text;
}

TEST(DumpReport, TablesTheGroupsByHowFarTheirRanksCame) {
  const std::string text = render_dumps(diagnosed(one_missing())->report);
  expect_part(text, "  default_pg  3           5         5\n              0..2, 4..7  6         5          all_reduce #6 ");
}

TEST(DumpReport, FoldsGroupsInWhichTheSameHappens) {
  const auto d = diagnosed(pairs(32));
  const std::string text = render_dumps(d->report);
  EXPECT_EQ(d->report.findings.size(), 8U);
  expect_part(text, "the same in 7 more groups: pair10, ");
  expect_part(text, "and 2 more findings; --json lists all\n");
}

TEST(DumpReport, CutsNoListInANumber) {
  const std::string text = render_dumps(diagnosed(pairs(64))->report);
  EXPECT_EQ(text.substr(0, text.find("\ntimeline")).find("...\n"), std::string::npos) << text;  // whose dots are waits
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 104U) << line;
}

TEST(DumpReport, SaysThatAFileIsDamagedAndNotThatThereIsNone) {
  std::vector<DumpScript> ranks = one_missing();
  ranks.erase(ranks.begin() + 3);
  const auto run = diagnosed(ranks, std::nullopt, {3});
  expect_part(render_dumps(run->report), "who     rank 3: its file cannot be read\n");
  EXPECT_EQ(run->headline(), "ranks 0..2, 4..7 wait in all_reduce #6 for rank 3, whose record cannot be read");
  EXPECT_EQ(render_dumps(run->report).find("left no record"), std::string::npos);
}

TEST(DumpReport, SaysOfACallThatFailedThatItFailedAndNotThatRanksWaitInIt) {
  std::vector<DumpScript> ranks;
  for (Rank r = 0; r < 4; ++r) {
    ranks.push_back(DumpScript(r, 4).calls(5));
    if (r == 3) continue;
    ranks.back().call("nccl:all_reduce");
    ranks.back().last().completed_ns = ranks.back().last().created_ns + 600'000'000'000;  // its timeout
  }
  const std::string text = render_dumps(diagnosed(ranks)->report);
  expect_part(text, "\n  others  ranks 0..2 made this call, and it failed there\n");
  expect_part(text, "all_reduce #6, failed");
  expect_part(text, "  ranks 0..2 waited in all_reduce #6");
  EXPECT_EQ(text.find("wait in"), std::string::npos) << text;
}

TEST(DumpReport, BlamesNoDeviceForACallThatNobodyElseHasLeft) {
  std::vector<DumpScript> ranks;
  for (Rank r = 0; r < 4; ++r)
    ranks.push_back(DumpScript(r, 4).group("1", "pair", {0, 3}).calls(5));
  for (const std::size_t r : {0U, 3U}) ranks[r].in("1", "pair").call("nccl:all_reduce", EntryState::started);
  for (const std::size_t r : {1U, 2U}) ranks[r].call("nccl:all_reduce", EntryState::started);
  const auto d = diagnosed(ranks);
  EXPECT_EQ(d->id(), "all-stuck");
  EXPECT_TRUE(d->report.diagnosis()->ranks.empty());
  EXPECT_EQ(d->headline(), "ranks 0, 3 are all in all_reduce #1, which does not complete");
}

TEST(DumpReport, GivesGloosRetiredCallsForDoneOrFailed) {
  std::vector<DumpScript> ranks;
  for (Rank r = 0; r < 3; ++r) ranks.push_back(DumpScript(r, 3).calls(3, "gloo:all_reduce").retire());
  ranks[0].last().retired = false;
  ranks.pop_back();  // rank 2 left no dump
  expect_part(render_dumps(diagnosed(ranks)->report), "all_reduce #3 or failed");
}

TEST(DumpReport, InJsonHasGroupsAndTheNextStep) {
  const nlohmann::json json = nlohmann::json::parse(render_findings(diagnosed(one_missing())->report));
  ASSERT_EQ(json["groups"].size(), 1U) << json;
  EXPECT_EQ(json["groups"][0]["members"][0]["ranks"], nlohmann::json({3}));
  EXPECT_EQ(json["groups"][0]["members"][0]["enqueued"], 5);
  EXPECT_EQ(json["groups"][0]["members"][1]["open_seq"], 6);
  EXPECT_EQ(json["from"].get<std::string>().substr(0, 10), "2023-11-14");
  EXPECT_NE(json["findings"][0]["next"].get<std::string>().find("py-spy"), std::string::npos);
}

TEST(DumpReport, AsAPageHasTheAnswerAndNoVerdict) {
  const auto d = diagnosed(one_missing());
  const std::string page = render_html(d->report, render_dumps(d->report));
  expect_part(page, "<dt>who</dt><dd>rank 3: no open call since ");
  EXPECT_EQ(page.find("class=\"verdict"), std::string::npos);
}

}  // namespace
}  // namespace pdsim::scenarios::pytorch
