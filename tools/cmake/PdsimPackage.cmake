# cpack: a .deb and an archive of the command with its catalog, without the libraries and headers.
#
#   cpack --config build/release/CPackConfig.cmake -G DEB    what it needs is worked out from what it is linked with
#   cpack --config build/release/CPackConfig.cmake -G TGZ    for a machine with the same libraries, without root
#   cpack --config build/portable/CPackConfig.cmake          of a portable build (PdsimPortable.cmake): the one file, for any machine

set(CPACK_PACKAGE_NAME pdsim)
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "finds out why a distributed training job hangs")
set(CPACK_PACKAGE_CONTACT "the maintainers of pdsim")
set(CPACK_PACKAGE_VENDOR pdsim)
set(CPACK_RESOURCE_FILE_LICENSE ${CMAKE_CURRENT_SOURCE_DIR}/LICENSE)
set(CPACK_STRIP_FILES ON)
set(CPACK_COMPONENTS_ALL command)

set(CPACK_ARCHIVE_COMPONENT_INSTALL ON)
set(CPACK_ARCHIVE_COMMAND_FILE_NAME pdsim-${PROJECT_VERSION}-${CMAKE_SYSTEM_PROCESSOR})

set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_COMMAND_PACKAGE_NAME pdsim)
set(CPACK_DEBIAN_COMMAND_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_COMMAND_PACKAGE_SECTION science)
set(CPACK_DEBIAN_COMMAND_PACKAGE_RECOMMENDS python3-torch)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)

if(PDSIM_PORTABLE)
  install(TARGETS pdsim RUNTIME DESTINATION . COMPONENT portable)
  install(FILES LICENSE DESTINATION . COMPONENT portable)
  set(CPACK_GENERATOR TGZ)
  set(CPACK_COMPONENTS_ALL portable)
  set(CPACK_PACKAGING_INSTALL_PREFIX /)
  set(CPACK_COMPONENT_INCLUDE_TOPLEVEL_DIRECTORY ON)
  set(CPACK_ARCHIVE_PORTABLE_FILE_NAME pdsim-${PROJECT_VERSION}-linux-${CMAKE_SYSTEM_PROCESSOR})
endif()

include(CPack)
