# What every target of this project is compiled with. Nothing here reaches users of the installed package.

# <headrace/core/event.hpp> is spelt the same in the tree and after installation: links stand in for the latter.
set(HEADRACE_INCLUDE_DIR "${PROJECT_BINARY_DIR}/include")
file(MAKE_DIRECTORY "${HEADRACE_INCLUDE_DIR}/headrace")
foreach(floor IN ITEMS core devices persistent domains)
  if(NOT IS_SYMLINK "${HEADRACE_INCLUDE_DIR}/headrace/${floor}")
    file(CREATE_LINK "${PROJECT_SOURCE_DIR}/${floor}" "${HEADRACE_INCLUDE_DIR}/headrace/${floor}" SYMBOLIC)
  endif()
endforeach()
if(NOT IS_SYMLINK "${HEADRACE_INCLUDE_DIR}/headrace/headrace.hpp")
  file(CREATE_LINK "${PROJECT_SOURCE_DIR}/domains/headrace.hpp" "${HEADRACE_INCLUDE_DIR}/headrace/headrace.hpp" SYMBOLIC)
endif()

# Warnings, for C++ only: nvcc and hipcc pass their own host compiler's.
add_library(headrace_warnings INTERFACE)
target_compile_options(headrace_warnings INTERFACE
  $<$<COMPILE_LANGUAGE:CXX>:-Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wno-sign-conversion -Wnon-virtual-dtor>)
if(CMAKE_UNITY_BUILD) # what one source declares is no fault of those that it is joined with
  target_compile_options(headrace_warnings INTERFACE $<$<COMPILE_LANGUAGE:CXX>:-Wno-shadow -Wno-subobject-linkage>)
endif()

# All libraries, and nothing else: what is installed as the component `library`.
add_custom_target(headrace_library)

# headrace_program(target): installed as a part of the component `programs`, and finds the shared libraries beside it.
function(headrace_program target)
  file(RELATIVE_PATH libraries "/${CMAKE_INSTALL_BINDIR}" "/${CMAKE_INSTALL_LIBDIR}")
  set_target_properties(${target} PROPERTIES INSTALL_RPATH "$ORIGIN/${libraries}")
  if(HEADRACE_INSTALL)
    install(TARGETS ${target} RUNTIME DESTINATION "${CMAKE_INSTALL_BINDIR}" COMPONENT programs)
  endif()
endfunction()

# headrace_library(NAME sources...): a library of one floor, with the alias headrace::NAME; static, unless
# BUILD_SHARED_LIBS is on. Both kinds are compiled alike: core/export.hpp says what a library shows.
function(headrace_library name)
  add_library(headrace_${name} ${ARGN})
  add_library(headrace::${name} ALIAS headrace_${name})
  add_dependencies(headrace_library headrace_${name})
  set_target_properties(headrace_${name} PROPERTIES EXPORT_NAME ${name} DEFINE_SYMBOL ""
    CXX_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON
    # Before 1.0 a minor version may break interfaces, so it is part of a shared library's name.
    VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR} INSTALL_RPATH "$ORIGIN")
  target_compile_features(headrace_${name} PUBLIC cxx_std_20)
  target_include_directories(headrace_${name} PUBLIC
    "$<BUILD_INTERFACE:${HEADRACE_INCLUDE_DIR}>" "$<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>")
  target_link_libraries(headrace_${name} PRIVATE $<BUILD_INTERFACE:headrace_warnings>)
  set_property(GLOBAL APPEND PROPERTY HEADRACE_INSTALLED_TARGETS headrace_${name})
endfunction()
