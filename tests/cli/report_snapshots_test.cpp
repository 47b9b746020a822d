// The reports of the catalog as the command prints them, line by line.
//
//   rewrite   PDSIM_UPDATE_SNAPSHOTS=1 ctest --test-dir build -R ReportSnapshots ; then read the difference like code
//   left out  how long the run took on this machine, and fingerprints, which have tests of their own

#include "tests/cli/program.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <regex>
#include <sstream>
#include <string>
#include <vector>

namespace pdsim::cli_tests {
namespace {

namespace fs = std::filesystem;

const fs::path snapshots = source_tree / "tests" / "cli" / "snapshots";

std::vector<std::string> catalog() {
  std::vector<std::string> files;
  for (const auto& entry : fs::directory_iterator(source_tree / "scenarios"))
    if (entry.path().extension() == ".yaml") files.push_back("scenarios/" + entry.path().filename().string());
  std::sort(files.begin(), files.end());
  return files;
}

// "... fingerprint ...   simulated 3ms in 12ms" without what belongs to the machine or to another test.
std::string steady(const std::string& text) {
  const std::regex last(R"(   fingerprint [0-9a-f]{16}   simulated (\S+) in \d[0-9.]*[mun]?s\n$)");
  EXPECT_TRUE(std::regex_search(text, last)) << "the last line has another form: " << text;
  return std::regex_replace(text, last, "   fingerprint ...   simulated $1 in ...\n");
}

void expect_snapshot(const std::string& name, const std::string& text) {
  const fs::path path = snapshots / (name + ".txt");
  if (std::getenv("PDSIM_UPDATE_SNAPSHOTS") != nullptr) {
    fs::create_directories(snapshots);
    std::ofstream(path) << text;
    return;
  }
  std::ifstream file(path);
  ASSERT_TRUE(file) << path << " is missing; PDSIM_UPDATE_SNAPSHOTS=1 writes it";
  std::ostringstream expected;
  expected << file.rdbuf();
  EXPECT_EQ(text, expected.str()) << "if the change is meant, PDSIM_UPDATE_SNAPSHOTS=1 rewrites " << path;
}

TEST(ReportSnapshots, OfEveryFileAndEveryVariantThatDoesNotEndWell) {
  for (const std::string& file : catalog()) {
    const std::string name = fs::path(file).stem().string();
    const Ended all = run_pdsim({"scenario", file}, source_tree);
    EXPECT_EQ(all.status, 0) << all.output << all.problems;
    expect_snapshot(name, steady(all.output));
    const Ended json = run_pdsim({"scenario", file, "--json"}, source_tree);
    const nlohmann::json object = nlohmann::json::parse(json.output);
    for (const auto& variant : object["variants"]) {
      const std::string variant_name = variant["name"];
      if (variant["outcome"] == "ok") continue;
      const Ended one = run_pdsim({"scenario", file, "--variant", variant_name}, source_tree);
      EXPECT_EQ(one.status, 0) << one.output << one.problems;
      expect_snapshot(name + "." + variant_name, steady(one.output));
    }
  }
}

TEST(ReportSnapshots, LinesAreAtMostHundredColumnsAndReportsAtMostSixtyFiveLines) {
  for (const std::string& file : catalog()) {
    std::istringstream lines(run_pdsim({"scenario", file}, source_tree).output);
    int count = 0;
    for (std::string line; std::getline(lines, line); ++count) {
      const auto is_character = [](char c) { return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U; };
      EXPECT_LE(std::count_if(line.begin(), line.end(), is_character), 100) << file << ": " << line;
    }
    EXPECT_LE(count, 65) << file;
  }
}

}  // namespace
}  // namespace pdsim::cli_tests
