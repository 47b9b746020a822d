// The ids that `expect: {diagnosis: ...}` takes, in the order of the table of diagnoses. The rules are a layer above the
// language, which calls none of them; the build reads their ids from the rule files (tools/cmake/PdsimDiagnoses.cmake).
#pragma once

#include <string_view>
#include <vector>

namespace pdsim::scenarios::language {

std::vector<std::string_view> diagnosis_ids();

}  // namespace pdsim::scenarios::language
