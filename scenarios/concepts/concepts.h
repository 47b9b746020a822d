// The concepts that `pdsim explain` answers questions about: "what is a bucket?".
//
//   a row      a definition in at most six lines of text, the picture to draw, its pitfalls, and the files of the catalog that
//              show them
//   adding one a row in the table of its subject: calls.cpp, groups.cpp, training.cpp, cost.cpp, waiting.cpp
//   picture    is produced by running something each time it is asked for; no row holds a drawing
#pragma once

#include "core/collectives/collective_kind.h"

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace pdsim::scenarios {

struct ConceptPicture {
  enum class Kind : std::uint8_t {
    none,
    values,    // each rank's values before and after `collective`
    plan,      // the rounds of `collective` by the algorithm `name`
    schedule,  // the pipeline schedule `name`
    run,       // which rank waits for which, and the timeline, of `variant` of the catalog's file `name`
  };
  Kind kind = Kind::none;
  CollectiveKind collective = CollectiveKind::barrier;
  std::string_view name{}, variant{};
};

constexpr ConceptPicture values_of(CollectiveKind collective) {
  return {ConceptPicture::Kind::values, collective};
}
constexpr ConceptPicture plan_of(CollectiveKind collective, std::string_view algorithm) {
  return {ConceptPicture::Kind::plan, collective, algorithm};
}
constexpr ConceptPicture schedule_of(std::string_view name) {
  return {ConceptPicture::Kind::schedule, CollectiveKind::barrier, name};
}
constexpr ConceptPicture run_of(std::string_view file, std::string_view variant) {
  return {ConceptPicture::Kind::run, CollectiveKind::barrier, file, variant};
}

struct Concept {
  std::string_view name;                    // as torch.distributed spells it, or in lower case with underscores
  std::array<std::string_view, 10> aliases;  // other spellings, and related variables and options; empty ones do not count
  std::string_view text;
  ConceptPicture picture{};
  std::array<std::string_view, 4> wrong{};  // ids of diagnoses
  std::array<std::string_view, 3> files{};  // names of the catalog's files
  std::array<std::string_view, 4> see{};    // names of concepts
  std::array<std::string_view, 3> algorithms{};  // words in the names of the algorithms that it describes
};

std::span<const Concept> concepts_of_calls();
std::span<const Concept> concepts_of_groups();
std::span<const Concept> concepts_of_training();
std::span<const Concept> concepts_of_cost();
std::span<const Concept> concepts_of_waiting();

// All concepts, sorted by name.
std::vector<const Concept*> concepts();

// The concept that a question asks about: its name or alias, in any case, with spaces or hyphens for underscores, in the plural,
// after "what is a", "how does ... work" and the like. Null when there is none.
const Concept* concept_asked_for(std::string_view question);

// The letters and digits of the question's subject, in lower case: "what is a process group?" gives processgroup.
std::string spelling_asked_for(std::string_view question);
// A name in the same form.
std::string spelling(std::string_view name);

// Whether a text is a question: it begins like one, or ends with a question mark.
bool is_question(std::string_view text);

// The concepts that share enough words with a question to answer it (word_search.h), best first: those whose name the question
// contains, or that have at least half of its words.
std::vector<const Concept*> concepts_by_words(std::string_view question);

// The names of the `most` concepts whose names or aliases are spelled most like the question's subject, the nearest first.
std::vector<std::string_view> concepts_near(std::string_view question, std::size_t most);

// The algorithms that a concept describes, as all_reduce/ring; empty for most.
std::vector<std::string> algorithms_of(const Concept& row);

// The concept's page, at most 100 columns wide; `picture` is its drawing, empty for none.
std::string concept_page(const Concept& row, std::string_view picture);

}  // namespace pdsim::scenarios
