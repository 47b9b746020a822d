#include "scenarios/concepts/concepts.h"

#include "scenarios/text/text_layout.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>

namespace pdsim::scenarios {
namespace {

// Lower-case letters and digits alone: "All-Reduce" and "all_reduce" are one.
std::string spelling(std::string_view text) {
  std::string letters;
  for (const char c : text)
    if (std::isalnum(static_cast<unsigned char>(c)) != 0)
      letters += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return letters;
}

std::vector<std::string> words_of(std::string_view question) {
  std::vector<std::string> words(1);
  for (const char c : question) {
    if (std::isspace(static_cast<unsigned char>(c)) == 0)
      words.back() += c;
    else if (!words.back().empty())
      words.emplace_back();
  }
  if (words.back().empty()) words.pop_back();
  return words;
}

bool is_any_of(const std::string& word, std::initializer_list<std::string_view> list) {
  return std::find(list.begin(), list.end(), spelling(word)) != list.end();
}

// What is left of a question without the words that make it one.
std::string subject_of(std::string_view question) {
  std::vector<std::string> words = words_of(question);
  std::size_t first = 0;
  while (first + 1 < words.size() &&
         is_any_of(words[first], {"what", "whats", "is", "are", "how", "does", "do", "explain", "define", "why", "a",
                                  "an", "the", "my"}))
    ++first;
  while (words.size() > first + 1 && is_any_of(words.back(), {"mean", "means", "work", "works", "do", "happen", "for"}))
    words.pop_back();
  words.erase(words.begin(), words.begin() + static_cast<std::ptrdiff_t>(first));
  return spelling(fmt::format("{}", fmt::join(words, "")));
}

bool is_called(const Concept& row, std::string_view letters) {
  if (spelling(row.name) == letters) return true;
  return std::any_of(row.aliases.begin(), row.aliases.end(),
                     [&](std::string_view alias) { return !alias.empty() && spelling(alias) == letters; });
}

const Concept* called(std::string_view letters) {
  for (const Concept* row : concepts())
    if (is_called(*row, letters)) return row;
  return nullptr;
}

template <std::size_t size>
std::string pointers_to(std::string_view title, std::string_view command,
                        const std::array<std::string_view, size>& names) {
  std::string text;
  for (const std::string_view name : names)
    if (!name.empty()) text += fmt::format("  {} {}\n", command, name);
  return text.empty() ? text : fmt::format("\n{}\n{}", title, text);
}

}  // namespace

std::vector<const Concept*> concepts() {
  std::vector<const Concept*> all;
  for (const auto& table : {concepts_of_calls(), concepts_of_groups(), concepts_of_training(), concepts_of_cost(),
                            concepts_of_waiting()})
    for (const Concept& row : table) all.push_back(&row);
  std::sort(all.begin(), all.end(), [](const Concept* a, const Concept* b) { return a->name < b->name; });
  return all;
}

const Concept* concept_asked_for(std::string_view question) {
  std::string letters = subject_of(question);
  if (letters.empty()) return nullptr;
  if (const Concept* row = called(letters)) return row;
  if (letters.ends_with("es"))
    if (const Concept* row = called(std::string_view(letters).substr(0, letters.size() - 2))) return row;
  return letters.ends_with('s') ? called(std::string_view(letters).substr(0, letters.size() - 1)) : nullptr;
}

std::string concept_page(const Concept& row, std::string_view picture) {
  std::string page = fmt::format("{}\n\n{}", row.name, wrapped(row.text, 2));
  if (!picture.empty()) page += fmt::format("\n{}", picture);
  page += pointers_to("what goes wrong with it", "pdsim explain", row.wrong);
  page += pointers_to("files that show it", "pdsim scenario", row.files);
  page += pointers_to("see also", "pdsim explain", row.see);
  return page;
}

}  // namespace pdsim::scenarios
