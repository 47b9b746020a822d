#include "tools/explain/question.h"

#include "scenarios/concepts/word_search.h"
#include "scenarios/text/text_layout.h"
#include "tools/explain/explained_names.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>

namespace pdsim::tools {
namespace {

constexpr std::size_t most_concepts = 4, most_pitfalls = 3, most_own_words = 10;
constexpr double share_of_a_pitfall = 0.5;

}  // namespace

std::string name_asked_for(std::string_view question) {
  const std::string asked = scenarios::spelling_asked_for(question);
  if (asked.empty()) return {};
  for (std::string& name : explained_names())
    if (scenarios::spelling(name) == asked) return std::move(name);
  return {};
}

bool is_in_own_words(std::string_view text) {
  if (scenarios::is_question(text)) return true;
  const auto spaces = static_cast<std::size_t>(std::count(text.begin(), text.end(), ' '));
  return spaces > 0 && spaces < most_own_words && text.find_first_of(":[\n()`=") == std::string_view::npos && text.find(" WARN ") == std::string_view::npos;
}

Answer answer_to(std::string_view question, const std::vector<scenarios::GalleryEntry>& gallery) {
  Answer answer{.concepts = scenarios::concepts_by_words(question), .pitfalls = {}};
  if (answer.concepts.size() > most_concepts) answer.concepts.resize(most_concepts);
  std::vector<scenarios::SearchedText> texts;
  std::vector<std::string> told;
  told.reserve(gallery.size());
  for (const scenarios::GalleryEntry& entry : gallery) {
    told.push_back(fmt::format("{} {} {}", entry.summary, entry.pitfall.symptom, entry.pitfall.cause));
    texts.push_back({.names = {entry.name}, .text = told.back()});
  }
  for (const scenarios::FoundText& found : scenarios::search_words(question, texts)) {
    if (answer.pitfalls.size() == most_pitfalls) break;
    const scenarios::GalleryEntry& entry = gallery[found.index];
    if (entry.pitfall.given && (found.is_named || found.share >= share_of_a_pitfall)) answer.pitfalls.push_back(&entry);
  }
  return answer;
}

std::string nearest_text(const Answer& answer) {
  if (answer.concepts.empty()) return {};
  std::vector<std::string_view> others;
  for (std::size_t i = 1; i < answer.concepts.size(); ++i) others.push_back(answer.concepts[i]->name);
  std::string text = fmt::format("the nearest concept is {}", answer.concepts.front()->name);
  if (!others.empty()) text += fmt::format("; also near: {} (`pdsim explain {}`)", fmt::join(others, ", "), others.front());
  return scenarios::wrapped(text, 0);
}

std::string pitfalls_text(const Answer& answer) {
  if (answer.pitfalls.empty()) return {};
  std::string text = "pitfalls that match these words\n";
  for (const scenarios::GalleryEntry* entry : answer.pitfalls)
    text += scenarios::wrapped(fmt::format("pdsim explain {}: {}", entry->name, entry->pitfall.symptom), 2);
  return text;
}

}  // namespace pdsim::tools
