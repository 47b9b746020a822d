# The list of diagnoses: every `extern const DiagnosisRow NAME_row;` of the rule files, so that a new rule is a file and nothing else.
# Included, it adds the list to pdsim_scenarios; as a script (cmake -P) it writes it to OUTPUT from FOLDER.

if(CMAKE_SCRIPT_MODE_FILE)
  file(GLOB_RECURSE rules ${FOLDER}/*.cpp)
  list(SORT rules)
  set(declarations "")
  set(entries "")
  foreach(rule IN LISTS rules)
    file(STRINGS ${rule} lines REGEX "^extern const DiagnosisRow [a-z0-9_]+;")
    foreach(line IN LISTS lines)
      string(REGEX REPLACE "^extern const DiagnosisRow ([a-z0-9_]+).*" "\\1" name "${line}")
      string(APPEND declarations "extern const DiagnosisRow ${name}\;\n")
      string(APPEND entries "      &diagnoses::${name},\n")
    endforeach()
  endforeach()
  string(REPLACE "\\;" ";" declarations "${declarations}")
  file(WRITE ${OUTPUT} "// Written by tools/cmake/PdsimDiagnoses.cmake.
#include \"scenarios/diagnosis/diagnoses.h\"

#include <algorithm>

namespace pdsim::scenarios {

namespace diagnoses {
${declarations}}  // namespace diagnoses

std::vector<const DiagnosisRow*> diagnosis_table() {
  std::vector<const DiagnosisRow*> rows{
${entries}  };
  std::sort(rows.begin(), rows.end(), [](const auto* a, const auto* b) { return a->order < b->order; });
  return rows;
}

}  // namespace pdsim::scenarios
")
  return()
endif()

set(folder ${PROJECT_SOURCE_DIR}/scenarios/diagnosis/rules)
set(output ${PROJECT_BINARY_DIR}/diagnosis_table.cpp)
file(GLOB_RECURSE rules CONFIGURE_DEPENDS ${folder}/*.cpp)
add_custom_command(OUTPUT ${output}
  COMMAND ${CMAKE_COMMAND} -DFOLDER=${folder} -DOUTPUT=${output} -P ${CMAKE_CURRENT_LIST_FILE}
  DEPENDS ${rules} ${CMAKE_CURRENT_LIST_FILE}
  COMMENT "Listing diagnoses" VERBATIM)
set_source_files_properties(${output} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
target_sources(pdsim_scenarios PRIVATE ${output})
target_include_directories(pdsim_scenarios PRIVATE ${PROJECT_SOURCE_DIR})
