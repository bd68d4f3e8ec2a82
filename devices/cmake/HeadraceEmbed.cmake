# headrace_embed(target file...): embeds the text of each file as a constant, for sources that are compiled at run
# time. `kernels/path.cl` becomes `headrace::embedded::path_cl`, a std::string_view, in the header "path.cl.hpp".
# `target` finds that header. After a change of a file, the next build embeds it again. The files of one target need
# different names.
function(headrace_embed target)
  set(folder "${CMAKE_CURRENT_BINARY_DIR}/headrace_embedded/${target}")
  get_target_property(known ${target} HEADRACE_EMBEDDED)
  foreach(file IN LISTS ARGN)
    cmake_path(ABSOLUTE_PATH file BASE_DIRECTORY "${CMAKE_CURRENT_SOURCE_DIR}" NORMALIZE OUTPUT_VARIABLE path)
    if(NOT EXISTS "${path}")
      message(FATAL_ERROR "headrace_embed: no such file: ${path}")
    endif()
    if(path IN_LIST known)
      continue()
    endif()
    cmake_path(GET path FILENAME name)
    foreach(other IN LISTS known)
      cmake_path(GET other FILENAME taken)
      if(taken STREQUAL name)
        message(FATAL_ERROR "headrace_embed: ${target} has ${other} already; ${path} needs another name, because both become ${name}.hpp")
      endif()
    endforeach()
    string(MAKE_C_IDENTIFIER "${name}" identifier)
    headrace_embed_as(${target} "${path}" "${folder}/${name}.hpp" ${identifier})
    list(APPEND known "${path}")
    set_property(TARGET ${target} APPEND PROPERTY HEADRACE_EMBEDDED "${path}")
  endforeach()
  target_include_directories(${target} PRIVATE "$<BUILD_INTERFACE:${folder}>")
endfunction()

# Writes the text of the file at `path` as headrace::embedded::`identifier` to `header`, before `target` is compiled.
function(headrace_embed_as target path header identifier)
  cmake_path(GET path FILENAME name)
  add_custom_command(OUTPUT "${header}"
    COMMAND "${CMAKE_COMMAND}" "-DHEADRACE_EMBED=${path}" "-DHEADRACE_INTO=${header}" "-DHEADRACE_AS=${identifier}"
            -P "${CMAKE_CURRENT_FUNCTION_LIST_FILE}"
    DEPENDS "${path}" "${CMAKE_CURRENT_FUNCTION_LIST_FILE}" VERBATIM COMMENT "Embedding ${name}")
  # Needs a target of its own, because only the folder of a command knows the command's outputs.
  string(MD5 which "${header}")
  add_custom_target(${target}_embedded_${which} DEPENDS "${header}")
  add_dependencies(${target} ${target}_embedded_${which})
endfunction()

# The command above runs this. It expands nothing in the file, whatever characters the file has.
if(CMAKE_SCRIPT_MODE_FILE AND DEFINED HEADRACE_EMBED)
  file(READ "${HEADRACE_EMBED}" text)
  cmake_path(GET HEADRACE_EMBED FILENAME name)
  file(WRITE "${HEADRACE_INTO}" "// Written by headrace_embed from ${name}.
#pragma once
#include <string_view>

namespace headrace::embedded {
// Not inline: files in other folders may have the same name.
constexpr std::string_view ${HEADRACE_AS} = R\"headrace(${text})headrace\";
} // namespace headrace::embedded
")
endif()
