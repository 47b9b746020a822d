#include "scenarios/diagnosis/explain/symptom_table.h"

namespace pdsim::scenarios {

std::vector<const Symptom*> symptom_table() {
  std::vector<const Symptom*> rows;
  for (const auto& part : {symptoms_of_nccl(), symptoms_of_groups(), symptoms_of_training(), symptoms_of_launchers()})
    for (const Symptom& row : part) rows.push_back(&row);
  return rows;
}

}  // namespace pdsim::scenarios
