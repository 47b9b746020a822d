#include "tests/guests/scripts_in_turn.h"

#include "tests/guests/python.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <fstream>

namespace pdsim::guest_tests {
namespace {

namespace fs = std::filesystem;

void write_job(const fs::path& job, const ScriptRun& run) {
  fs::create_directories(job / "files");
  nlohmann::json flags{{"python", python_with_torch()}, {"ranks", run.ranks}};
  if (run.saves) flags["save"] = "saved_calls.yaml";
  if (run.writes) flags["out"] = "out";
  if (!run.world.empty()) {
    flags["world"] = "world.yaml";
    std::ofstream(job / "files/world.yaml") << run.world;
  }
  std::ofstream(job / "files/train.py") << run.script;
  std::ofstream(job / "flags.json") << flags;
}

cli_tests::Ended ended_in(const fs::path& job) {
  cli_tests::Ended ended{127, cli_tests::text_of(job / "output"), cli_tests::text_of(job / "problems")};
  std::ifstream(job / "status") >> ended.status;
  return ended;
}

}  // namespace

ScriptsInTurn::ScriptsInTurn(const std::map<std::string, ScriptRun>& runs) {
  const fs::path here = folder_.path() / "here";
  fs::create_directories(here);
  std::vector<std::string> jobs;
  for (const auto& [name, run] : runs) {
    jobs.push_back((folder_.path() / "jobs" / name).string());
    write_job(jobs.back(), run);
  }
  cli_tests::RunOptions how;
  how.program = PDSIM_SCRIPTS_IN_TURN;
  const cli_tests::Ended all = cli_tests::run_pdsim(jobs, here, how);
  EXPECT_EQ(all.status, 0) << all.output << all.problems;
  for (const auto& [name, run] : runs) ended_[name] = ended_in(folder_.path() / "jobs" / name);
}

std::vector<std::string> parameters_to_run() {
  std::vector<std::string> names;
  const testing::TestSuite& suite = *testing::UnitTest::GetInstance()->current_test_suite();
  for (int i = 0; i < suite.total_test_count(); ++i) {
    const testing::TestInfo& test = *suite.GetTestInfo(i);
    const std::string name = test.name();
    if (test.should_run()) names.push_back(name.substr(name.find('/') + 1));
  }
  return names;
}

}  // namespace pdsim::guest_tests
