# xxHash::xxhash, the library of the fingerprints (BSD 2-clause), by its header and library; XXH3 needs version 0.8.
find_path(xxHash_INCLUDE_DIR xxhash.h)
find_library(xxHash_LIBRARY xxhash)
mark_as_advanced(xxHash_INCLUDE_DIR xxHash_LIBRARY)
if(xxHash_INCLUDE_DIR)
  file(STRINGS ${xxHash_INCLUDE_DIR}/xxhash.h lines REGEX "#define XXH_VERSION_(MAJOR|MINOR|RELEASE) ")
  string(REGEX MATCHALL " [0-9]+" numbers "${lines}")
  string(REPLACE " " "" numbers "${numbers}")
  list(JOIN numbers "." xxHash_VERSION)
endif()
include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(xxHash REQUIRED_VARS xxHash_LIBRARY xxHash_INCLUDE_DIR VERSION_VAR xxHash_VERSION
  REASON_FAILURE_MESSAGE "install libxxhash-dev, as tools/setup does")
if(xxHash_FOUND AND NOT TARGET xxHash::xxhash)
  add_library(xxHash::xxhash UNKNOWN IMPORTED)
  set_target_properties(xxHash::xxhash PROPERTIES IMPORTED_LOCATION ${xxHash_LIBRARY}
    INTERFACE_INCLUDE_DIRECTORIES ${xxHash_INCLUDE_DIR})
endif()
