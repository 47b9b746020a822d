#include "scenarios/concepts/word_search.h"

#include "core/base/nearest.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <map>
#include <set>
#include <utility>

namespace pdsim::scenarios {
namespace {

constexpr double of_name = 4, of_name_part = 1.5, of_text = 0.6;
constexpr std::size_t longest_name = 4;  // words

constexpr std::array common_words{
    "a",     "about", "after", "all",   "always", "am",     "an",    "and",   "any",   "are",  "as",    "at",       "be",      "because",
    "but",   "by",    "can",   "cause", "do",     "doe",    "don",   "explain", "find", "for", "from",  "get",      "got",     "happen",
    "has",   "have",  "how",   "i",     "if",     "in",     "into",  "is",    "it",    "its",  "just",  "make",     "me",      "mean",
    "my",    "need",  "no",    "not",   "of",     "on",     "only",  "or",    "our",   "out",  "problem", "pytorch", "same",   "set",
    "should", "so",   "some",  "t",     "that",   "the",    "their", "them",  "then",  "there", "these", "they",    "thi",     "this",
    "to",    "torch", "tell",  "use",   "using",  "v",      "versu", "vs",    "wa",    "was",  "we",    "what",     "when",    "where",
    "which", "while", "who",   "whole", "why",    "will",   "with",  "without", "you", "your", "difference", "differ", "between", "whats",
    "define", "actually", "every", "one", "work", "two", "other", "never", "does", "than", "s"};

bool is_common(std::string_view word) { return std::find(common_words.begin(), common_words.end(), word) != common_words.end(); }

// Without the endings of plurals and verbs.
std::string stem(std::string word) {
  for (const std::string_view ending : {"ing", "ed", "es", "s"}) {
    if (!word.ends_with(ending) || word.size() < ending.size() + 3 || word.ends_with("ss")) continue;
    word.resize(word.size() - ending.size());
    if (ending.size() > 1 && word.size() > 3 && word[word.size() - 1] == word[word.size() - 2]) word.pop_back();
    break;
  }
  if (word.size() > 3 && word.ends_with('e')) word.pop_back();
  return word;
}

std::vector<std::string> plain_words(std::string_view text) {
  std::vector<std::string> words(1);
  for (const char c : text) {
    if (std::isalnum(static_cast<unsigned char>(c)) != 0)
      words.back() += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    else if (c != '\'' && !words.back().empty())
      words.emplace_back();
  }
  if (words.back().empty()) words.pop_back();
  return words;
}

std::string joined(const std::vector<std::string>& words, std::size_t from, std::size_t count) {
  std::string text;
  for (std::size_t i = 0; i < count; ++i) text += words[from + i];
  return stem(std::move(text));
}

struct Indexed {
  std::set<std::string> names, name_parts, text;
  bool has(const std::string& word) const {
    return names.contains(word) || name_parts.contains(word) || text.contains(word);
  }
};

Indexed indexed(const SearchedText& searched) {
  Indexed index;
  for (const std::string_view name : searched.names) {
    const std::vector<std::string> words = plain_words(name);
    if (words.empty()) continue;
    index.names.insert(joined(words, 0, words.size()));
    for (const std::string& word : words) index.name_parts.insert(stem(word));
  }
  for (std::string& word : plain_words(searched.text)) index.text.insert(stem(std::move(word)));
  return index;
}

class WordIndex {
 public:
  explicit WordIndex(const std::vector<SearchedText>& texts) {
    for (const SearchedText& text : texts) rows_.push_back(indexed(text));
    for (const Indexed& row : rows_) {
      std::set<std::string> all = row.names;
      all.insert(row.name_parts.begin(), row.name_parts.end());
      all.insert(row.text.begin(), row.text.end());
      for (const std::string& word : all) ++rows_with_[word];
    }
  }
  const std::vector<Indexed>& rows() const { return rows_; }
  bool knows(const std::string& word) const { return rows_with_.contains(word); }
  bool is_name(const std::string& word) const {
    return std::any_of(rows_.begin(), rows_.end(), [&](const Indexed& row) { return row.names.contains(word); });
  }
  double weight(const std::string& word) const {
    const auto found = rows_with_.find(word);
    const int rows = found == rows_with_.end() ? 1 : found->second;
    return 1 + std::log(static_cast<double>(rows_.size()) / rows);
  }
  // A long word may have two letters wrong, one of five to seven letters one.
  std::string corrected(const std::string& word) const {
    if (word.size() < 5 || knows(word)) return word;
    const int allowed = word.size() < 8 ? 1 : 2;
    std::string best = word;
    int least = allowed + 1;
    for (const auto& [known, rows] : rows_with_) {
      if (known.size() + 2 < word.size() || known.size() > word.size() + 2) continue;
      const int distance = edit_distance(word, known);
      if (distance >= least) continue;
      least = distance;
      best = known;
    }
    return best;
  }

 private:
  std::vector<Indexed> rows_;
  std::map<std::string, int> rows_with_;
};

struct Query {
  std::set<std::string> words;    // without the common ones
  std::set<std::string> phrases;  // one to four words written together, that are a name
};

Query query_of(std::string_view question, const WordIndex& index) {
  std::vector<std::string> words = plain_words(question);
  Query query;
  for (std::string& word : words) {
    const std::string stemmed = stem(word);
    if (is_common(word) || is_common(stemmed)) continue;
    const std::string known = index.corrected(stemmed);
    if (known != stemmed) word = known;
    query.words.insert(known);
  }
  for (std::size_t from = 0; from < words.size(); ++from)
    for (std::size_t count = 1; count <= longest_name && from + count <= words.size(); ++count) {
      if (count == 1 && is_common(words[from])) continue;
      const std::string phrase = joined(words, from, count);
      if (index.is_name(phrase)) query.phrases.insert(phrase);
    }
  return query;
}

}  // namespace

std::vector<FoundText> search_words(std::string_view question, const std::vector<SearchedText>& texts) {
  const WordIndex index(texts);
  const Query query = query_of(question, index);
  double all = 0;
  for (const std::string& word : query.words) all += index.weight(word);
  std::vector<FoundText> found;
  for (std::size_t i = 0; i < texts.size(); ++i) {
    const Indexed& row = index.rows()[i];
    FoundText here{.index = i};
    for (const std::string& phrase : query.phrases) {
      if (!row.names.contains(phrase)) continue;
      here.is_named = true;
      here.score += of_name * index.weight(phrase);
    }
    double shared = 0;
    for (const std::string& word : query.words) {
      if (!row.has(word)) continue;
      shared += index.weight(word);
      ++here.shared_words;
      here.score += (row.name_parts.contains(word) ? of_name_part : of_text) * index.weight(word);
    }
    here.share = all > 0 ? shared / all : 0;
    if (here.score > 0) found.push_back(here);
  }
  std::stable_sort(found.begin(), found.end(), [](const FoundText& a, const FoundText& b) { return a.score > b.score; });
  return found;
}

}  // namespace pdsim::scenarios
