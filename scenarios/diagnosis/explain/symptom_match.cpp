#include "scenarios/diagnosis/explain/symptom_match.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <map>
#include <set>
#include <string>
#include <utility>

namespace pdsim::scenarios {
namespace {

constexpr double sure_from = 0.8, likely_from = 0.55, near_from = 0.42;
constexpr double variant_from = 0.6;     // of a row that another one has too: they are forms of one text
constexpr double gap_cost = 0.12;        // of a word of the text between two of the row's
constexpr std::size_t fewest_words = 3;  // of a piece of a text

bool is_word_char(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }
bool is_decimal(char c) { return c >= '0' && c <= '9'; }

// A path, not "send/recv": it begins with a slash or dots, has several, or ends as a source file does.
bool is_path_text(std::string_view chunk) {
  const auto slashes = std::count(chunk.begin(), chunk.end(), '/');
  if (slashes == 0) return false;
  const std::size_t dot = chunk.rfind('.');
  const bool has_ending = dot != std::string_view::npos && dot > chunk.rfind('/') && dot + 1 < chunk.size() &&
                          std::islower(static_cast<unsigned char>(chunk[dot + 1])) != 0;
  return has_ending || chunk.starts_with("/") || chunk.starts_with("./") || chunk.starts_with("../") ||
         chunk.starts_with("\"/");
}

// An address of IPv6: hexadecimal digits and at least two colons.
bool is_address_text(std::string_view chunk) {
  const auto is_part = [](char c) {
    return std::isxdigit(static_cast<unsigned char>(c)) != 0 ||
           std::string_view("[]:.,;").find(c) != std::string_view::npos;
  };
  return std::count(chunk.begin(), chunk.end(), ':') >= 2 && std::any_of(chunk.begin(), chunk.end(), is_decimal) &&
         std::all_of(chunk.begin(), chunk.end(), is_part);
}

void add_words(std::string_view chunk, std::vector<std::string>& words) {
  for (std::size_t at = 0; at < chunk.size();) {
    if (!is_word_char(chunk[at])) {
      ++at;
      continue;
    }
    std::size_t end = at;
    bool is_variable = false;
    std::string word;
    for (; end < chunk.size() && is_word_char(chunk[end]); ++end) {
      is_variable = is_variable || is_decimal(chunk[end]);
      word += static_cast<char>(std::tolower(static_cast<unsigned char>(chunk[end])));
    }
    if (!is_variable && word.size() > 1) words.push_back(std::move(word));
    at = end;
  }
}

struct SymptomWords {
  std::vector<std::string> words;
  double weight = 0;  // of all
};

class WordWeights {
 public:
  explicit WordWeights(const std::vector<SymptomWords>& rows) : rows_(static_cast<double>(rows.size())) {
    for (const SymptomWords& row : rows)
      for (const std::string& word : std::set<std::string>(row.words.begin(), row.words.end())) ++rows_with_[word];
  }
  double of(const std::string& word) const {
    const auto found = rows_with_.find(word);
    return 1 + std::log(rows_ / (found == rows_with_.end() ? 1.0 : found->second));
  }

