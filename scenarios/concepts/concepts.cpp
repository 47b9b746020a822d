#include "scenarios/concepts/concepts.h"

#include "core/base/nearest.h"
#include "core/collectives/algorithms.h"
#include "core/collectives/collective.h"
#include "scenarios/concepts/word_search.h"
#include "scenarios/text/text_layout.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <tuple>

namespace pdsim::scenarios {
namespace {

constexpr double share_of_an_answer = 0.5;

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

bool asks(const std::string& word) {
  return is_any_of(word, {"what", "whats", "how", "why", "explain", "define", "when", "where", "which", "who"});
}

// Returns the subject of a question, without the words that make it one.
std::string subject_of(std::string_view question) {
  std::vector<std::string> words = words_of(question);
  std::size_t first = 0;
  while (first + 1 < words.size() &&
         (asks(words[first]) || is_any_of(words[first], {"is", "are", "does", "do", "a", "an", "the", "my"})))
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

// How unlike two spellings are, from 0 to 1; one that holds the other is near.
double distance_between(std::string_view name, std::string_view letters) {
  if (name.empty() || letters.empty()) return 1;
  const auto longest = static_cast<double>(std::max(name.size(), letters.size()));
  const bool holds = name.find(letters) != std::string_view::npos || letters.find(name) != std::string_view::npos;
  return (holds ? 0.5 : 1.0) * edit_distance(name, letters) / longest;
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

std::string spelling(std::string_view name) {
  std::string letters;  // "All-Reduce" and "all_reduce" are one
  for (const char c : name)
    if (std::isalnum(static_cast<unsigned char>(c)) != 0)
      letters += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return letters;
}

std::string spelling_asked_for(std::string_view question) { return subject_of(question); }

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

bool is_question(std::string_view text) {
  const std::vector<std::string> words = words_of(text);
  if (words.size() < 2) return false;
  return asks(words.front()) || is_any_of(words.front(), {"does", "can", "should"}) || words.back().ends_with('?');
}

std::vector<const Concept*> concepts_by_words(std::string_view question) {
  const std::vector<const Concept*> rows = concepts();
  std::vector<SearchedText> texts;
  for (const Concept* row : rows) {
    SearchedText text{.names = {row->name}, .text = row->text};
    for (const std::string_view alias : row->aliases)
      if (!alias.empty()) text.names.push_back(alias);
    texts.push_back(std::move(text));
  }
  // One word in common is chance, and so is a name among words that have nothing to do with it, where nobody asks.
  const bool asks = is_question(question);
  const auto answers = [asks](const FoundText& text) {
    const bool fits = text.share >= share_of_an_answer;
    return (text.is_named && (asks || fits)) || (fits && text.shared_words > 1);
  };
  std::vector<const Concept*> found;
  for (const FoundText& text : search_words(question, texts))
    if (answers(text)) found.push_back(rows[text.index]);
  return found;
}

std::vector<std::string_view> concepts_near(std::string_view question, std::size_t most) {
  const std::string letters = subject_of(question);
  std::vector<std::tuple<double, std::string_view>> found;
  for (const Concept* row : concepts()) {
    double best = distance_between(spelling(row->name), letters);
    for (const std::string_view alias : row->aliases) best = std::min(best, distance_between(spelling(alias), letters));
    found.emplace_back(best, row->name);
  }
  std::sort(found.begin(), found.end());
  std::vector<std::string_view> names;
  for (std::size_t i = 0; i < std::min(most, found.size()); ++i) names.push_back(std::get<1>(found[i]));
  return names;
}

std::vector<std::string> algorithms_of(const Concept& row) {
  std::vector<std::string> names;
  for (const Algorithm& algorithm : pdsim::algorithms()) {
    const std::string name = fmt::format("_{}_", algorithm.name);
    const bool fits = std::any_of(row.algorithms.begin(), row.algorithms.end(), [&](std::string_view word) {
      return !word.empty() && name.find(fmt::format("_{}_", word)) != std::string::npos;
    });
    if (fits) names.push_back(fmt::format("{}/{}", name_of(algorithm.kind), algorithm.name));
  }
  return names;
}

std::string concept_page(const Concept& row, std::string_view picture) {
  std::string page = fmt::format("{}\n\n{}", row.name, wrapped(row.text, 2));
  if (!picture.empty()) page += fmt::format("\n{}", picture);
  page += pointers_to("what goes wrong with it", "pdsim explain", row.wrong);
  page += pointers_to("files that show it", "pdsim scenario", row.files);
  if (const std::vector<std::string> names = algorithms_of(row); !names.empty())
    page += fmt::format("\nalgorithms of this kind, for pdsim explain, and pdsim prove --print for their plans\n{}",
                        wrapped(fmt::format("{}", fmt::join(names, ", ")), 2));
  page += pointers_to("see also", "pdsim explain", row.see);
  return page;
}

}  // namespace pdsim::scenarios
