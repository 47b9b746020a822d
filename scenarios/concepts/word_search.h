// Ranks texts by the words that a question shares with them: "why does my job hang at the end of the epoch?".
//
//   words     letters and digits, in any case, without their endings (hangs, hanging, hang); words common to every question are
//             ignored; a word that no text has is replaced by the one spelled most like it
//   weight    a rare word weighs more than a common one, and a name more than a word of the text
//   names     are also found when written together or apart: allreduce, all-reduce, all reduce
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace pdsim::scenarios {

struct SearchedText {
  std::vector<std::string_view> names;  // the first is the one returned
  std::string_view text;
};

struct FoundText {
  std::size_t index = 0;  // into the searched texts
  double score = 0;
  double share = 0;       // the weighted share of the question's words that the text or its names have
  int shared_words = 0;
  bool is_named = false;  // the question contains one of its names in full
};

// Texts that share a word with the question, best first; equal ones in their order.
std::vector<FoundText> search_words(std::string_view question, const std::vector<SearchedText>& texts);

}  // namespace pdsim::scenarios
