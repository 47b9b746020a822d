# cmake --install: the command, the catalog, the libraries with their headers, and what find_package(pdsim) and
# pkg-config need to find them.

if(PDSIM_PORTABLE)
  return()  # one file is all there is to install: PdsimPackage.cmake
endif()

include(GNUInstallDirs)
include(CMakePackageConfigHelpers)
get_property(libraries GLOBAL PROPERTY PDSIM_LIBRARIES)
set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/pdsim)

install(TARGETS ${libraries} EXPORT pdsim-targets
  ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR}
  FILE_SET HEADERS DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/pdsim)
install(EXPORT pdsim-targets NAMESPACE pdsim:: DESTINATION ${package_dir})
# The component `command` is what a package for those who run pdsim holds; PdsimPackage.cmake makes one of it.
install(TARGETS pdsim RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT command)
install(DIRECTORY scenarios/catalog/ DESTINATION ${CMAKE_INSTALL_DATADIR}/pdsim/scenarios COMPONENT command
  FILES_MATCHING PATTERN "*.yaml")
install(DIRECTORY tools/guest/ DESTINATION ${CMAKE_INSTALL_DATADIR}/pdsim/guest COMPONENT command
  FILES_MATCHING PATTERN "*.py")
install(DIRECTORY scenarios/labs/ DESTINATION ${CMAKE_INSTALL_DATADIR}/pdsim/labs COMPONENT command)
install(DIRECTORY scenarios/plans/examples/ DESTINATION ${CMAKE_INSTALL_DATADIR}/pdsim/plans USE_SOURCE_PERMISSIONS COMPONENT command)
install(FILES LICENSE README.md DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT command)

# The manual page and the completion of shells, printed by the command itself.
set(printed ${CMAKE_CURRENT_BINARY_DIR}/printed)
add_custom_command(OUTPUT ${printed}/pdsim.1 ${printed}/pdsim ${printed}/_pdsim ${printed}/pdsim.fish
  COMMAND ${CMAKE_COMMAND} -E make_directory ${printed}
  COMMAND pdsim man > ${printed}/pdsim.1
  COMMAND pdsim completion bash > ${printed}/pdsim
  COMMAND pdsim completion zsh > ${printed}/_pdsim
  COMMAND pdsim completion fish > ${printed}/pdsim.fish
  DEPENDS pdsim VERBATIM)
add_custom_target(pdsim_printed ALL DEPENDS ${printed}/pdsim.1)
install(FILES ${printed}/pdsim.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 COMPONENT command)
install(FILES ${printed}/pdsim DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions COMPONENT command)
install(FILES ${printed}/_pdsim DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions COMPONENT command)
install(FILES ${printed}/pdsim.fish DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d COMPONENT command)

configure_package_config_file(tools/cmake/pdsimConfig.cmake.in pdsimConfig.cmake INSTALL_DESTINATION ${package_dir})
write_basic_package_version_file(pdsimConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/pdsimConfig.cmake ${CMAKE_CURRENT_BINARY_DIR}/pdsimConfigVersion.cmake
  tools/cmake/FindxxHash.cmake DESTINATION ${package_dir})

# pkg-config lists static libraries from the top layer down.
set(pc_libraries "")
foreach(library IN LISTS libraries)
  string(PREPEND pc_libraries "-l${library} ")
endforeach()
set(pc_private "")
if(PDSIM_HAVE_GLOO)
  string(APPEND pc_private "-lgloo ")
endif()
if(PDSIM_HAVE_MPI)
  foreach(file IN LISTS MPI_CXX_LIBRARIES)
    string(APPEND pc_private "${file} ")
  endforeach()
endif()
if(PDSIM_HAVE_NCCL)
  string(APPEND pc_private "-L${CUDAToolkit_LIBRARY_DIR} -lcudart_static -ldl -lrt ")
endif()
configure_file(tools/cmake/pdsim.pc.in pdsim.pc @ONLY)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/pdsim.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
