# headrace_compile_hip(OUT target source...): compiles HIP sources to objects with hipcc, for
# HEADRACE_HIP_ARCHITECTURES. Uses the definitions and include folders of `target`, except /usr/include. If that is
# named again, its headers do not find the compiler's headers.
function(headrace_compile_hip out target)
  set(objects)
  set(folder "${CMAKE_CURRENT_BINARY_DIR}/hip/${target}")
  set(folders "$<REMOVE_DUPLICATES:$<FILTER:$<TARGET_PROPERTY:${target},INCLUDE_DIRECTORIES>,EXCLUDE,^/usr/include$>>")
  set(definitions "$<REMOVE_DUPLICATES:$<TARGET_PROPERTY:${target},COMPILE_DEFINITIONS>>")
  if(NOT HEADRACE_HIP_OPTIMISATION)
    set(HEADRACE_HIP_OPTIMISATION -O3)
  endif()
  list(TRANSFORM HEADRACE_HIP_ARCHITECTURES PREPEND "--offload-arch=" OUTPUT_VARIABLE architectures)
  foreach(source IN LISTS ARGN)
    cmake_path(ABSOLUTE_PATH source BASE_DIRECTORY "${CMAKE_CURRENT_SOURCE_DIR}")
    cmake_path(GET source FILENAME name)
    set(object "${folder}/${name}.o")
    # HIP's own header comes first. If <cstring> came before it, std::memcpy would be a host function only.
    add_custom_command(OUTPUT "${object}"
      COMMAND ${CMAKE_COMMAND} -E make_directory "${folder}"
      COMMAND ${CMAKE_CXX_COMPILER_LAUNCHER} "${HEADRACE_HIPCC}" ${architectures} -x hip -std=c++20 ${HEADRACE_HIP_OPTIMISATION} -fPIC -D__HIP_PLATFORM_AMD__
              -include hip/hip_runtime.h -fvisibility=hidden "-I${CMAKE_CURRENT_SOURCE_DIR}"
              "$<$<BOOL:${definitions}>:-D$<JOIN:${definitions},;-D>>"
              "$<$<BOOL:${folders}>:-I$<JOIN:${folders},;-I>>"
              -MD -MF "${object}.d" -c "${source}" -o "${object}"
      DEPENDS "${source}" DEPFILE "${object}.d" VERBATIM COMMAND_EXPAND_LISTS COMMENT "hipcc ${name}")
    list(APPEND objects "${object}")
  endforeach()
  set(${out} "${objects}" PARENT_SCOPE)
endfunction()
