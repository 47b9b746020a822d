// Remote calls that cannot succeed: what their caller is told, that everybody ends, and what the report names.
#include "scenarios/language/loader.h"
#include "scenarios/reports/html/html_timeline.h"
#include "scenarios/reports/rank_rows.h"
#include "scenarios/reports/timeline_events.h"
#include "scenarios/run/run_scenarios.h"
#include "scenarios/worlds/worlds.h"

#include <gtest/gtest.h>

#include <regex>
#include <string>
#include <vector>

namespace pdsim::scenarios {
namespace {

// A report points to the scenario that was run, so the file is kept beside it.
struct RpcRun {
  LoadedFile file;
  Report report;
};

RpcRun rpc_run(const std::string& operation, const std::string& faults = "") {
  RpcRun run;
  const LoadedFile& file = run.file = load_text(
      "mine.yaml", "pdsim: 1\nname: mine\nsummary: s\nworld: {ranks: 2, backend: gloo}\nprogram:\n  - init_rpc\n  - " + operation +
                       "\n    when: {rank: 0}\n  - shutdown\n" + faults + "expect: {outcome: ok}\n");
  EXPECT_EQ(file.errors, 0) << (file.errors > 0 ? render(file, file.diagnostics.front()) : "");
  if (file.errors > 0) return run;
  std::string problem;
  Result<Report> report = run_scenario(file.variants.front(), *world_named("sim", problem), {});
  EXPECT_TRUE(report.ok());
  if (report.ok()) run.report = std::move(*report);
  return run;
}

const std::string adds_here = "rpc_sync: {to: worker1, function: add, args: [1, 2]}";

void expect_finding(const Report& report, std::string_view id, int line, std::string_view headline) {
  ASSERT_NE(report.diagnosis(), nullptr);
  EXPECT_EQ(report.diagnosis()->id, id);
  EXPECT_NE(report.diagnosis()->headline.find(headline), std::string::npos) << report.diagnosis()->headline;
  ASSERT_FALSE(report.diagnosis()->spans.empty());
  EXPECT_EQ(report.diagnosis()->spans.front().line, line);
}

TEST(RpcReports, OfARequestThatWasChangedPointAtTheCallAndNotAtShutdown) {
  const auto [file, report] = rpc_run(adds_here, "faults: [{corrupt: {}, match: {from: 0, to: 1}}]\n");
  EXPECT_EQ(report.outcome, Outcome::error);
  expect_finding(report, "message-corrupted", 7, "the request of worker0's rpc_sync of add was changed on its way to worker1");
  EXPECT_EQ(report.run.ranks[0].log.error.message, "eof (worker1 has shut down RPC)");
  for (const RankResult& rank : report.run.ranks) EXPECT_EQ(rank.log.end, RankEnd::raised) << "nobody hangs";
}

TEST(RpcReports, OfAChangedMessageOfShutdownPointAtShutdownAndSpeakOfNoReduction) {
  const auto [file, report] = rpc_run(adds_here, "faults: [{corrupt: {}, match: {from: 0, to: 1, nth: 2}}]\n");
  expect_finding(report, "message-corrupted", 9, "a message from rank 0 to rank 1 was changed on its way, and worker1 could not read it");
  EXPECT_EQ(report.diagnosis()->why.find("reduction"), std::string::npos) << report.diagnosis()->why;
}

TEST(RpcReports, OfAMessageThatWasLostNameRequestOrReply) {
  expect_finding(rpc_run(adds_here, "faults: [{drop: {}, match: {from: 0, to: 1}}]\n").report, "message-lost", 7,
                 "worker0 (rank 0) waits in rpc_sync of add for worker1, and the request was lost");
  expect_finding(rpc_run(adds_here, "faults: [{drop: {}, match: {from: 1, to: 0}}]\n").report, "message-lost", 7,
                 "worker0 (rank 0) waits in rpc_sync of add for worker1, and the reply was lost");
}

// Two calls that worker1 serves at once, and a third when both are over.
TEST(RpcReports, GiveCallsThatAreServedAtOnceLanesOfTheirOwn) {
  const std::string work = "rpc_async: {to: worker1, function: compute, args: [10ms]}\n    when: {rank: 0}\n    label: ";
  const auto [file, report] = rpc_run(work + "a\n  - " + work + "b\n  - wait_all: {for: [a, b]}\n    when: {rank: 0}\n  - " +
                                      "rpc_sync: {to: worker1, function: compute, args: [10ms]}");
  EXPECT_EQ(report.outcome, Outcome::ok);
  const std::vector<RankRow> rows = rank_rows(report, 16);
  const std::string picture = timeline_svg(report, rows, timeline_events(report), false).svg;
  const std::regex bar("data-rank=\"1\"[^>]* y=\"([0-9.]+)\"[^>]*><title>rank 1: serve");
  std::vector<std::string> lanes;
  for (std::sregex_iterator at(picture.begin(), picture.end(), bar), end; at != end; ++at) lanes.push_back((*at)[1]);
  ASSERT_EQ(lanes.size(), 3U) << picture;
  EXPECT_NE(lanes[0], lanes[1]);
  EXPECT_EQ(lanes[0], lanes[2]);
}

TEST(RpcReports, KeepTheTextOfWhatTheFunctionRaised) {
  const auto [file, report] = rpc_run("rpc_sync: {to: worker1, function: fail, args: [boom]}");
  EXPECT_EQ(report.run.ranks[0].log.error.code, Code::program_raised);
  EXPECT_EQ(report.run.ranks[0].log.error.message, "ValueError: On WorkerInfo(id=1, name=worker1):\nValueError('boom')");
}

// What a file cannot know before it runs.
TEST(RpcReports, OfTypesThatOnlyTheCalleeSeesComeFromTheCallee) {
  const auto [file, report] = rpc_run(
      "remote: {to: worker1, function: Counter, args: [1]}\n    label: c\n    when: {rank: 0}\n"
      "  - rpc_sync: {to: worker1, function: forward, args: [{rref: c}, {tensor: [1]}]}");
  EXPECT_EQ(report.run.ranks[0].log.error.code, Code::program_raised);
  EXPECT_NE(report.run.ranks[0].log.error.message.find("TypeError"), std::string::npos)
      << report.run.ranks[0].log.error.message;
}

}  // namespace
}  // namespace pdsim::scenarios
