#include "scenarios/diagnosis/diagnoses.h"
#include "scenarios/language/diagnosis_ids.h"

#include <algorithm>
#include <string>

namespace pdsim::scenarios {

std::optional<Diagnosis> diagnose(const Report& report) {
  for (const DiagnosisRow* row : diagnosis_table()) {
    std::optional<Diagnosis> found = row->find(report);
    if (!found) continue;
    PDSIM_CHECK(!found->evidence.empty(), "a diagnosis cites the events it speaks about");
    found->id = std::string(row->id);
    std::sort(found->ranks.begin(), found->ranks.end());
    return found;
  }
  return std::nullopt;
}

std::vector<std::string_view> language::diagnosis_ids() {
  std::vector<std::string_view> ids;
  for (const DiagnosisRow* row : diagnosis_table()) ids.push_back(row->id);
  return ids;
}

const DiagnosisRow* diagnosis_named(std::string_view id) {
  const std::vector<const DiagnosisRow*> table = diagnosis_table();
  const auto it = std::find_if(table.begin(), table.end(), [id](const DiagnosisRow* row) { return row->id == id; });
  return it == table.end() ? nullptr : *it;
}

}  // namespace pdsim::scenarios
