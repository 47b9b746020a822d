# pdsim_os: what layers above ask of the operating system. pdsim_backends: the real worlds. What every real world needs is always there; backends/gloo, backends/mpi and backends/nccl where
# the library was found.
#
# PDSIM_WITH_<LIBRARY>  AUTO takes the library where it is, ON fails without it, OFF never looks.
# Sets PDSIM_<LIBRARY>_SUMMARY for the configure summary and PDSIM_BACKEND_DEPENDENCIES for the installed package; the
# library gets the same facts as definitions, so that `--on mpi` can say what this build has and lacks.

foreach(library IN ITEMS GLOO MPI NCCL)
  set(PDSIM_WITH_${library} AUTO CACHE STRING "the ${library} library: AUTO, ON or OFF")
  set_property(CACHE PDSIM_WITH_${library} PROPERTY STRINGS AUTO ON OFF)
  if(NOT PDSIM_WITH_${library} MATCHES "^(AUTO|ON|OFF)$")
    message(FATAL_ERROR "PDSIM_WITH_${library} is ${PDSIM_WITH_${library}}, and must be AUTO, ON or OFF")
  endif()
endforeach()

# pdsim_found(<LIBRARY> <version> <install hint>): the summary, and PDSIM_HAVE_<LIBRARY>. An empty version: not found.
macro(pdsim_found library version hint)
  set(PDSIM_HAVE_${library} FALSE)
  set(PDSIM_${library}_VERSION "${version}")
  if(PDSIM_WITH_${library} STREQUAL "OFF")
    set(PDSIM_${library}_SUMMARY "off (PDSIM_WITH_${library}=OFF)")
  elseif(NOT "${version}" STREQUAL "")
    set(PDSIM_HAVE_${library} TRUE)
    set(PDSIM_${library}_SUMMARY "found ${version}")
  elseif(PDSIM_WITH_${library} STREQUAL "ON")
    message(FATAL_ERROR "PDSIM_WITH_${library}=ON, but it was not found: ${hint}")
  else()
    set(PDSIM_${library}_SUMMARY "not found: ${hint}")
  endif()
endmacro()

set(version "")
if(NOT PDSIM_WITH_GLOO STREQUAL "OFF")
  find_package(Gloo CONFIG QUIET)
  if(TARGET gloo)
    set(version "${Gloo_VERSION}")
  endif()
endif()
pdsim_found(GLOO "${version}" "install libgloo-dev")

# Open MPI says more than the version of the standard that FindMPI reports: its header has its own. Another MPI will not do:
# its launcher tells processes who they are in its own way.
set(version "")
if(NOT PDSIM_WITH_MPI STREQUAL "OFF")
  find_package(MPI QUIET COMPONENTS CXX)
  if(MPI_CXX_FOUND)
    find_file(PDSIM_MPI_HEADER mpi.h HINTS ${MPI_CXX_INCLUDE_DIRS} NO_DEFAULT_PATH)
    mark_as_advanced(PDSIM_MPI_HEADER)
    if(PDSIM_MPI_HEADER)
      file(STRINGS ${PDSIM_MPI_HEADER} lines REGEX "#define OMPI_(MAJOR|MINOR|RELEASE)_VERSION ")
      string(REGEX MATCHALL "[0-9]+" numbers "${lines}")
      list(JOIN numbers "." numbers)
      if(numbers)
        set(version "Open MPI ${numbers}")
      endif()
    endif()
  endif()
endif()
pdsim_found(MPI "${version}" "install libopenmpi-dev and openmpi-bin")

# NCCL is a system package, lies beside CUDA, or is part of a Python environment (a namespace package, so it is asked for its
# locations). Only its header is needed here: the library is loaded when it is first asked for.
set(version "")
set(PDSIM_NVCC "")
if(NOT PDSIM_WITH_NCCL STREQUAL "OFF")
  find_package(CUDAToolkit QUIET)
  set(nccl_hints ${CUDAToolkit_INCLUDE_DIRS} ${CUDAToolkit_LIBRARY_DIR})
  find_program(PDSIM_PYTHON NAMES python3)
  mark_as_advanced(PDSIM_PYTHON)
  if(PDSIM_PYTHON)
    execute_process(COMMAND ${PDSIM_PYTHON} -c
      "import importlib.util as u\ns = u.find_spec('nvidia') and u.find_spec('nvidia.nccl')\nprint(';'.join(s.submodule_search_locations) if s else '', end='')"
      OUTPUT_VARIABLE python_hints ERROR_QUIET)
    list(APPEND nccl_hints ${python_hints})
  endif()
  find_path(PDSIM_NCCL_INCLUDE_DIR nccl.h HINTS ${nccl_hints} PATH_SUFFIXES include)
  find_library(PDSIM_NCCL_LIBRARY NAMES nccl libnccl.so.2 HINTS ${nccl_hints} PATH_SUFFIXES lib)
  mark_as_advanced(PDSIM_NCCL_INCLUDE_DIR PDSIM_NCCL_LIBRARY)
  if(PDSIM_NCCL_INCLUDE_DIR AND TARGET CUDA::cudart_static)
    file(STRINGS ${PDSIM_NCCL_INCLUDE_DIR}/nccl.h lines REGEX "#define NCCL_(MAJOR|MINOR|PATCH) ")
    string(REGEX MATCHALL "[0-9]+" numbers "${lines}")
    list(JOIN numbers "." numbers)
    if(numbers VERSION_GREATER_EQUAL 2.18)
      set(version "NCCL ${numbers}, CUDA ${CUDAToolkit_VERSION}")
    endif()
  endif()
