// THE table of diagnoses. Adding one: a file in rules/ that ends with its row, and its scenario.
//
//     extern const DiagnosisRow rank_hung_row;
//     const DiagnosisRow rank_hung_row{350, "rank-hung", "a rank stopped ...", rank_hung, rank_hung_text};
//
//   speaks   only if it can cite recorded events (Diagnosis::evidence); reads flight records, never names of scenarios
//   silent   returns nothing; the report then shows the first divergence and says that no known cause matches
//   healthy  runs, including those with stragglers, get none
#pragma once

#include "scenarios/diagnosis/report.h"

#include <optional>
#include <string_view>
#include <vector>

namespace pdsim::scenarios {

struct DiagnosisRow {
  int order;               // rules are asked in this order: a specific one before those that would also match
  std::string_view id;     // as scenario files, reports and `pdsim explain` write it
  std::string_view title;  // one line
  std::optional<Diagnosis> (*find)(const Report& report);
  std::string_view text;  // for `pdsim explain`: the events, how to recognise them, the fix
};

// All rows, by their order. The list of rule files is written by the build (tools/cmake/PdsimDiagnoses.cmake).
std::vector<const DiagnosisRow*> diagnosis_table();

// The first row that speaks; its id is filled in, and the waiting ranks and the calls where the rule left them out.
std::optional<Diagnosis> diagnose(const Report& report);
// The finding of this row, with its id and the waiting ranks; nothing when it is silent.
std::optional<Diagnosis> diagnosis_by(const Report& report, const DiagnosisRow& row);
// The row with this id; null when there is none.
const DiagnosisRow* diagnosis_named(std::string_view id);

}  // namespace pdsim::scenarios
