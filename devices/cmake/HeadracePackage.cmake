# What `cmake --install` installs beside the programs: libraries, headers, and the package that find_package(headrace)
# reads. They are the component `library`.
include(CMakePackageConfigHelpers)
set(headrace_package_dir "${CMAKE_INSTALL_LIBDIR}/cmake/headrace")

get_property(headrace_installed_targets GLOBAL PROPERTY HEADRACE_INSTALLED_TARGETS)
install(TARGETS ${headrace_installed_targets} EXPORT headraceTargets COMPONENT library)
install(EXPORT headraceTargets NAMESPACE headrace:: DESTINATION "${headrace_package_dir}" COMPONENT library)

list(TRANSFORM HEADRACE_INCLUDE_DIRS APPEND "/" OUTPUT_VARIABLE headrace_headers)
install(DIRECTORY ${headrace_headers} DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}" COMPONENT library)

configure_package_config_file(
  "${CMAKE_CURRENT_LIST_DIR}/headraceConfig.cmake.in" "${PROJECT_BINARY_DIR}/headraceConfig.cmake"
  INSTALL_DESTINATION "${headrace_package_dir}" PATH_VARS CMAKE_INSTALL_INCLUDEDIR)
write_basic_package_version_file("${PROJECT_BINARY_DIR}/headraceConfigVersion.cmake" COMPATIBILITY SameMinorVersion)
install(FILES
  "${PROJECT_BINARY_DIR}/headraceConfig.cmake"
  "${PROJECT_BINARY_DIR}/headraceConfigVersion.cmake"
  DESTINATION "${headrace_package_dir}" COMPONENT library)
install(DIRECTORY devices/cmake/ persistent/cmake/ domains/grids/cmake/ DESTINATION "${headrace_package_dir}"
  COMPONENT library FILES_MATCHING PATTERN "Headrace*.cmake" PATTERN "*.in"
  PATTERN HeadraceOptions.cmake EXCLUDE PATTERN HeadraceTechnologies.cmake EXCLUDE PATTERN HeadracePackage.cmake EXCLUDE
  PATTERN headraceConfig.cmake.in EXCLUDE)
install(FILES docs/report.schema.json DESTINATION "${CMAKE_INSTALL_DATADIR}/headrace" COMPONENT library)
install(FILES LICENSE README.md CHANGELOG.md DESTINATION "${CMAKE_INSTALL_DOCDIR}" COMPONENT library)

if(NOT PROJECT_IS_TOP_LEVEL)
  return() # the other project makes its own packages
endif()

set(CPACK_PACKAGE_VENDOR "The Headrace authors")
set(CPACK_PACKAGE_CONTACT "The Headrace authors")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "${PROJECT_DESCRIPTION}")
set(CPACK_RESOURCE_FILE_LICENSE "${PROJECT_SOURCE_DIR}/LICENSE")
set(CPACK_RESOURCE_FILE_README "${PROJECT_SOURCE_DIR}/README.md")
set(CPACK_RPM_PACKAGE_LICENSE "Apache-2.0")
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_GENERATOR "TGZ;DEB")
set(CPACK_SOURCE_IGNORE_FILES "/build/;/demo/;/\\\\.git/")
include(CPack)
