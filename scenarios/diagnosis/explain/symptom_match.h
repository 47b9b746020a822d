// Finds the rows of the symptom table that fit an error text, whatever numbers, ranks, addresses and paths are in it.
//
//   compared  words, in their order; what has a digit in it, addresses and paths count as variable parts. A rare word counts more than
//             one that many rows have
//   share     of the row's words that the text has close together, or of the text's words that the row has: a piece of a text is
//             enough, and so is a whole log around it
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

// One per entry, the surest first, causes before consequences; empty when nothing comes near.
std::vector<SymptomMatch> match_symptoms(std::string_view text);

// The surest row of many texts, most of which say the same with other numbers: each is matched once, the first most_texts different ones.
class SymptomCache {
 public:
  static constexpr std::size_t most_texts = 256;
  // Absent: nothing comes near, or too many different texts were asked for.
  std::optional<SymptomMatch> best(std::string_view text);

 private:
  std::map<std::string, std::optional<SymptomMatch>> known_;  // by the words
};

// The words that are compared, in small letters.
std::vector<std::string> symptom_words(std::string_view text);

}  // namespace pdsim::scenarios
