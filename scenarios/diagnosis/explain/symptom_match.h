// Finds the rows of the symptom table that match an error text, whatever numbers, ranks, addresses and paths it contains.
//
//   compared  words, in their order; words with a digit, addresses and paths count as variable parts. A rare word weighs more
//             than one that many rows have
//   share     of the row's words that the text has close together, or of the text's words that the row has: a fragment of a text
//             is enough, and so is a whole log around it
//   bounds    the first most_symptom_words words of the text
//   cost      words of the text x words of the table
#pragma once

#include "core/base/enum_names.h"
#include "scenarios/diagnosis/explain/symptom_table.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace pdsim::scenarios {

inline constexpr std::size_t most_symptom_words = 20'000;

enum class Sureness : std::uint8_t { sure, likely, near };

}  // namespace pdsim::scenarios

template <>
inline constexpr auto pdsim::enum_rows<pdsim::scenarios::Sureness> =
    std::to_array<pdsim::EnumRow<pdsim::scenarios::Sureness>>({
        {pdsim::scenarios::Sureness::sure, "sure"},
        {pdsim::scenarios::Sureness::likely, "likely"},
        {pdsim::scenarios::Sureness::near, "near"},
    });

namespace pdsim::scenarios {

struct SymptomMatch {
  const Symptom* symptom = nullptr;
  double share = 0;
  Sureness sureness = Sureness::near;
};

// One per entry, the surest first, causes before consequences; empty when nothing is close.
std::vector<SymptomMatch> match_symptoms(std::string_view text);

// The surest rows of many texts, most of which differ only in numbers: each distinct text is matched once, up to most_texts of
// them.
class SymptomCache {
 public:
  static constexpr std::size_t most_texts = 256;
  // Absent: nothing is close, or there were too many different texts.
  std::optional<SymptomMatch> best(std::string_view text);

 private:
  std::map<std::string, std::optional<SymptomMatch>> known_;  // by the words
};

// The compared words, in lower case.
std::vector<std::string> symptom_words(std::string_view text);

}  // namespace pdsim::scenarios
