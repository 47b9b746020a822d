// Scripts as people write them, broken and repaired, each with what `pdsim run` must find in it. A script's first lines say so:
//
//   # ranks: 2                            none: the script starts its ranks itself
//   # finds: deadlock[missing-call]       or: nothing
//   # line: dist.barrier()                a line of the script that the report shows; may come several times
//   # says: Tensors must be CUDA          words of the report, however it breaks its lines
//   # when: slow                          only in the long run of tests
//   # finds on torch 2: nothing          instead of `finds`, `line`, `says` and `saved`, where PyTorch itself does something else
//   # saved: differs                      the calls alone, which --save writes, do not show the same
//   # world: {nodes: 2}                   of its --world; # flag: another of the command's

#include "tests/cli/support/program.h"
#include "tests/guests/python.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <sstream>
#include <string>
#include <string_view>
#include <sys/resource.h>
#include <vector>

namespace pdsim::guest_tests {
namespace {

namespace fs = std::filesystem;

struct Wanted {
  std::string ranks, finds;
  bool slow = false;
  std::vector<std::string> lines, words, flags;
  std::string world, saved, finds_on_2;
};

Wanted wanted_of(const fs::path& script) {
  Wanted wanted;
  std::istringstream text(cli_tests::text_of(script));
  const auto value = [](const std::string& line, std::string_view key) {
    return line.starts_with(key) ? line.substr(key.size()) : std::string();
  };
  for (std::string line; std::getline(text, line) && line.starts_with("# ");) {
    wanted.slow = wanted.slow || line == "# when: slow";
    if (const std::string ranks = value(line, "# ranks: "); !ranks.empty()) wanted.ranks = ranks;
    if (const std::string finds = value(line, "# finds: "); !finds.empty()) wanted.finds = finds;
    if (const std::string shown = value(line, "# line: "); !shown.empty()) wanted.lines.push_back(shown);
    if (const std::string said = value(line, "# says: "); !said.empty()) wanted.words.push_back(said);
    if (const std::string world = value(line, "# world: "); !world.empty()) wanted.world = world;
    if (const std::string finds = value(line, "# finds on torch 2: "); !finds.empty()) wanted.finds_on_2 = finds;
    if (const std::string saved = value(line, "# saved: "); !saved.empty()) wanted.saved = saved;
    if (const std::string flag = value(line, "# flag: "); !flag.empty()) wanted.flags.push_back(flag);
  }
  return wanted;
}

// With those for PyTorch 2.x alone, in a folder of their own, where the tests run on an interpreter that is named for them.
std::vector<fs::path> scripts(bool slow) {
  std::vector<fs::path> found;
  for (const fs::directory_entry& entry :
       fs::recursive_directory_iterator(cli_tests::source_tree / "tests/guests/gallery")) {
    const fs::path& path = entry.path();
    const bool taken = path.parent_path().filename() != "torch2" || python_is_named();
    if (path.extension() == ".py" && taken && wanted_of(path).slow == slow) found.push_back(path);
  }
  std::sort(found.begin(), found.end());
  return found;
}

std::string in_one_line(const std::string& text) {
  std::istringstream words(text);
  std::string line;
  for (std::string word; words >> word;) line += (line.empty() ? "" : " ") + word;
  return line;
}

struct TimeOfChildren {
  double wall = 0, processor = 0;  // in seconds
};

TimeOfChildren time_of_children() {
  rusage used{};
  getrusage(RUSAGE_CHILDREN, &used);
  const auto seconds = [](const timeval& t) { return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) * 1e-6; };
  const std::chrono::duration<double> now = std::chrono::steady_clock::now().time_since_epoch();
  return {now.count(), seconds(used.ru_utime) + seconds(used.ru_stime)};
}

class Gallery : public testing::TestWithParam<fs::path> {};

TEST_P(Gallery, FindsWhatTheScriptSays) {
  if (python_with_torch().empty()) GTEST_SKIP() << no_torch;
  const fs::path& script = GetParam();
  if (script.parent_path().filename() == "torch2" && torch_major() < 2) GTEST_SKIP() << "for PyTorch 2.x";
  Wanted wanted = wanted_of(script);
  if (!wanted.finds_on_2.empty() && torch_major() >= 2) {
    wanted.finds = wanted.finds_on_2;
    wanted.lines.clear();
    wanted.words.clear();
    wanted.saved.clear();
  }
  const cli_tests::Folder folder;
  std::vector<std::string> arguments{"run"};
  if (!wanted.ranks.empty()) arguments.insert(arguments.end(), {"-n", wanted.ranks});
  if (!wanted.world.empty()) {
    folder.write("world.yaml", wanted.world + "\n");
    arguments.insert(arguments.end(), {"--world", "world.yaml"});
  }
  arguments.insert(arguments.end(), wanted.flags.begin(), wanted.flags.end());
  const std::string saved = "saved_calls.yaml";
  arguments.insert(arguments.end(), {"--save", saved, "--", python_with_torch(), script.string()});
  const TimeOfChildren before = time_of_children();
  const cli_tests::Ended run = cli_tests::run_pdsim(arguments, folder.path());
  const TimeOfChildren after = time_of_children();
  std::printf("%s: %.1f s, %.1f s of processor time\n", script.stem().c_str(), after.wall - before.wall,
              after.processor - before.processor);
  const bool healthy = wanted.finds == "nothing";
  EXPECT_EQ(run.status, healthy ? 0 : 1) << run.output << run.problems;
  EXPECT_NE(run.output.find(healthy ? "nothing to explain" : wanted.finds), std::string::npos)
      << run.output << run.problems;
  for (const std::string& line : wanted.lines)
    EXPECT_NE(run.output.find(line), std::string::npos) << line << "\n" << run.output;
  const std::string all = in_one_line(run.output);
  for (const std::string& said : wanted.words) EXPECT_NE(all.find(said), std::string::npos) << said << "\n" << run.output;
  for (const std::string& name : folder.names()) EXPECT_TRUE(name == "world.yaml" || name == saved) << name << " is left";
  const std::string shows = wanted.saved.empty() ? "shows the same without the script" : "does not show the same";
  EXPECT_NE(run.output.find(shows), std::string::npos) << run.output;
  EXPECT_EQ(run.output.find("could not be written"), std::string::npos) << run.output;
  const cli_tests::Ended alone = cli_tests::run_pdsim({"scenario", saved}, folder.path());
  EXPECT_EQ(alone.status, 0) << alone.output << alone.problems << cli_tests::text_of(folder.path() / saved);
  EXPECT_EQ(cli_tests::run_pdsim({"check", saved}, folder.path()).status, 0) << cli_tests::text_of(folder.path() / saved);
}

std::string name_of_test(const testing::TestParamInfo<fs::path>& script) {
  return script.param.parent_path().filename().string() + "_" + script.param.stem().string();
}

INSTANTIATE_TEST_SUITE_P(Scripts, Gallery, testing::ValuesIn(scripts(false)), name_of_test);
INSTANTIATE_TEST_SUITE_P(DISABLED_MoreScripts, Gallery, testing::ValuesIn(scripts(true)), name_of_test);

}  // namespace
}  // namespace pdsim::guest_tests
