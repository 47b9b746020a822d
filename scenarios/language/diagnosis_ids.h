// The ids that `expect: {diagnosis: ...}` takes, in the order of the table of diagnoses. That table stands above the language, which
// reads no rule; it defines this function (scenarios/diagnosis/diagnose.cpp).
#pragma once

#include <string_view>
#include <vector>

namespace pdsim::scenarios::language {

std::vector<std::string_view> diagnosis_ids();

}  // namespace pdsim::scenarios::language
