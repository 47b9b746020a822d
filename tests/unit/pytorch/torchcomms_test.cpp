// Dumps of TorchComms' recorder, as its source writes them.

#include "scenarios/records/pytorch/dump.h"
#include "scenarios/records/pytorch/job.h"
#include "scenarios/run/analyse.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace pdsim::scenarios::pytorch {
namespace {

struct Made {
  std::string communicator, operation;
  bool retired = true;
};

// Texts for numbers of pg_status, ranks without brackets, one counter for all communicators, no events.
Dump dump_of_rank(Rank rank, const std::vector<Made>& calls) {
  std::string entries;
  for (std::size_t i = 0; i < calls.size(); ++i)
    entries += fmt::format(
        R"({}{{"record_id": {}, "pg_id": 0, "process_group": ["{}", "ncclx"], "collective_seq_id": {}, "p2p_seq_id": 0, "op_id": {}, )"
        R"("profiling_name": "nccl:{}", "time_created_ns": {}, "input_sizes": [[4]], "input_dtypes": ["Float"], "output_sizes": )"
        R"([[4]], "output_dtypes": ["Float"], "state": "scheduled", "time_discovered_started_ns": 0, )"
        R"("time_discovered_completed_ns": 0, "retired": {}, "timeout_ms": 600000, "is_p2p": false}})",
        i == 0 ? "" : ",", i, calls[i].communicator, i, i, calls[i].operation, 1'760'000'000'000'000'000 + 1'000'000 * static_cast<std::int64_t>(i),
        calls[i].retired);
  const std::string text = fmt::format(
      R"({{"version": "2.10", "comm_lib_version": "", "pg_config": {{"main": {{"name": "main", "desc": "ncclx", "ranks": "0,1,2"}}, )"
      R"("tp": {{"name": "tp", "desc": "ncclx", "ranks": "0,1,2"}}}}, "pg_status": {{}}, "entries": [{}]}})",
      entries);
  const Result<Tree> tree = read_tree(text);
  PDSIM_CHECK(tree.ok(), "JSON written by hand is well formed");
  return dump_of(*tree, rank).value();
}

Report report_of(std::vector<Dump> dumps, Scenario& scenario) {
  return analyse(scenario, run_of(std::move(dumps)).value(), RunWorld(pytorch_world));
}

TEST(TorchComms, EndsItsCallsByRetiringThem) {
  Scenario scenario;
  std::vector<Dump> dumps;
  for (Rank r = 0; r < 3; ++r) dumps.push_back(dump_of_rank(r, {{"main", "all_reduce"}, {"main", "all_reduce"}}));
  const Report report = report_of(dumps, scenario);
  EXPECT_TRUE(report.findings.empty());
  EXPECT_EQ(report.outcome, Outcome::ok);
}

TEST(TorchComms, NumbersTheCallsOfEachCommunicatorOnTheirOwn) {
  Scenario scenario;
  std::vector<Dump> dumps;
  for (Rank r = 0; r < 3; ++r) {  // rank 2 orders the two communicators in another way, which is right
    std::vector<Made> calls{{"main", "all_reduce"}, {"tp", "all_gather_single"}, {"main", "all_reduce"}};
    if (r == 2) std::swap(calls[0], calls[1]);
    if (r != 1) calls.push_back({"main", "broadcast", false});
    dumps.push_back(dump_of_rank(r, calls));
  }
  const Report report = report_of(dumps, scenario);
  ASSERT_EQ(report.findings.size(), 1U);
  EXPECT_EQ(report.findings.front().id, "missing-call");
  EXPECT_EQ(report.findings.front().ranks, std::vector<Rank>{1});
  EXPECT_EQ(report.findings.front().headline, "ranks 0, 2 wait in broadcast #3 for rank 1, which has not called it");
}

}  // namespace
}  // namespace pdsim::scenarios::pytorch
