# The list of diagnoses: every `extern const DiagnosisRow NAME_row;` of the rule files, so that a new rule is a file and nothing else.
# Included, it adds the list to pdsim_scenarios, and that of their ids to pdsim_language, which lies below the rules; as a script
# (cmake -P) it writes them to OUTPUT and IDS from FOLDER.

if(CMAKE_SCRIPT_MODE_FILE)
  file(GLOB_RECURSE rules ${FOLDER}/*.cpp)
  list(SORT rules)
  set(declarations "")
  set(entries "")
  set(ids "")
  foreach(rule IN LISTS rules)
    file(STRINGS ${rule} lines REGEX "^extern const DiagnosisRow [a-z0-9_]+;")
    foreach(line IN LISTS lines)
      string(REGEX REPLACE "^extern const DiagnosisRow ([a-z0-9_]+).*" "\\1" name "${line}")
      string(APPEND declarations "extern const DiagnosisRow ${name}\;\n")
      string(APPEND entries "      &diagnoses::${name},\n")
    endforeach()
    file(READ ${rule} text)
    string(REGEX MATCHALL "_row{[ \n]*[0-9]+,[ \n]*\"[a-z0-9-]+\"" rows "${text}")
    foreach(row IN LISTS rows)
      string(REGEX REPLACE "_row{[ \n]*([0-9]+),[ \n]*(\"[a-z0-9-]+\")" "      {\\1, \\2},\n" row "${row}")
      string(APPEND ids "${row}")
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
  file(WRITE ${IDS} "// Written by tools/cmake/PdsimDiagnoses.cmake.
#include \"scenarios/language/diagnosis_ids.h\"

#include <algorithm>
#include <utility>

namespace pdsim::scenarios::language {

std::vector<std::string_view> diagnosis_ids() {
  std::vector<std::pair<int, std::string_view>> rows{
${ids}  };
  std::sort(rows.begin(), rows.end());
  std::vector<std::string_view> ids;
  for (const auto& row : rows) ids.push_back(row.second);
  return ids;
}

}  // namespace pdsim::scenarios::language
")
  return()
endif()

set(folder ${PROJECT_SOURCE_DIR}/scenarios/diagnosis/rules)
set(output ${PROJECT_BINARY_DIR}/diagnosis_table.cpp)
set(ids ${PROJECT_BINARY_DIR}/diagnosis_ids.cpp)
file(GLOB_RECURSE rules CONFIGURE_DEPENDS ${folder}/*.cpp)
add_custom_command(OUTPUT ${output} ${ids}
  COMMAND ${CMAKE_COMMAND} -DFOLDER=${folder} -DOUTPUT=${output} -DIDS=${ids} -P ${CMAKE_CURRENT_LIST_FILE}
  DEPENDS ${rules} ${CMAKE_CURRENT_LIST_FILE}
  COMMENT "Listing diagnoses" VERBATIM)
set_source_files_properties(${output} ${ids} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
target_sources(pdsim_scenarios PRIVATE ${output})
add_custom_target(list_of_diagnoses DEPENDS ${output} ${ids})  # one target writes what two libraries compile
add_dependencies(pdsim_scenarios list_of_diagnoses)
add_dependencies(pdsim_language list_of_diagnoses)
target_sources(pdsim_language PRIVATE ${ids})
target_include_directories(pdsim_language PRIVATE ${PROJECT_SOURCE_DIR})
target_include_directories(pdsim_scenarios PRIVATE ${PROJECT_SOURCE_DIR})
