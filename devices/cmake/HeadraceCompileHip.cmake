# headrace_compile_hip(OUT source...): objects of HIP sources, by hipcc, for HEADRACE_HIP_ARCHITECTURES.
function(headrace_compile_hip out)
  set(objects)
  list(TRANSFORM HEADRACE_HIP_ARCHITECTURES PREPEND "--offload-arch=" OUTPUT_VARIABLE architectures)
  foreach(source IN LISTS ARGN)
    cmake_path(ABSOLUTE_PATH source BASE_DIRECTORY "${CMAKE_CURRENT_SOURCE_DIR}")
    cmake_path(GET source FILENAME name)
    set(object "${CMAKE_CURRENT_BINARY_DIR}/hip/${name}.o")
    add_custom_command(OUTPUT "${object}"
      COMMAND ${CMAKE_COMMAND} -E make_directory "${CMAKE_CURRENT_BINARY_DIR}/hip"
      COMMAND "${HEADRACE_HIPCC}" ${architectures} -x hip -std=c++20 -O3 -fPIC -D__HIP_PLATFORM_AMD__
              "-I${HEADRACE_INCLUDE_DIR}" "-I${CMAKE_CURRENT_SOURCE_DIR}" -MD -MF "${object}.d"
              -c "${source}" -o "${object}"
      DEPENDS "${source}" DEPFILE "${object}.d" VERBATIM COMMENT "hipcc ${name}")
    list(APPEND objects "${object}")
  endforeach()
  set(${out} "${objects}" PARENT_SCOPE)
endfunction()
