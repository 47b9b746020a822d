// Scripts as people write them, broken and repaired, each with what `pdsim run` must find in it; they run as train.py. A script's first
// lines say so:
//
//   # ranks: 2                            none: the script starts its ranks itself
//   # finds: deadlock[missing-call]       or: nothing
//   # line: dist.barrier()                a line of the script that the report shows; may come several times
//   # says: Tensors must be CUDA          words of the report, however it breaks its lines
//   # when: slow                          only in the long run of tests
//   # finds on torch 2.14: nothing       from that version on instead of `finds`, `line`, `says` and `saved`, where PyTorch itself does something else
//   # saved: differs                      the calls alone, which --save writes, do not show the same
//   # on real: nothing                   with --on real it ends well; by chance: there it may
//   # world: {nodes: 2}                   of its --world

#include "tests/cli/support/program.h"
#include "tests/guests/python.h"
#include "tests/guests/scripts_in_turn.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <optional>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

namespace pdsim::guest_tests {
namespace {

namespace fs = std::filesystem;

struct Wanted {
  std::string ranks, finds;
  bool slow = false;
  std::vector<std::string> lines, words;
  std::string world, saved, finds_later;
  std::pair<int, int> later;  // the version of PyTorch since which it finds that
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
    if (const std::string later = value(line, "# finds on torch "); !later.empty()) {
      const std::size_t colon = later.find(": ");
      wanted.finds_later = later.substr(colon + 2);
      std::sscanf(later.c_str(), "%d.%d", &wanted.later.first, &wanted.later.second);
    }
    if (const std::string saved = value(line, "# saved: "); !saved.empty()) wanted.saved = saved;
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

std::string name_of(const fs::path& script) {
  return script.parent_path().filename().string() + "_" + script.stem().string();
}

bool is_too_new(const fs::path& script) { return script.parent_path().filename() == "torch2" && torch_version().first < 2; }

constexpr const char* saved_calls = "saved_calls.yaml";  // by ScriptRun::saves

class Gallery : public testing::TestWithParam<fs::path> {
 protected:
  static void SetUpTestSuite() {
    if (python_with_torch().empty()) return;
    const std::vector<std::string> chosen = parameters_to_run();
    std::map<std::string, ScriptRun> runs;
    for (const bool slow : {false, true})
      for (const fs::path& script : scripts(slow)) {
        const std::string name = name_of(script);
        if (is_too_new(script) || std::find(chosen.begin(), chosen.end(), name) == chosen.end()) continue;
        const Wanted wanted = wanted_of(script);
        ScriptRun& run = runs[name];
        run.script = cli_tests::text_of(script);
        run.ranks = wanted.ranks.empty() ? 0 : std::stoi(wanted.ranks);
        if (!wanted.world.empty()) run.world = wanted.world + "\n";
        run.saves = true;
      }
    all().emplace(runs);
  }
  static void TearDownTestSuite() { all().reset(); }

  static std::optional<ScriptsInTurn>& all() {
    static std::optional<ScriptsInTurn> runs;
    return runs;
  }
};

TEST_P(Gallery, FindsWhatTheScriptSays) {
  if (python_with_torch().empty()) GTEST_SKIP() << no_torch;
  const fs::path& script = GetParam();
  if (is_too_new(script)) GTEST_SKIP() << "for PyTorch 2.x";
  Wanted wanted = wanted_of(script);
  if (!wanted.finds_later.empty() && torch_version() >= wanted.later) {
    wanted.finds = wanted.finds_later;
    wanted.lines.clear();
    wanted.words.clear();
    wanted.saved.clear();
  }
  const cli_tests::Ended& run = all()->ended(name_of(script));
  const fs::path folder = all()->folder_of(name_of(script));
  const bool healthy = wanted.finds == "nothing";
  EXPECT_EQ(run.status, healthy ? 0 : 1) << run.output << run.problems;
  EXPECT_NE(run.output.find(healthy ? "nothing to explain" : wanted.finds), std::string::npos)
      << run.output << run.problems;
  for (const std::string& line : wanted.lines)
    EXPECT_NE(run.output.find(line), std::string::npos) << line << "\n" << run.output;
  const std::string all = in_one_line(run.output);
  for (const std::string& said : wanted.words) EXPECT_NE(all.find(said), std::string::npos) << said << "\n" << run.output;
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(folder)) {
    const std::string name = entry.path().filename().string();
    EXPECT_TRUE(name == "train.py" || name == "world.yaml" || name == saved_calls) << name << " is left";
  }
  const std::string shows = wanted.saved.empty() ? "reproduces the run without the script" : "does not reproduce the run";
  EXPECT_NE(run.output.find(shows), std::string::npos) << run.output;
  EXPECT_EQ(run.output.find("could not be written"), std::string::npos) << run.output;
  const cli_tests::Ended alone = cli_tests::run_pdsim({"scenario", saved_calls}, folder);
  EXPECT_EQ(alone.status, 0) << alone.output << alone.problems << cli_tests::text_of(folder / saved_calls);
  EXPECT_EQ(cli_tests::run_pdsim({"check", saved_calls}, folder).status, 0) << cli_tests::text_of(folder / saved_calls);
}

std::string name_of_test(const testing::TestParamInfo<fs::path>& script) {
  return name_of(script.param);
}

INSTANTIATE_TEST_SUITE_P(Scripts, Gallery, testing::ValuesIn(scripts(false)), name_of_test);
INSTANTIATE_TEST_SUITE_P(DISABLED_MoreScripts, Gallery, testing::ValuesIn(scripts(true)), name_of_test);

}  // namespace
}  // namespace pdsim::guest_tests
