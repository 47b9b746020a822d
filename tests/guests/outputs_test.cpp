// What `pdsim run` leaves besides the text report: JSON, and the files of --out.

#include "tests/cli/support/program.h"
#include "tests/guests/python.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <filesystem>
#include <string>

namespace pdsim::guest_tests {
namespace {

using Json = nlohmann::json;

constexpr const char* hanging = R"(import os
import random

import torch
import torch.distributed as dist

dist.init_process_group("gloo")
print("hello", os.environ["LOCAL_RANK"], random.random())
if dist.get_rank() == 1:
    dist.barrier()
dist.all_reduce(torch.ones(4))
)";

// What the rank says that it drew; empty: it said nothing.
std::string drawn_by(const std::string& text, int rank) {
  const std::string hello = "[rank " + std::to_string(rank) + "] hello " + std::to_string(rank) + " ";
  const std::size_t at = text.find(hello);
  return at == std::string::npos ? "" : text.substr(at + hello.size(), text.find('\n', at) - at - hello.size());
}

TEST(GuestOutputs, JsonIsAloneOnStandardOutputAndFilesAreThoseOfScenarios) {
  if (python_with_torch().empty()) GTEST_SKIP() << no_torch;
  const cli_tests::Folder folder;
  folder.write("train.py", hanging);
  const cli_tests::Ended run = cli_tests::run_pdsim(
      {"run", "-n", "2", "--json", "--out", "out", "--", python_with_torch(), "train.py"}, folder.path());
  EXPECT_EQ(run.status, 1) << run.problems;
  const Json report = Json::parse(run.output, nullptr, false);
  ASSERT_TRUE(report.is_object()) << run.output;
  EXPECT_EQ(report.at("scenario"), "train.py");
  EXPECT_EQ(report.at("ranks"), 2);
  const Json& found = report.at("variants").at(0);
  EXPECT_EQ(found.at("verdict"), "fail");
  EXPECT_EQ(found.at("outcome"), "deadlock");
  EXPECT_EQ(found.at("diagnosis").at("id"), "collective-mismatch");
  const std::string first = drawn_by(run.problems, 0), second = drawn_by(run.problems, 1);
  EXPECT_FALSE(first.empty() || second.empty()) << run.problems;
  EXPECT_NE(first, second) << "forked ranks draw as interpreters of their own do";

  const std::filesystem::path out = folder.path() / "out" / "train.py";
  EXPECT_TRUE(Json::parse(cli_tests::text_of(out / "trace.json"), nullptr, false).contains("traceEvents"));
  EXPECT_NE(cli_tests::text_of(out / "report.html").find("collective-mismatch"), std::string::npos);
  EXPECT_NE(cli_tests::text_of(out / "events.jsonl").find("all_reduce"), std::string::npos);
}

}  // namespace
}  // namespace pdsim::guest_tests
