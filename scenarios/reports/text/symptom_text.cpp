#include "scenarios/reports/text/symptom_text.h"

#include "scenarios/diagnosis/diagnoses.h"
#include "scenarios/diagnosis/explain/error_texts.h"
#include "scenarios/diagnosis/explain/outside_causes.h"
#include "scenarios/diagnosis/explain/symptom_match.h"
#include "scenarios/text/text_layout.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

namespace pdsim::scenarios {
namespace {

constexpr std::size_t most_near = 4;

std::string_view text_of_entry(std::string_view entry) {
  if (const DiagnosisRow* row = diagnosis_named(entry)) return row->text;
  if (const OutsideCause* cause = outside_cause_named(entry)) return cause->text;
  const std::optional<Code> code = code_named(entry);
  return code ? text_of_error(*code) : std::string_view();
}

std::string_view in_words(Sureness sureness) {
  switch (sureness) {
    case Sureness::sure:
      return "sure: the text is one of this entry's messages";
    case Sureness::likely:
      return "likely: the text and one of this entry's messages have many words in common";
    case Sureness::near:
      break;
  }
  return "not sure: the text only resembles one of this entry's messages";
}

// Only a text that is the message proves anything.
std::string facts_of(const SymptomMatch& match) {
  std::string says(match.symptom->says);
  if (match.sureness == Sureness::sure || says.empty()) return says;
  says.front() = static_cast<char>(std::tolower(static_cast<unsigned char>(says.front())));
  return (says.starts_with("it proves") ? "if it is this message, " : "if it is this message: ") + says;
}

}  // namespace

std::string entry_title(std::string_view entry) {
  if (const DiagnosisRow* row = diagnosis_named(entry)) return fmt::format("{}: {}", row->id, row->title);
  if (const OutsideCause* cause = outside_cause_named(entry)) return fmt::format("{}: {}", cause->name, cause->title);
  const std::optional<Code> code = code_named(entry);
  if (!code) return std::string(entry);
  return fmt::format("{}: {}", entry, error_table[static_cast<std::size_t>(*code)].sentence);
}

std::string symptom_page(std::string_view error_text) {
  const std::vector<SymptomMatch> matches = match_symptoms(error_text);
  if (matches.empty()) return {};
  const SymptomMatch& best = matches.front();
  std::string out = fmt::format("{}\n\n{}\n", entry_title(best.symptom->entry), in_words(best.sureness));
  out += wrapped(fmt::format("pattern: {}", best.symptom->text), 2);
  out += wrapped(facts_of(best), 2);
  out += fmt::format("\n{}\n", text_of_entry(best.symptom->entry));
  if (matches.size() == 1) return out;
  out += "\nnear\n";
  for (std::size_t i = 1; i < std::min(matches.size(), most_near + 1); ++i)
    out += wrapped(entry_title(matches[i].symptom->entry), 2);
  return out;
}

}  // namespace pdsim::scenarios
