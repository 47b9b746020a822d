// The answer of `pdsim explain` to a question that is not the name of an entry.
#pragma once

#include "scenarios/concepts/concepts.h"
#include "scenarios/reports/gallery.h"

#include <string>
#include <string_view>
#include <vector>

namespace pdsim::tools {

// The entry that a question names with other separators, in another case or among a question's words: "what is recursive
// doubling?" asks for recursive_doubling. Empty when there is none.
std::string name_asked_for(std::string_view question);

// Whether a text is in a user's own words, not a library's: a question, or a few words without a number or a colon.
bool is_in_own_words(std::string_view text);

struct Answer {
  std::vector<const scenarios::Concept*> concepts;        // best first, at most four
  std::vector<const scenarios::GalleryEntry*> pitfalls;  // best first, at most three
  bool empty() const { return concepts.empty() && pitfalls.empty(); }
};

// The entries that share enough words with the question.
Answer answer_to(std::string_view question, const std::vector<scenarios::GalleryEntry>& gallery);

// The lines above the page of the best concept: that it is the nearest one, and other near ones. Empty without concepts.
std::string nearest_text(const Answer& answer);

// The pitfalls as lines with the command that shows each; empty without pitfalls.
std::string pitfalls_text(const Answer& answer);

}  // namespace pdsim::tools
