#include "scenarios/diagnosis/diagnoses.h"
#include "scenarios/diagnosis/explain/error_texts.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

namespace pdsim::scenarios {
namespace {

void expect_columns(std::string_view text, std::string_view id) {
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    EXPECT_LE(text.substr(0, end).size(), 130U) << id << ": " << text.substr(0, end);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
}

TEST(Explain, EveryErrorCodeHasATextThatEndsWithAFix) {
  for (const ErrorRow& row : error_table) {
    const std::string_view text = text_of_error(row.code);
    EXPECT_NE(text.find("\n\nFix: "), std::string_view::npos) << row.name;
    expect_columns(text, row.name);
  }
}

TEST(Explain, EveryDiagnosisSaysHowToRecogniseItAndTheFix) {
  for (const DiagnosisRow* row : diagnosis_table()) {
    EXPECT_NE(row->text.find("How to recognise it: "), std::string_view::npos) << row->id;
    EXPECT_NE(row->text.find("Fix: "), std::string_view::npos) << row->id;
    expect_columns(row->text, row->id);
  }
}

TEST(Explain, TextsNameOnlyDiagnosesThatThereAre) {
  for (const ErrorRow& row : error_table) {
    const std::string text(text_of_error(row.code));
    const std::string_view lead = "pdsim explain ";
    for (std::size_t at = text.find(lead); at != std::string::npos; at = text.find(lead, at + 1)) {
      const std::size_t begin = at + lead.size();
      EXPECT_NE(diagnosis_named(text.substr(begin, text.find('`', begin) - begin)), nullptr) << text;
    }
  }
}

}  // namespace
}  // namespace pdsim::scenarios
