// The concepts that `pdsim explain` answers questions about: "what is a bucket?".
//
//   a row      what it is in at most six lines of text, what to draw, what goes wrong with it, and which files of the catalog show that
//   adding one a row in the table of its subject: calls.cpp, groups.cpp, training.cpp, cost.cpp, waiting.cpp
//   picture    is made by running something each time it is asked for; no row holds a drawing
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
    values,    // what each rank holds before and after `collective`
    plan,      // the rounds of `collective` by the algorithm `name`
    schedule,  // the pipeline schedule `name`
    run,       // who waits for whom, and the timeline, of `variant` of the catalog's file `name`
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
  std::array<std::string_view, 10> aliases;  // other spellings, and the variables and options that belong to it; empty ones do not count
  std::string_view text;
  ConceptPicture picture{};
  std::array<std::string_view, 4> wrong{};  // ids of diagnoses
  std::array<std::string_view, 3> files{};  // names of the catalog's files
  std::array<std::string_view, 4> see{};    // names of concepts
};

std::span<const Concept> concepts_of_calls();
std::span<const Concept> concepts_of_groups();
std::span<const Concept> concepts_of_training();
std::span<const Concept> concepts_of_cost();
std::span<const Concept> concepts_of_waiting();

// All of them, sorted by name.
std::vector<const Concept*> concepts();

// The concept that a question asks for: its name or alias, in any case, with spaces or hyphens for underscores, in the plural, after
// "what is a", "how does ... work" and the like. Null when there is none.
const Concept* concept_asked_for(std::string_view question);

// The letters and digits of what a question asks for, in lower case: "what is a process group?" gives processgroup.
std::string spelling_asked_for(std::string_view question);
// A name in the same form.
std::string spelling(std::string_view name);

// Whether a text asks for something: it begins as a question does, or ends with a question mark.
bool is_question(std::string_view text);

// The concepts that share enough words with a question to answer it (word_search.h), the best first: one whose name the question has, or
// that has at least half of its words.
std::vector<const Concept*> concepts_by_words(std::string_view question);

// The names of the `most` concepts whose names or aliases are spelled most like what a question asks for, the nearest first.
std::vector<std::string_view> concepts_near(std::string_view question, std::size_t most);

// Its page, at most 100 columns wide; `picture` is what was drawn for it, empty for none.
std::string concept_page(const Concept& row, std::string_view picture);

}  // namespace pdsim::scenarios
