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

# headrace_library(NAME sources...): a static library of one floor, with the alias headrace::NAME.
function(headrace_library name)
  add_library(headrace_${name} STATIC ${ARGN})
  add_library(headrace::${name} ALIAS headrace_${name})
  set_target_properties(headrace_${name} PROPERTIES EXPORT_NAME ${name})
  target_compile_features(headrace_${name} PUBLIC cxx_std_20)
  target_include_directories(headrace_${name} PUBLIC
    "$<BUILD_INTERFACE:${HEADRACE_INCLUDE_DIR}>" "$<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>")
  target_link_libraries(headrace_${name} PRIVATE $<BUILD_INTERFACE:headrace_warnings>)
  set_property(GLOBAL APPEND PROPERTY HEADRACE_INSTALLED_TARGETS headrace_${name})
endfunction()
