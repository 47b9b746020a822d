# The list of algorithm families, from the files of core/collectives/plans: each <family>.cpp exports families::<family>().

file(GLOB families CONFIGURE_DEPENDS RELATIVE ${PROJECT_SOURCE_DIR}/core/collectives/plans
  ${PROJECT_SOURCE_DIR}/core/collectives/plans/*.cpp)
set(declarations "")
set(functions "")
foreach(family IN LISTS families)
  string(REGEX REPLACE "\\.cpp$" "" family ${family})
  string(APPEND declarations "AlgorithmRows ${family}();\n")
  string(APPEND functions "\n      families::${family},")
endforeach()
file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/generated/algorithm_families.cpp @ONLY CONTENT
[[// Generated from the files of core/collectives/plans.
#include "core/collectives/plans/family.h"

namespace pdsim {
namespace families {
@declarations@}  // namespace families

std::span<const AlgorithmFamily> algorithm_families() {
  static constexpr std::array all{@functions@
  };
  return all;
}

}  // namespace pdsim
]])
target_sources(pdsim_core PRIVATE ${PROJECT_BINARY_DIR}/generated/algorithm_families.cpp)
