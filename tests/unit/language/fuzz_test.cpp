// No text, however broken, does more than produce errors with places that exist.
#include "core/base/random.h"
#include "scenarios/language/check/limits.h"
#include "tests/helpers/catalog_files.h"
#include "tests/unit/language/report_of.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

namespace pdsim::scenarios {
namespace {

std::vector<std::string> texts_of_catalog() {
  std::vector<std::string> texts{valid};
  for (const std::filesystem::path& path : catalog_files()) {
    std::ifstream in(path, std::ios::binary);
    texts.emplace_back(std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>());
  }
  return texts;
}

void expect_places(const std::string& text) {
  const LoadedFile file = load_text("mine.yaml", text);
  std::vector<std::size_t> lengths(1);
  for (const char c : file.text) {
    if (c == '\n') {
      lengths.push_back(0);
    } else {
      ++lengths.back();
    }
  }
  EXPECT_LE(file.diagnostics.size(), limits::diagnostics);
  EXPECT_EQ(file.errors > 0, file.variants.empty()) << text;
  for (const Diagnostic& d : file.diagnostics) {
    ASSERT_GE(d.mark.line, 1) << d.what << "\n" << text;
    ASSERT_LE(static_cast<std::size_t>(d.mark.line), lengths.size()) << d.what << "\n" << text;
    ASSERT_GE(d.mark.column, 1) << d.what << "\n" << text;
    ASSERT_LE(static_cast<std::size_t>(d.mark.column), lengths[static_cast<std::size_t>(d.mark.line - 1)] + 1)
        << d.what << "\n"
        << text;
    ASSERT_GE(d.mark.width, 1);
    EXPECT_FALSE(d.what.empty() || d.label.empty());
    EXPECT_FALSE(render(file, d).empty());
  }
  for (const Scenario& s : file.variants)
    if (s.world.spec.ranks() <= 64) {
      EXPECT_FALSE(program_table(s).empty());
    }
}

std::string mutated(std::string text, Random& random) {
  constexpr std::array<std::string_view, 22> snippets{
      "{",  "}",  "[",   "]",     ": ",   "- ",   "\n", "\t",  "\"",           "'",   "&a ",
      "*a", "<<", "!!x", "---\n", "null", "5 us", "-1", "0x1", "999999999999", "2..", "\xc3"};
  const std::uint64_t changes = 1 + random.below(3);
  for (std::uint64_t i = 0; i < changes && !text.empty(); ++i) {
    const std::size_t at = random.below(text.size());
    const std::size_t length = std::min<std::size_t>(random.below(12), text.size() - at);
    switch (random.below(5)) {
      case 0:
        text.erase(at, length);
        break;
      case 1:
        text.insert(at, snippets[random.below(snippets.size())]);
        break;
      case 2:
        text[at] = static_cast<char>(random.below(256));
        break;
      case 3:
        text.insert(random.below(text.size()), text.substr(at, length));
        break;
      default:
        text.replace(at, length, snippets[random.below(snippets.size())]);
        break;
    }
  }
  return text;
}

TEST(AnyText, GivesErrorsWithPlacesThatExist) {
  Random random(2);
  const std::vector<std::string> texts = texts_of_catalog();
  const std::size_t each = 1600 / texts.size();
  for (const std::string& text : texts)
    for (std::size_t i = 0; i < each; ++i) expect_places(mutated(text, random));
}

TEST(AnyText, MayEndAnywhere) {
  for (std::size_t length = 0; length <= valid.size(); ++length) expect_places(valid.substr(0, length));
}

TEST(AnyText, MayBeNestedHopelessly) {
  for (const char* open : {"[", "{", "{a: ", "[[a, ", "- ", "? ", "a: {", "!x ", "'", "\"", "a:\n ", ",", "&a [*a, "}) {
    std::string text = "a: ";
    while (text.size() < 20'000) text += open;
    expect_places(text);
    expect_places(text.substr(3));
  }
}

TEST(AnyText, MayBeIndentedHopelessly) {
  std::string text;
  for (std::size_t depth = 0; depth < 200; ++depth) text += std::string(depth, ' ') + "a:\n";
  expect_places(text);
}

}  // namespace
}  // namespace pdsim::scenarios
