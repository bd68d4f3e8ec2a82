# tests/devices/compilers/old_compilers.cmake - compilers that are too old are refused in words. Run as a script:
#     cmake -DMODULE=.../HeadraceCompilers.cmake -DFOLDER=SCRATCH -P old_compilers.cmake
# -DWRONG=ON instead configures with a C++ compiler that is too old, which must end the script.
include("${MODULE}")

if(WRONG)
  set(CMAKE_CXX_COMPILER c++)
  set(CMAKE_CXX_COMPILER_ID GNU)
  set(CMAKE_CXX_COMPILER_VERSION 11.4.0)
  headrace_check_cxx()
  return()
endif()

function(expect what found expected)
  if(NOT found STREQUAL expected)
    message(FATAL_ERROR "${what}: '${found}' instead of '${expected}'")
  endif()
endfunction()

set(CMAKE_CUDA_COMPILER_ID NVIDIA)
foreach(case IN ITEMS "11.8.89=nvcc 11.8.89 is older than 12.0" "12.0.140=" "13.0.48=")
  string(REGEX MATCH "^([^=]*)=(.*)$" ignored "${case}")
  set(CMAKE_CUDA_COMPILER_VERSION "${CMAKE_MATCH_1}")
  set(expected "${CMAKE_MATCH_2}")
  headrace_check_nvcc(why_not)
  expect("nvcc ${CMAKE_CUDA_COMPILER_VERSION}" "${why_not}" "${expected}")
endforeach()

set(HEADRACE_HIPCC "${FOLDER}/hipcc")
foreach(case IN ITEMS "4.5.21072=hipcc 4.5 is older than 5.2" "5.2.21153-0=" "10.0.1=")
  string(REGEX MATCH "^([^=]*)=(.*)$" ignored "${case}")
  set(version "${CMAKE_MATCH_1}")
  set(expected "${CMAKE_MATCH_2}")
  file(WRITE "${HEADRACE_HIPCC}" "#!/bin/sh\necho 'HIP version: ${version}'\n")
  file(CHMOD "${HEADRACE_HIPCC}" PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE)
  headrace_check_hipcc(why_not)
  expect("hipcc ${version}" "${why_not}" "${expected}")
endforeach()
