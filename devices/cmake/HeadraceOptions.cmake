# The compile options of every target of this project. Nothing here reaches users of the installed package.

# The floors, the lowest first. Public headers are in FLOOR/include. Headers that floors and tests share are in
# FLOOR/internal; they are not installed. A floor sees its own headers and those of the floors below it.
set(HEADRACE_FLOORS core devices persistent domains)
set(HEADRACE_INCLUDE_DIRS ${HEADRACE_FLOORS})
list(TRANSFORM HEADRACE_INCLUDE_DIRS REPLACE "(.+)" "${PROJECT_SOURCE_DIR}/\\1/include")
set(HEADRACE_INTERNAL_DIRS ${HEADRACE_FLOORS})
list(TRANSFORM HEADRACE_INTERNAL_DIRS REPLACE "(.+)" "${PROJECT_SOURCE_DIR}/\\1/internal")

# For tests and benchmarks: the headers of every floor, <headrace/internal/FLOOR/...> among them, without its library.
add_library(headrace_internal INTERFACE)
target_include_directories(headrace_internal INTERFACE ${HEADRACE_INCLUDE_DIRS} ${HEADRACE_INTERNAL_DIRS})

# Warnings, for C++ only: nvcc and hipcc pass those of their own host compilers.
add_library(headrace_warnings INTERFACE)
target_compile_options(headrace_warnings INTERFACE
  $<$<COMPILE_LANGUAGE:CXX>:-Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wno-sign-conversion -Wnon-virtual-dtor>)
if(CMAKE_UNITY_BUILD) # joined sources may shadow each other's declarations
  target_compile_options(headrace_warnings INTERFACE $<$<COMPILE_LANGUAGE:CXX>:-Wno-shadow> $<$<COMPILE_LANG_AND_ID:CXX,GNU>:-Wno-subobject-linkage>)
endif()

# All libraries, and nothing else: the installed component `library`.
add_custom_target(headrace_library)

# headrace_program(target what it does): installs a program in the component `programs`, with its manual page if there is
# help2man. It finds the shared libraries beside it.
find_program(HEADRACE_HELP2MAN help2man)
mark_as_advanced(HEADRACE_HELP2MAN)
file(MAKE_DIRECTORY "${PROJECT_BINARY_DIR}/completions" "${PROJECT_BINARY_DIR}/man")
function(headrace_program target what)
  file(RELATIVE_PATH libraries "/${CMAKE_INSTALL_BINDIR}" "/${CMAKE_INSTALL_LIBDIR}")
  set_target_properties(${target} PROPERTIES INSTALL_RPATH "$ORIGIN/${libraries}")
  if(NOT HEADRACE_INSTALL)
    return()
  endif()
  install(TARGETS ${target} RUNTIME DESTINATION "${CMAKE_INSTALL_BINDIR}" COMPONENT programs)
  # What completes its options in bash, and its manual page: both of the table of options that --help has.
  set(completion "${PROJECT_BINARY_DIR}/completions/${target}")
  add_custom_command(OUTPUT "${completion}" COMMAND ${target} --bash-completion > "${completion}" DEPENDS ${target}
    COMMENT "Writing the completion of ${target}" VERBATIM)
  install(FILES "${completion}" DESTINATION "${CMAKE_INSTALL_DATADIR}/bash-completion/completions" COMPONENT programs
    OPTIONAL)
  set(documents "${completion}")
  if(HEADRACE_HELP2MAN)
    set(page "${PROJECT_BINARY_DIR}/man/${target}.1")
    add_custom_command(OUTPUT "${page}" COMMAND "${HEADRACE_HELP2MAN}" --no-info --version-string=${PROJECT_VERSION}
      "--name=${what}" -o "${page}" $<TARGET_FILE:${target}> DEPENDS ${target}
      COMMENT "Writing the manual page of ${target}" VERBATIM)
    install(FILES "${page}" DESTINATION "${CMAKE_INSTALL_MANDIR}/man1" COMPONENT programs OPTIONAL)
    list(APPEND documents "${page}")
  endif()
  add_custom_target(${target}_documents ALL DEPENDS ${documents})
endfunction()

# headrace_library(NAME sources...): a library of one floor, with the alias headrace::NAME. It is static, unless
# BUILD_SHARED_LIBS is on. Both kinds are compiled with the same options; core/export.hpp sets which symbols are
# visible.
function(headrace_library name)
  add_library(headrace_${name} ${ARGN})
  add_library(headrace::${name} ALIAS headrace_${name})
  add_dependencies(headrace_library headrace_${name})
  set_target_properties(headrace_${name} PROPERTIES EXPORT_NAME ${name} DEFINE_SYMBOL ""
    CXX_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON
    # Before 1.0 a minor version may break interfaces, so it is part of a shared library's name.
    VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR} INSTALL_RPATH "$ORIGIN")
  target_compile_features(headrace_${name} PUBLIC cxx_std_20)
  file(RELATIVE_PATH floor "${PROJECT_SOURCE_DIR}" "${CMAKE_CURRENT_SOURCE_DIR}")
  string(REGEX REPLACE "/.*" "" floor "${floor}")
  list(FIND HEADRACE_FLOORS ${floor} height)
  math(EXPR height "${height} + 1")
  list(SUBLIST HEADRACE_INCLUDE_DIRS 0 ${height} public)
  list(SUBLIST HEADRACE_INTERNAL_DIRS 0 ${height} internal)
  target_include_directories(headrace_${name}
    PUBLIC "$<BUILD_INTERFACE:${public}>" "$<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>"
    PRIVATE "${PROJECT_SOURCE_DIR}/${floor}" ${internal}) # only this floor includes "folder/name.hpp"
  target_link_libraries(headrace_${name} PRIVATE $<BUILD_INTERFACE:headrace_warnings>)
  set_property(GLOBAL APPEND PROPERTY HEADRACE_INSTALLED_TARGETS headrace_${name})
endfunction()
