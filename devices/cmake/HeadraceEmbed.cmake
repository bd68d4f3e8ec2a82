if(CMAKE_SCRIPT_MODE_FILE) # the command that this file adds runs it
  cmake_minimum_required(VERSION 3.25)
endif()

# headrace_embed(target file...): embeds the text of each file as a constant, for sources that are compiled at run
# time. `kernels/path.cl` becomes `headrace::embedded::path_cl`, a std::string_view, in the header "path.cl.hpp".
# `target` finds that header. After a change of a file, the next build embeds it again. The files of one target need
# different names.
#
# `#include "path"` and `#include <headrace/path.h>` are replaced by the text of that file, once in each embedded text: no
# compiler at run time has folders to look into. Such files are looked for beside the including one and in the folders of
# `target`. Other lines with `#include <...>` stay, so they stand where OpenCL C does not read them.
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
  set(folders "$<JOIN:$<TARGET_PROPERTY:${target},INCLUDE_DIRECTORIES>,|>")
  cmake_path(ABSOLUTE_PATH header BASE_DIRECTORY "${CMAKE_CURRENT_BINARY_DIR}" OUTPUT_VARIABLE into)
  add_custom_command(OUTPUT "${header}"
    COMMAND "${CMAKE_COMMAND}" "-DHEADRACE_EMBED=${path}" "-DHEADRACE_INTO=${into}" "-DHEADRACE_AS=${identifier}"
            "-DHEADRACE_FOLDERS=${folders}" -P "${CMAKE_CURRENT_FUNCTION_LIST_FILE}"
    DEPENDS "${path}" "${CMAKE_CURRENT_FUNCTION_LIST_FILE}" DEPFILE "${into}.d"
    VERBATIM COMMENT "Embedding ${name}")
  # Needs a target of its own, because only the folder of a command knows the command's outputs.
  string(MD5 which "${header}")
  add_custom_target(${target}_embedded_${which} DEPENDS "${header}")
  add_dependencies(${target} ${target}_embedded_${which})
endfunction()

# Sets `result` to the text of the file at `path`, with the files that it includes. Appends them to the global property
# HEADRACE_EMBEDDED_FILES.
function(headrace_text_with_includes path result)
  file(READ "${path}" left)
  string(REGEX REPLACE "#pragma once[^\n]*" "" left "${left}")
  cmake_path(GET path PARENT_PATH beside)
  cmake_path(GET path FILENAME name)
  set(include "\n[ \t]*#[ \t]*include[ \t]+(\"[^\"\n]+\"|<headrace/[^>\n]+\\.h>)[^\n]*")
  set(text "")
  set(line 1)
  string(PREPEND left "\n")
  while(left MATCHES "${include}")
    set(found "${CMAKE_MATCH_0}")
    string(REGEX REPLACE "[\"<>]" "" wanted "${CMAKE_MATCH_1}")
    string(FIND "${left}" "${found}" at)
    string(SUBSTRING "${left}" 0 ${at} before)
    string(LENGTH "${found}" length)
    math(EXPR at "${at} + ${length}")
    string(SUBSTRING "${left}" ${at} -1 left)
    string(REGEX REPLACE "[^\n]" "" lines "${before}\n")
    string(LENGTH "${lines}" lines)
    math(EXPR line "${line} + ${lines}")
    string(APPEND text "${before}\n")

    set(included "")
    foreach(folder IN LISTS beside HEADRACE_FOLDERS)
      if(EXISTS "${folder}/${wanted}")
        cmake_path(ABSOLUTE_PATH wanted BASE_DIRECTORY "${folder}" NORMALIZE OUTPUT_VARIABLE included)
        break()
      endif()
    endforeach()
    if(NOT included)
      message(FATAL_ERROR "headrace_embed: ${path} includes ${wanted}, which is neither beside it nor in a folder of the target's headers")
    endif()
    get_property(known GLOBAL PROPERTY HEADRACE_EMBEDDED_FILES)
    if(NOT included IN_LIST known)
      set_property(GLOBAL APPEND PROPERTY HEADRACE_EMBEDDED_FILES "${included}")
      headrace_text_with_includes("${included}" inner)
      cmake_path(GET included FILENAME inner_name)
      string(APPEND text "#line 1 \"${inner_name}\"\n${inner}")
    endif()
    string(APPEND text "#line ${line} \"${name}\"")
  endwhile()
  string(APPEND text "${left}")
  string(SUBSTRING "${text}" 1 -1 text) # without the line break that was put before it
  set(${result} "${text}" PARENT_SCOPE)
endfunction()

# The command above runs this. It expands nothing else in the file, whatever characters the file has.
if(CMAKE_SCRIPT_MODE_FILE AND DEFINED HEADRACE_EMBED)
  string(REPLACE "|" ";" HEADRACE_FOLDERS "${HEADRACE_FOLDERS}")
  cmake_path(GET HEADRACE_EMBED FILENAME name)
  headrace_text_with_includes("${HEADRACE_EMBED}" text)
  file(WRITE "${HEADRACE_INTO}" "// Written by headrace_embed from ${name}.
#pragma once
#include <string_view>

#ifdef __GNUC__ // and clang
    #pragma GCC diagnostic push
    #pragma GCC diagnostic ignored \"-Woverlength-strings\" // the standard promises 65536 characters
#endif
namespace headrace::embedded {
// Not inline: files in other folders may have the same name.
constexpr std::string_view ${HEADRACE_AS} = R\"headrace(${text})headrace\";
} // namespace headrace::embedded
#ifdef __GNUC__
    #pragma GCC diagnostic pop
#endif
")
  get_property(files GLOBAL PROPERTY HEADRACE_EMBEDDED_FILES)
  list(PREPEND files "${HEADRACE_EMBED}")
  list(TRANSFORM files REPLACE " " "\\\\ ")
  list(JOIN files " " files)
  string(REPLACE " " "\\ " into "${HEADRACE_INTO}")
  file(WRITE "${HEADRACE_INTO}.d" "${into}: ${files}\n")
endif()
