// Both first pages, the English one and the Chinese one, name the same command lines.

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <regex>
#include <set>
#include <string>

namespace pdsim::architecture {
namespace {

std::string page(const std::string& name) {
  std::ifstream in(std::filesystem::path(PDSIM_SOURCE_DIR) / name, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

// What stands between backquotes on one line and is a command line, and the lines of blocks for a shell without their remarks.
std::set<std::string> command_lines(const std::string& text) {
  const std::regex quoted("`((?:tools/|pdsim |mpirun |py-spy |PDSIM_RECORD)[^`\n]*)`");
  const std::regex in_block("(?:^|\n)(?:\\$ )?((?:tools/|cmake |cpack )[^\n#]*[^\n# ])");
  std::set<std::string> lines;
  for (const std::regex* form : {&quoted, &in_block})
    for (std::sregex_iterator at(text.begin(), text.end(), *form), end; at != end; ++at) lines.insert((*at)[1]);
  return lines;
}

TEST(Readme, TheChinesePageNamesEveryCommandLineOfTheEnglishOne) {
  const std::set<std::string> english = command_lines(page("README.md"));
  const std::string chinese = page("docs/README.zh.md");
  EXPECT_GT(english.size(), 40U);
  for (const std::string& line : english) EXPECT_NE(chinese.find(line), std::string::npos) << line;
}

TEST(Readme, TheEnglishPageNamesEveryCommandLineOfTheChineseOne) {
  const std::string english = page("README.md");
  for (const std::string& line : command_lines(page("docs/README.zh.md"))) {
    EXPECT_NE(english.find(line), std::string::npos) << line;
  }
}

TEST(Readme, BothPagesHaveTheSameProgramAndLinkTheSamePages) {
  const std::string english = page("README.md"), chinese = page("docs/README.zh.md");
  const std::size_t begin = english.find("```cpp");
  ASSERT_NE(begin, std::string::npos);
  const std::string program = english.substr(begin, english.find("\n```\n", begin) - begin);
  EXPECT_NE(chinese.find(program), std::string::npos);
  const std::regex link("\\]\\(docs/([a-z_]+\\.md)");
  for (std::sregex_iterator at(english.begin(), english.end(), link), end; at != end; ++at)
    EXPECT_NE(chinese.find("](" + (*at)[1].str()), std::string::npos) << (*at)[1];
}

}  // namespace
}  // namespace pdsim::architecture