 private:
  std::map<std::string, double> rows_with_;
  double rows_;
};

struct Alignment {
  double score = 0, matched = 0;  // weight of the words found, with and without the cost of gaps
  std::size_t words = 0;
};

// The best run of the row's words in the text, in order: words of the row may be missing, words of the text between them cost a little.
Alignment align(const std::vector<std::string>& text, const std::vector<std::string>& row, const WordWeights& weights) {
  std::vector<Alignment> best(row.size() +
                              1);  // ending before or at the word of the text so far, by words of the row used
  Alignment found;
  for (const std::string& word : text) {
    Alignment diagonal;  // of the word before, one word of the row less
    for (std::size_t i = 1; i <= row.size(); ++i) {
      Alignment here = best[i];
      here.score -= gap_cost;
      if (here.score <= 0) here = {};
      if (best[i - 1].score > here.score) here = best[i - 1];  // this word of the row is missing
      if (word == row[i - 1]) {
        const double weight = weights.of(word);
        Alignment next{std::max(diagonal.score, 0.0) + weight, diagonal.matched + weight, diagonal.words + 1};
        if (next.score > here.score) here = next;
      }
      diagonal = best[i];
      best[i] = here;
      if (here.score > found.score) found = here;
    }
  }
  return found;
}

Sureness sureness_of(double share) {
  if (share >= sure_from) return Sureness::sure;
  return share >= likely_from ? Sureness::likely : Sureness::near;
}

}  // namespace

std::vector<std::string> symptom_words(std::string_view text) {
  std::vector<std::string> words;
  for (std::size_t at = 0; at < text.size() && words.size() < most_symptom_words;) {
    const std::size_t end = std::min(text.find_first_of(" \t\r\n", at), text.size());
    const std::string_view chunk = text.substr(at, end - at);
    if (!chunk.empty() && !is_path_text(chunk) && !is_address_text(chunk)) add_words(chunk, words);
    at = end + 1;
  }
  if (words.size() > most_symptom_words) words.resize(most_symptom_words);
  return words;
}

std::vector<SymptomMatch> match_symptoms(std::string_view text) {
  const std::vector<std::string> words = symptom_words(text);
  std::vector<SymptomWords> rows;
  const std::vector<const Symptom*> table = symptom_table();
  for (const Symptom* symptom : table) rows.push_back({symptom_words(symptom->text), 0});
  const WordWeights weights(rows);
  double text_weight = 0;
  for (const std::string& word : words) text_weight += weights.of(word);
  struct Found {
    SymptomMatch match;
    double value = 0;   // the weight of what was found, less where the row has more
    double of_row = 0;  // the share of the row that was found
    std::size_t row = 0;
  };
  std::vector<Found> all;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    double& row_weight = rows[i].weight;
    for (const std::string& word : rows[i].words) row_weight += weights.of(word);
    const Alignment found = align(words, rows[i].words, weights);
    const double of_row = row_weight > 0 ? found.score / row_weight : 0;
    const double value = found.matched * of_row;
    double share = of_row;
    if (found.words >= std::min(fewest_words, rows[i].words.size()) && text_weight > 0)
      share = std::max(share, 0.95 * found.matched / text_weight);
    if (share >= near_from && found.words > 1) all.push_back({{table[i], share, sureness_of(share)}, value, of_row, i});
    // A row of a single word, a name that means one thing only.
    if (rows[i].words.size() == 1 && found.words == 1)
      all.push_back({{table[i], share, Sureness::sure}, value, of_row, i});
  }
  // Of rows that differ in a word, as "unhandled cuda error" and "unhandled system error", the one that the text has.
  const std::vector<Found> candidates = all;
  std::erase_if(all, [&](const Found& less) {
    return std::any_of(candidates.begin(), candidates.end(), [&](const Found& more) {
      return more.of_row > less.of_row && align(rows[more.row].words, rows[less.row].words, weights).matched >= variant_from * rows[less.row].weight;
    });
  });
  std::stable_sort(all.begin(), all.end(), [](const Found& a, const Found& b) {
    if (a.match.sureness != b.match.sureness) return a.match.sureness < b.match.sureness;
    if (a.match.symptom->cause != b.match.symptom->cause) return a.match.symptom->cause;
    return a.value > b.value;
  });
  std::vector<SymptomMatch> matches;
  std::set<std::string_view> entries;
  for (const Found& f : all)
    if (entries.insert(f.match.symptom->entry).second) matches.push_back(f.match);
  return matches;
}

std::optional<SymptomMatch> SymptomCache::best(std::string_view text) {
  std::string key;
  for (const std::string& word : symptom_words(text)) key += word + ' ';
  const auto known = known_.find(key);
  if (known != known_.end()) return known->second;
  if (known_.size() >= most_texts) return std::nullopt;
  const std::vector<SymptomMatch> matches = match_symptoms(text);
  const std::optional<SymptomMatch> best = matches.empty() ? std::nullopt : std::optional(matches.front());
  known_.emplace(std::move(key), best);
  return best;
}

}  // namespace pdsim::scenarios
