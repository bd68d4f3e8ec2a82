# headrace_embed(target file...): the text of each file as a constant, for sources that are compiled at run time.
# `kernels/path.cl` becomes `headrace::embedded::path_cl`, a std::string_view, in the header "path.cl.hpp" that
# `target` finds; an edited file is embedded anew by the next build.
function(headrace_embed target)
  set(folder "${CMAKE_CURRENT_BINARY_DIR}/headrace_embedded/${target}")
  set(headers "")
  foreach(file IN LISTS ARGN)
    cmake_path(ABSOLUTE_PATH file BASE_DIRECTORY "${CMAKE_CURRENT_SOURCE_DIR}" OUTPUT_VARIABLE path)
    if(NOT EXISTS "${path}")
      message(FATAL_ERROR "headrace_embed: no such file: ${path}")
    endif()
    cmake_path(GET path FILENAME name)
    add_custom_command(OUTPUT "${folder}/${name}.hpp"
      COMMAND "${CMAKE_COMMAND}" "-DHEADRACE_EMBED=${path}" "-DHEADRACE_INTO=${folder}/${name}.hpp"
              -P "${CMAKE_CURRENT_FUNCTION_LIST_FILE}"
      DEPENDS "${path}" "${CMAKE_CURRENT_FUNCTION_LIST_FILE}" VERBATIM COMMENT "Embedding ${name}")
    list(APPEND headers "${folder}/${name}.hpp")
  endforeach()
  # By a target of its own, because the outputs of commands are known in their own folder only.
  string(MD5 which "${headers}")
  add_custom_target(${target}_embedded_${which} DEPENDS ${headers})
  add_dependencies(${target} ${target}_embedded_${which})
  target_include_directories(${target} PRIVATE "$<BUILD_INTERFACE:${folder}>")
endfunction()

# What the command above runs. Nothing in the file is expanded, whatever characters it has.
if(CMAKE_SCRIPT_MODE_FILE AND DEFINED HEADRACE_EMBED)
  file(READ "${HEADRACE_EMBED}" text)
  cmake_path(GET HEADRACE_EMBED FILENAME name)
  string(MAKE_C_IDENTIFIER "${name}" identifier)
  file(WRITE "${HEADRACE_INTO}" "// Written by headrace_embed from ${name}.
#pragma once
#include <string_view>

namespace headrace::embedded {
// Not inline: files in other folders may have the same name.
constexpr std::string_view ${identifier} = R\"headrace(${text})headrace\";
} // namespace headrace::embedded
")
endif()
