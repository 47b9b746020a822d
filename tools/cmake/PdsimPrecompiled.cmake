# What most files of a layer include, compiled once for each way in which files are compiled: a third of a build's time went into reading
# the same headers. Files still include what they use: the check of headers alone and the preset tidy compile without it.

option(PDSIM_PRECOMPILED "compile the headers that most files include once" ON)

set(pdsim_precompiled_std <algorithm> <array> <charconv> <cmath> <cstdint> <cstring> <functional> <limits> <map> <memory> <optional> <set>
  <span> <string> <string_view> <tuple> <utility> <variant> <vector> <fmt/format.h> <fmt/ranges.h>)
set(pdsim_precompiled_core ${pdsim_precompiled_std})
set(pdsim_precompiled_backends ${pdsim_precompiled_std} ${PROJECT_SOURCE_DIR}/core/group/rank_program.h)
set(pdsim_precompiled_scenarios ${pdsim_precompiled_backends} <nlohmann/json.hpp> ${PROJECT_SOURCE_DIR}/scenarios/language/scenario.h)
set(pdsim_precompiled_threads ${pdsim_precompiled_backends} <gtest/gtest.h>)
set(pdsim_precompiled_tests ${pdsim_precompiled_scenarios} <gtest/gtest.h> <filesystem> <fstream>
  ${PROJECT_SOURCE_DIR}/scenarios/records/log_view.h)

# pdsim_precompile(<target> <set>): the first target of a set compiles it, the others, which need the same options, take that.
function(pdsim_precompile target set)
  if(NOT PDSIM_PRECOMPILED)
    return()
  endif()
  get_property(first GLOBAL PROPERTY pdsim_first_of_${set})
  if(first)
    target_precompile_headers(${target} REUSE_FROM ${first})
  else()
    target_precompile_headers(${target} PRIVATE ${pdsim_precompiled_${set}})
    set_property(GLOBAL PROPERTY pdsim_first_of_${set} ${target})
  endif()
endfunction()
