// Scripts as people write them, broken and repaired, each with what `pdsim run` must find in it. A script's first lines say so:
//
//   # ranks: 2
//   # finds: deadlock[missing-call]       or: nothing
//   # line: dist.barrier()                a line of the script that the report shows; may come several times

#include "tests/cli/support/program.h"
#include "tests/guests/python.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

namespace pdsim::guest_tests {
namespace {

namespace fs = std::filesystem;

struct Wanted {
  std::string ranks, finds;
  std::vector<std::string> lines;
  std::vector<std::string> flags;
};

Wanted wanted_of(const fs::path& script) {
  Wanted wanted;
  std::istringstream text(cli_tests::text_of(script));
  const auto value = [](const std::string& line, std::string_view key) {
    return line.starts_with(key) ? line.substr(key.size()) : std::string();
  };
  for (std::string line; std::getline(text, line) && line.starts_with("# ");) {
    if (const std::string ranks = value(line, "# ranks: "); !ranks.empty()) wanted.ranks = ranks;
    if (const std::string finds = value(line, "# finds: "); !finds.empty()) wanted.finds = finds;
    if (const std::string shown = value(line, "# line: "); !shown.empty()) wanted.lines.push_back(shown);
    if (const std::string flag = value(line, "# flag: "); !flag.empty()) wanted.flags.push_back(flag);
  }
  return wanted;
}

// With those for PyTorch 2.x alone, in a folder of their own, where the tests run on an interpreter that is named for them.
std::vector<fs::path> scripts() {
  std::vector<fs::path> found;
  const fs::path gallery = cli_tests::source_tree / "tests/guests/gallery";
  for (const fs::path& folder : {gallery, gallery / "torch2"})
    if (folder == gallery || python_is_named())
      for (const fs::directory_entry& entry : fs::directory_iterator(folder))
        if (entry.path().extension() == ".py") found.push_back(entry.path());
  std::sort(found.begin(), found.end());
  return found;
}

class Gallery : public testing::TestWithParam<fs::path> {};

TEST_P(Gallery, FindsWhatTheScriptSays) {
  if (python_with_torch().empty()) GTEST_SKIP() << no_torch;
  const fs::path& script = GetParam();
  if (script.parent_path().filename() == "torch2" && torch_major() < 2) GTEST_SKIP() << "for PyTorch 2.x";
  const Wanted wanted = wanted_of(script);
  const cli_tests::Folder folder;
  std::vector<std::string> arguments{"run", "-n", wanted.ranks};
  arguments.insert(arguments.end(), wanted.flags.begin(), wanted.flags.end());
  arguments.insert(arguments.end(), {"--", python_with_torch(), script.string()});
  const cli_tests::Ended run = cli_tests::run_pdsim(arguments, folder.path());
  const bool healthy = wanted.finds == "nothing";
  EXPECT_EQ(run.status, healthy ? 0 : 1) << run.output << run.problems;
  EXPECT_NE(run.output.find(healthy ? "nothing to explain" : wanted.finds), std::string::npos)
      << run.output << run.problems;
  for (const std::string& line : wanted.lines)
    EXPECT_NE(run.output.find(line), std::string::npos) << line << "\n" << run.output;
  EXPECT_TRUE(folder.names().empty()) << "it left " << folder.names().front();
}

INSTANTIATE_TEST_SUITE_P(Scripts, Gallery, testing::ValuesIn(scripts()),
                         [](const auto& script) { return script.param.stem().string(); });

}  // namespace
}  // namespace pdsim::guest_tests