endif()
pdsim_found(NCCL "${version}" "install NCCL (2.18 or newer) and the CUDA toolkit")

# nvcc compiles pdsim's kernels by itself, so that configuring need not try out a language more. Without it the host combines what
# NCCL cannot.
if(PDSIM_HAVE_NCCL)
  set(PDSIM_CUDA_ARCHITECTURES 80 90 CACHE STRING "device architectures of pdsim's CUDA kernels; the last one's code also serves newer devices")
  if(CUDAToolkit_NVCC_EXECUTABLE)
    set(PDSIM_NVCC ${CUDAToolkit_NVCC_EXECUTABLE})
    string(APPEND PDSIM_NCCL_SUMMARY ", kernels for ${PDSIM_CUDA_ARCHITECTURES}")
    string(REPLACE ";" " " PDSIM_NCCL_SUMMARY "${PDSIM_NCCL_SUMMARY}")
  else()
    string(APPEND PDSIM_NCCL_SUMMARY ", without nvcc: no kernels")
  endif()
endif()

pdsim_library(os PRECOMPILED backends FOLDERS backends/os PUBLIC pdsim_core)
file(GLOB_RECURSE sources CONFIGURE_DEPENDS backends/*.cpp)
list(FILTER sources EXCLUDE REGEX "backends/os/")
file(GLOB of_os CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/backends/os/*.h)
set(PDSIM_BACKEND_DEPENDENCIES "")
set(libraries "")
# pdsim_backend(<library> <package> <target>): the folder's sources, or where the library is not there the one that says so.
macro(pdsim_backend library package target)
  string(TOLOWER ${library} folder)
  if(PDSIM_HAVE_${library})
    list(FILTER sources EXCLUDE REGEX "backends/${folder}/absent\\.cpp$")
    list(APPEND PDSIM_BACKEND_DEPENDENCIES ${package})
    list(APPEND libraries ${target})
  else()
    list(FILTER sources EXCLUDE REGEX "backends/${folder}/(.*)\\.cpp$")
    list(APPEND sources ${PROJECT_SOURCE_DIR}/backends/${folder}/absent.cpp)
  endif()
endmacro()
pdsim_backend(GLOO Gloo gloo)
pdsim_backend(MPI MPI MPI::MPI_CXX)
pdsim_backend(NCCL CUDAToolkit CUDA::cudart_static)

if(PDSIM_NVCC)
  set(kernels ${PROJECT_SOURCE_DIR}/backends/nccl/device/device_kernels)
  set(kernels_object ${CMAKE_CURRENT_BINARY_DIR}/device_kernels.o)
  set(generate "")
  foreach(architecture IN LISTS PDSIM_CUDA_ARCHITECTURES)
    list(APPEND generate -gencode=arch=compute_${architecture},code=sm_${architecture})
    set(newest ${architecture})
  endforeach()
  list(APPEND generate -gencode=arch=compute_${newest},code=compute_${newest})
  if(PDSIM_WERROR)
    list(APPEND generate -Werror=all-warnings)
  endif()
  add_custom_command(OUTPUT ${kernels_object}
    COMMAND ${PDSIM_NVCC} -std=c++20 -O3 -fmad=false --expt-relaxed-constexpr ${generate}
      -I${PROJECT_SOURCE_DIR} -Xcompiler=-fPIC -c ${kernels}.cu -o ${kernels_object}
    DEPENDS ${kernels}.cu ${kernels}.h ${PROJECT_SOURCE_DIR}/core/collectives/arithmetic.h
      ${PROJECT_SOURCE_DIR}/core/collectives/half.h ${PROJECT_SOURCE_DIR}/core/base/types.h COMMENT "Building CUDA kernels" VERBATIM)
  list(APPEND sources ${kernels_object})
endif()
# Who uses pdsim need not have NCCL's types, which are in all headers of its folder but one.
file(GLOB_RECURSE of_nccl CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/backends/nccl/*.h)
list(REMOVE_ITEM of_nccl ${PROJECT_SOURCE_DIR}/backends/nccl/nccl_backend.h)
pdsim_library(backends PRECOMPILED backends SOURCES ${sources} PUBLIC pdsim_os PRIVATE ${libraries}
  NOT_INSTALLED ${of_nccl} ${of_os})
# The libraries' tables of calls use the same names.
foreach(library IN ITEMS gloo mpi nccl)
  set_source_files_properties(backends/${library}/native.cpp backends/${library}/raw.cpp PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
endforeach()
if(PDSIM_HAVE_NCCL)
  target_include_directories(pdsim_backends SYSTEM PRIVATE ${PDSIM_NCCL_INCLUDE_DIR})
  target_compile_definitions(pdsim_backends PRIVATE PDSIM_HAVE_NVCC=$<BOOL:${PDSIM_NVCC}>
    PDSIM_NCCL_LIBRARY="$<$<BOOL:${PDSIM_NCCL_LIBRARY}>:${PDSIM_NCCL_LIBRARY}>")
endif()
target_compile_definitions(pdsim_backends PRIVATE OMPI_SKIP_MPICXX)  # MPI's C++ interface, long gone from the standard
foreach(library IN ITEMS GLOO MPI NCCL)
  target_compile_definitions(pdsim_backends PRIVATE PDSIM_HAVE_${library}=$<BOOL:${PDSIM_HAVE_${library}}>
    PDSIM_${library}_VERSION="${PDSIM_${library}_VERSION}" PDSIM_${library}_SUMMARY="${PDSIM_${library}_SUMMARY}")
endforeach()
