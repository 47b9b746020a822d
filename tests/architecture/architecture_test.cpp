// Reads the sources of the whole project: the arrows between rooms point one way, nothing hides state, and comments cite what is there.

#include "tests/architecture/rules.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <map>
#include <set>
#include <string>

namespace pdsim::architecture {
namespace {

using Rule = std::function<Problems(std::string_view path, std::string_view text)>;

std::string text_of(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

// Every problem of the project's sources under `rule`, one per line.
std::string problems_of_project(const Rule& rule) {
  std::string found;
  int files = 0;
  const std::filesystem::path root = PDSIM_SOURCE_DIR;
  for (const char* folder : {"core", "sim", "backends", "scenarios", "tools", "tests"}) {
    if (!std::filesystem::exists(root / folder)) continue;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(root / folder)) {
      const std::string extension = entry.path().extension().string();
      if (extension != ".h" && extension != ".cpp") continue;
      ++files;
      const std::string path = entry.path().lexically_relative(root).generic_string();
      for (const Problem& problem : rule(path, text_of(entry.path())))
        found += problem.where + "  " + problem.what + "\n";
    }
  }
  EXPECT_GT(files, 20) << "the sources were not found below " << root;
  return found;
}

TEST(Architecture, IncludesOnlyPointDownwards) { EXPECT_EQ(problems_of_project(include_problems), ""); }
TEST(Architecture, EveryFolderOfALayerIsARoom) { EXPECT_EQ(problems_of_project(room_problems), ""); }
TEST(Architecture, CommentsCiteWhatIsInTheRepository) {
  const std::filesystem::path root = PDSIM_SOURCE_DIR;
  const auto exists = [&root](const std::string& file) { return std::filesystem::exists(root / file); };
  EXPECT_EQ(problems_of_project([&exists](std::string_view path, std::string_view text) {
              return citation_problems(path, text, exists);
            }),
            "");
}
TEST(Architecture, CoreAndSimHideNoState) { EXPECT_EQ(problems_of_project(hidden_state_problems), ""); }
TEST(Architecture, RulesReadTheRecordAlone) { EXPECT_EQ(problems_of_project(rule_problems), ""); }
TEST(Architecture, NoFileIsLongerThanFiveHundredLines) { EXPECT_EQ(problems_of_project(size_problems), ""); }

TEST(Architecture, NoFolderHoldsMoreFilesThanAReaderTakesIn) {
  std::map<std::string, int> files_in;
  const std::filesystem::path root = PDSIM_SOURCE_DIR;
  for (const char* folder : {"core", "sim", "backends", "scenarios", "tools", "tests", "docs"})
    for (const auto& entry : std::filesystem::recursive_directory_iterator(root / folder)) {
      const std::string parent = entry.path().parent_path().lexically_relative(root).generic_string();
      if (entry.is_regular_file() && !parent.ends_with("__pycache__")) ++files_in[parent];
    }
  std::string found;
  for (const auto& [folder, files] : files_in)
    for (const Problem& problem : folder_problems(folder, files)) found += problem.where + "  " + problem.what + "\n";
  EXPECT_EQ(found, "");
}

TEST(Architecture, TheTopLevelHoldsWhatTheDesignNames) {
  const std::set<std::string> named{"CMakeLists.txt", "CMakePresets.json",
                                    "CHANGELOG.md",   "LICENSE",
                                    "README.md",      "core",
                                    "backends",       "sim",
                                    "scenarios",      "tests",
                                    "tools",          "docs"};
  for (const auto& entry : std::filesystem::directory_iterator(PDSIM_SOURCE_DIR)) {
    const std::string name = entry.path().filename().string();
    const bool ignored = name.starts_with(".") || name.starts_with("build") || name == "pdsim-out";
    EXPECT_TRUE(ignored || named.count(name) == 1) << name;
  }
}

TEST(IncludeRule, CatchesEveryForbiddenArrow) {
  const std::string_view forbidden[][2] = {
      {"core/base/a.h", "#include \"sim/kernel/scheduler.h\"\n"},
      {"sim/a.cpp", "#include \"backends/gloo/a.h\"\n"},
      {"backends/gloo/a.cpp", "#include \"sim/a.h\"\n"},
      {"backends/gloo/a.cpp", "#include \"backends/mpi/a.h\"\n"},
      {"sim/a.cpp", "#include \"scenarios/worlds/world.h\"\n"},
      {"scenarios/run/a.cpp", "#include \"tools/command.h\"\n"},
      {"core/base/a.cpp", "#include \"core/group/a.h\"\n"},
      {"core/nn/a.cpp", "#include \"core/store/a.h\"\n"},
      {"sim/kernel/a.cpp", "#include \"sim/world/a.h\"\n"},
      {"backends/gloo/a.cpp", "#include \"backends/launch/a.h\"\n"},
      {"scenarios/language/a.cpp", "#include \"scenarios/diagnosis/a.h\"\n"},
      {"scenarios/diagnosis/rules/a.cpp", "#include \"scenarios/program/a.h\"\n"},
      {"core/base/a.cpp", "#include <boost/fiber/all.hpp>\n"},
      {"core/base/a.cpp", "#include <Eigen/Core>\n"},
      {"core/nn/a.h", "#include <Eigen/Core>\n"},
      {"scenarios/language/a.h", "#include <yaml-cpp/yaml.h>\n"},
      {"scenarios/run/a.cpp", "#include <CLI/CLI.hpp>\n"},
      {"sim/a.cpp", "#include <unistd.h>\n"},
  };
  for (const auto& [path, text] : forbidden) EXPECT_EQ(include_problems(path, text).size(), 1U) << path << " " << text;
}

TEST(IncludeRule, AllowsWhatTheDesignDraws) {
  const std::string_view allowed[][2] = {
      {"core/base/a.h", "#include \"core/base/b.h\"\n"},
      {"sim/a.cpp", "#include <boost/fiber/all.hpp>\n"},
      {"core/nn/a.cpp", "#include <Eigen/Core>\n"},
      {"backends/gloo/a.cpp", "#include <gloo/context.h>\n"},
      {"tools/a.cpp", "#include \"scenarios/run/a.h\"\n"},
      {"core/base/a.cpp", "#include <vector>\n"},
      {"core/base/a.cpp", "// #include \"sim/kernel/scheduler.h\"\n"},
  };
  for (const auto& [path, text] : allowed) EXPECT_TRUE(include_problems(path, text).empty()) << path << " " << text;
}

TEST(HiddenStateRule, CatchesClocksAndHashOrderButNotWordsThatContainThem) {
  EXPECT_EQ(hidden_state_problems("core/a.cpp", "auto t = std::chrono::steady_clock::now();\n").size(), 1U);
  EXPECT_EQ(hidden_state_problems("sim/a.cpp", "int x;\nstd::unordered_map<int, int> m;\n").size(), 1U);
  EXPECT_EQ(hidden_state_problems("sim/a.cpp", "\nint n = rand();\n").front().where, "sim/a.cpp:2");
  EXPECT_TRUE(hidden_state_problems("sim/a.cpp", "int operand = strand(1);  // no rand here\n").empty());
  EXPECT_TRUE(hidden_state_problems("backends/a.cpp", "std::chrono::steady_clock::now();\n").empty());
}

TEST(RoomRule, CatchesAFolderWithoutARoom) {
  EXPECT_EQ(room_problems("core/attic/a.h", "").size(), 1U);
  EXPECT_TRUE(room_problems("core/base/a.h", "").empty());
  EXPECT_TRUE(room_problems("sim/run.h", "").empty());
  EXPECT_TRUE(room_problems("tools/attic/a.cpp", "").empty());
}

TEST(CitationRule, CatchesFilesThatAreNotThereAndPagesThatNobodyCanOpen) {
  const auto exists = [](const std::string& file) { return file == "docs/ddp.md" || file == "core/base"; };
  const auto problems = [&exists](std::string_view text) { return citation_problems("a.h", text, exists).size(); };
  EXPECT_EQ(problems("int a;  // docs/ddp.md, core/base/.\n"), 0U);
  EXPECT_EQ(problems("// as (docs/dpd.md) says\n"), 1U);
  EXPECT_EQ(problems("// SEMANTICS 1.2\n"), 1U);
  EXPECT_EQ(problems("// tests/oracle/misuse_*.json, torch/csrc/core/a.h\n"), 0U);
  EXPECT_EQ(problems("f(\"// docs/dpd.md\");\n"), 0U);
}

TEST(SizeRule, AllowsFiveHundredLinesAndNotOneMore) {
  EXPECT_EQ(rule_problems("scenarios/diagnosis/rules/a.cpp", "if (report.scenario != nullptr) f();\n").size(), 1U);
  EXPECT_TRUE(rule_problems("scenarios/diagnosis/rules/scenario_places.cpp", "report.scenario->ddp;\n").empty());
  EXPECT_TRUE(size_problems("core/a.h", std::string(500, '\n')).empty());
  EXPECT_EQ(size_problems("core/a.h", std::string(501, '\n')).size(), 1U);
}

TEST(FolderRule, CountsFilesOfSourcesAndNotOfData) {
  EXPECT_TRUE(folder_problems("core/base", 26).empty());
  EXPECT_EQ(folder_problems("core/base", 27).size(), 1U);
  EXPECT_TRUE(folder_problems("tests/reports/dumps/three_d_missing", 64).empty());
  EXPECT_EQ(folder_problems("scenarios/catalogue", 64).size(), 1U);
}

}  // namespace
}  // namespace pdsim::architecture
