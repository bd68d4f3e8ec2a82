# headrace_public_headers(OUT): what users may include, relative to the root, where <headrace/x.hpp> is x.hpp. It is
# installed, and each is compiled alone by tests/headers.
#
# A floor goes as it lies in the tree, with the .cuh and .cl files that headrace_add_kernels compiles into users'
# programs.
function(headrace_public_headers out)
  set(headers)
  foreach(floor IN ITEMS core devices persistent domains)
    file(GLOB_RECURSE found CONFIGURE_DEPENDS RELATIVE "${PROJECT_SOURCE_DIR}"
      "${PROJECT_SOURCE_DIR}/${floor}/*.hpp" "${PROJECT_SOURCE_DIR}/${floor}/*.h"
      "${PROJECT_SOURCE_DIR}/${floor}/*.cuh" "${PROJECT_SOURCE_DIR}/${floor}/*.cl")
    list(APPEND headers ${found})
  endforeach()
  set(${out} ${headers} PARENT_SCOPE)
endfunction()
