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
# For pkg-config. Static libraries name each other in circles, and bring what they are linked with.
set(HEADRACE_PC_LIBS)
foreach(target IN LISTS headrace_installed_targets)
  get_target_property(type ${target} TYPE)
  if(type MATCHES "^(STATIC|SHARED)_LIBRARY$")
    string(APPEND HEADRACE_PC_LIBS " -l${target}")
  endif()
endforeach()
set(HEADRACE_PC_PRIVATE_LIBS "-ldl -pthread")
if(HEADRACE_HAS_OPENCL)
  string(APPEND HEADRACE_PC_PRIVATE_LIBS " -lOpenCL")
endif()
if(HEADRACE_HAS_CUDA)
  string(APPEND HEADRACE_PC_PRIVATE_LIBS " -L${CUDAToolkit_LIBRARY_DIR} -lcudart_static -lrt")
endif()
if(HEADRACE_HAS_HIP)
  string(APPEND HEADRACE_PC_PRIVATE_LIBS " -lamdhip64")
endif()
set(HEADRACE_PC_IF_SHARED)
if(BUILD_SHARED_LIBS)
  set(HEADRACE_PC_IF_SHARED .private)
else()
  set(HEADRACE_PC_LIBS "-Wl,--start-group${HEADRACE_PC_LIBS} -Wl,--end-group ${HEADRACE_PC_PRIVATE_LIBS}")
endif()
# Relative to the file, so that an installation may move.
file(RELATIVE_PATH HEADRACE_PC_PREFIX "/${CMAKE_INSTALL_LIBDIR}/pkgconfig" "/")
string(REGEX REPLACE "/$" "" HEADRACE_PC_PREFIX "\${pcfiledir}/${HEADRACE_PC_PREFIX}")
set(HEADRACE_PC_INCLUDE "\${prefix}/${CMAKE_INSTALL_INCLUDEDIR}")
set(HEADRACE_PC_LIB "\${prefix}/${CMAKE_INSTALL_LIBDIR}")
configure_file(devices/cmake/headrace.pc.in "${PROJECT_BINARY_DIR}/headrace.pc" @ONLY)
install(FILES "${PROJECT_BINARY_DIR}/headrace.pc" DESTINATION "${CMAKE_INSTALL_LIBDIR}/pkgconfig" COMPONENT library)

install(DIRECTORY devices/cmake/ persistent/cmake/ domains/grids/cmake/ DESTINATION "${headrace_package_dir}"
  COMPONENT library FILES_MATCHING PATTERN "Headrace*.cmake" PATTERN "*.in"
  PATTERN HeadraceOptions.cmake EXCLUDE PATTERN HeadraceTechnologies.cmake EXCLUDE PATTERN HeadracePackage.cmake EXCLUDE
  PATTERN headraceConfig.cmake.in EXCLUDE PATTERN headrace.pc.in EXCLUDE)
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
