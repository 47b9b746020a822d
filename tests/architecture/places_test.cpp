// How many places it takes to add a thing: the files in which the last example of each is named. A row holds for good once it is here;
// a change that brings a number down writes the smaller one.

#include <gtest/gtest.h>

#include <array>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <string>
#include <string_view>

namespace pdsim::architecture {
namespace {

struct Places {
  std::string_view thing;
  std::string_view example;  // a text that stands in the files which someone who adds such a thing has to touch
  std::size_t at_most;       // files
  std::string_view below{};  // where all of them lie; empty: anywhere in the sources
  std::string_view own{};    // the thing's own folder, which does not count
};

// Tests, scenarios and docs come on top: they are what a thing is shown with. So do the concepts that `pdsim explain` answers with.
constexpr std::string_view pages = "scenarios/concepts/";

constexpr std::array places{
    Places{"an algorithm", "bcube", 1, "core/collectives/plans/"},
    Places{"a collective", "xscan", 8},
    Places{"a diagnosis", "batch-sizes-differ", 1, "scenarios/diagnosis/rules/"},
    Places{"a flag", "\"--expect\"", 1, "tools/"},
    Places{"an operation", "scatter_object_list", 1, "scenarios/program/operations/"},
    Places{"a DDP option", "orthogonalization_epsilon", 2},              // the member with its row, and its effect
    Places{"a fault", "FaultKind::reorder", 1},                          // its row, which says what becomes of what it strikes
    Places{"a backend", "\"mpi\"", 2, "", "backends/mpi/"},     // what its library does, beside its folder and its row
};

using Files = std::set<std::string>;

std::string content_of(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

bool is_source(const std::filesystem::path& file) {
  const std::string extension = file.extension().string();
  return extension == ".h" || extension == ".cpp" || extension == ".cu" || extension == ".cmake" ||
         file.filename() == "CMakeLists.txt";
}

// Of the product, by their paths in the repository.
Files sources_that_name(std::string_view example) {
  const std::filesystem::path root = PDSIM_SOURCE_DIR;
  Files found;
  for (const char* folder : {"core", "sim", "backends", "scenarios", "tools"})
    for (const auto& entry : std::filesystem::recursive_directory_iterator(root / folder))
      if (entry.is_regular_file() && is_source(entry.path()) &&
          content_of(entry.path()).find(example) != std::string::npos)
        found.insert(entry.path().lexically_relative(root).generic_string());
  std::erase_if(found, [](const std::string& file) { return file.starts_with(pages); });
  return found;
}

std::string list_of(const Files& files) {
  std::string text;
  for (const std::string& file : files) text += "\n  " + file;
  return text;
}

class PlacesToAdd : public testing::TestWithParam<Places> {};

TEST_P(PlacesToAdd, AreNoMoreThanTheTableSays) {
  const Places& row = GetParam();
  Files files = sources_that_name(row.example);
  if (!row.own.empty()) std::erase_if(files, [&row](const std::string& file) { return file.starts_with(row.own); });
  EXPECT_GE(files.size(), 1U) << "the example of " << row.thing << ", " << row.example << ", is not in the sources";
  EXPECT_LE(files.size(), row.at_most) << row.thing << " (" << row.example << ") is named in" << list_of(files);
  for (const std::string& file : files) EXPECT_TRUE(file.starts_with(row.below)) << file;
}

std::string name_of_row(const testing::TestParamInfo<Places>& row) {
  std::string name;
  for (const char c : row.param.thing) name += c == ' ' ? '_' : c;
  return name;
}

INSTANTIATE_TEST_SUITE_P(Things, PlacesToAdd, testing::ValuesIn(places), name_of_row);

}  // namespace
}  // namespace pdsim::architecture
