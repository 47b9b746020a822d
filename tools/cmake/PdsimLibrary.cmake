# What every target of this project is built with, and how a layer of it becomes a library.

include(PdsimPrecompiled)

add_library(pdsim_flags INTERFACE)
target_compile_options(pdsim_flags INTERFACE
  -Wall -Wextra -Wpedantic -Wconversion $<$<BOOL:${PDSIM_WERROR}>:-Werror>
  -ffp-contract=off)  # compilers must agree on every bit of a sum
if(CMAKE_UNITY_BUILD AND CMAKE_CXX_COMPILER_ID STREQUAL GNU)
  # What one file keeps to itself is not a header's. Which files share a unit depends on the machine's libraries, and a build there
  # must not fail for a name of another file; clang looks at them all the same.
  target_compile_options(pdsim_flags INTERFACE -Wno-subobject-linkage -Wshadow=local)
else()
  target_compile_options(pdsim_flags INTERFACE -Wshadow)
endif()
if(PDSIM_SANITIZE)
  target_compile_options(pdsim_flags INTERFACE -fsanitize=${PDSIM_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
  target_link_options(pdsim_flags INTERFACE -fsanitize=${PDSIM_SANITIZE})
  # clang 14 cannot assemble the marks of -fsanitize=function where coroutines are optimised, as fuzzers are.
  if(PDSIM_SANITIZE MATCHES fuzzer)
    target_compile_options(pdsim_flags INTERFACE -fno-sanitize=function)
  endif()
  # Exceptions unwind fibers on stacks that the sanitizer does not know; marks it left on them would look like overflows.
  # Heap and globals stay watched.
  if(PDSIM_SANITIZE MATCHES address)
    target_compile_options(pdsim_flags INTERFACE
      $<IF:$<CXX_COMPILER_ID:GNU>,--param=asan-stack=0,SHELL:-mllvm -asan-stack=0>)
  endif()
endif()

if(PDSIM_SANITIZE MATCHES thread)
  target_compile_options(pdsim_flags INTERFACE "SHELL:-include ${CMAKE_CURRENT_LIST_DIR}/timed_waits.h")
endif()

# group_units(<target> <folder>...): the folders at and below these share units of a unity build, as many in a row as have a unit's
# number of files together. So a new file disturbs no other unit as long as it fits, and no unit depends on which libraries a
# machine has.
function(group_units target)
  set_target_properties(${target} PROPERTIES UNITY_BUILD_MODE GROUP)
  list(TRANSFORM ARGN REPLACE "(.+)" "${PROJECT_SOURCE_DIR}/\\1/*.cpp" OUTPUT_VARIABLE patterns)
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS RELATIVE ${PROJECT_SOURCE_DIR} ${patterns})
  foreach(source IN LISTS sources)
    get_filename_component(folder ${source} DIRECTORY)
    string(MAKE_C_IDENTIFIER ${folder} folder)
    list(APPEND folders ${folder})
    list(APPEND sources_of_${folder} ${PROJECT_SOURCE_DIR}/${source})
  endforeach()
  list(REMOVE_DUPLICATES folders)
  set(files 0)
  foreach(folder IN LISTS folders)
    list(LENGTH sources_of_${folder} count)
    math(EXPR files "${files} + ${count}")
    if(files EQUAL count OR files GREATER CMAKE_UNITY_BUILD_BATCH_SIZE)
      set(files ${count})
      set(unit ${folder})
    endif()
    set_source_files_properties(${sources_of_${folder}} PROPERTIES UNITY_GROUP ${unit})
  endforeach()
endfunction()

# pdsim_library(<layer> PRECOMPILED <set> [FOLDERS <folder>...] [SOURCES <file>...] [PUBLIC <library>...] [PRIVATE <library>...]
#               [NOT_INSTALLED <header>...])
#
# The static library pdsim::<layer> of FOLDERS (the folder <layer> where none is given): every .cpp of them (or SOURCES), every .h but
# NOT_INSTALLED as an installed header; a set of PdsimPrecompiled.cmake is read before each file.
# A layer that has no source yet is not a target.
function(pdsim_library layer)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "PRECOMPILED" "FOLDERS;SOURCES;PUBLIC;PRIVATE;NOT_INSTALLED")
  if(NOT arg_FOLDERS)
    set(arg_FOLDERS ${layer})
  endif()
  if(NOT arg_SOURCES)
    list(TRANSFORM arg_FOLDERS APPEND /*.cpp OUTPUT_VARIABLE sources)
    file(GLOB_RECURSE arg_SOURCES CONFIGURE_DEPENDS ${sources})
  endif()
  if(NOT arg_SOURCES)
    return()
  endif()
  list(TRANSFORM arg_FOLDERS APPEND /*.h OUTPUT_VARIABLE headers)
  file(GLOB_RECURSE headers CONFIGURE_DEPENDS ${headers})
  list(REMOVE_ITEM headers ${arg_NOT_INSTALLED} "")
  add_library(pdsim_${layer} STATIC ${arg_SOURCES})
  add_library(pdsim::${layer} ALIAS pdsim_${layer})
  set_target_properties(pdsim_${layer} PROPERTIES EXPORT_NAME ${layer} POSITION_INDEPENDENT_CODE ON)
  group_units(pdsim_${layer} ${arg_FOLDERS})
  target_compile_features(pdsim_${layer} PUBLIC cxx_std_20)
  if(layer MATCHES "^(core|sim)$" AND (CMAKE_CXX_COMPILER_ID STREQUAL GNU OR PDSIM_SANITIZE MATCHES address))
    # What tests compute with: the proofs of all algorithms run in a third of the time. g++ takes as long as for -O0, clang longer.
    target_compile_options(pdsim_${layer} PRIVATE $<$<CONFIG:Debug>:-O1>)
  endif()
  target_sources(pdsim_${layer} PUBLIC FILE_SET HEADERS BASE_DIRS ${PROJECT_SOURCE_DIR} FILES ${headers})
  target_link_libraries(pdsim_${layer} PUBLIC $<BUILD_INTERFACE:pdsim_flags> ${arg_PUBLIC} PRIVATE ${arg_PRIVATE})
  set_property(GLOBAL APPEND PROPERTY PDSIM_LIBRARIES pdsim_${layer})
  pdsim_precompile(pdsim_${layer} ${arg_PRECOMPILED})
endfunction()
