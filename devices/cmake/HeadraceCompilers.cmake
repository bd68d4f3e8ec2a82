# The oldest compilers that can compile Headrace, here and in projects that use it. README.md names them, too.
set(HEADRACE_OLDEST_GNU 12)
set(HEADRACE_OLDEST_Clang 16)
set(HEADRACE_OLDEST_NVCC 12.0)
set(HEADRACE_OLDEST_HIPCC 5.2)

# Stops the configuration, with one sentence, if the C++ compiler is too old.
function(headrace_check_cxx)
  set(needs "Headrace needs g++ ${HEADRACE_OLDEST_GNU} or clang ${HEADRACE_OLDEST_Clang}, or later")
  set(has "${CMAKE_CXX_COMPILER} is ${CMAKE_CXX_COMPILER_ID} ${CMAKE_CXX_COMPILER_VERSION}")
  set(oldest "${HEADRACE_OLDEST_${CMAKE_CXX_COMPILER_ID}}")
  if(oldest AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS oldest)
    message(FATAL_ERROR "${needs}: ${has}. Set CMAKE_CXX_COMPILER.")
  endif()
  # A new compiler may use an old standard library. Other compilers have version numbers of their own.
  if(NOT HEADRACE_CXX_SUFFICES)
    try_compile(suffices SOURCE_FROM_CONTENT headrace_suffices.cpp
"#include <algorithm>
#include <atomic>
#include <concepts>
#include <source_location>
#include <span>
int line(std::source_location where = std::source_location::current()) { return static_cast<int>(where.line()); }
int main() {
    int numbers[] = {line(), 1};
    std::atomic_ref<int>(numbers[1]).fetch_add(1);
    return static_cast<int>(std::span(numbers).size()) + std::ranges::max(numbers);
}
" CXX_STANDARD 20 CXX_STANDARD_REQUIRED ON NO_CACHE)
    if(NOT suffices)
      message(FATAL_ERROR "${needs}, with a standard library that has std::source_location and std::atomic_ref: ${has} and does not compile a program with both. Set CMAKE_CXX_COMPILER.")
    endif()
    set(HEADRACE_CXX_SUFFICES ON CACHE INTERNAL "The C++ compiler compiles what Headrace uses")
  endif()
endfunction()

# Sets `why_not` to the reason why nvcc, which this project has enabled, cannot compile Headrace; empty: it can.
function(headrace_check_nvcc why_not)
  set(${why_not} "" PARENT_SCOPE)
  if(CMAKE_CUDA_COMPILER_ID STREQUAL "NVIDIA" AND CMAKE_CUDA_COMPILER_VERSION VERSION_LESS HEADRACE_OLDEST_NVCC)
    set(${why_not} "nvcc ${CMAKE_CUDA_COMPILER_VERSION} is older than ${HEADRACE_OLDEST_NVCC}" PARENT_SCOPE)
  endif()
endfunction()

# Does the same for HEADRACE_HIPCC.
function(headrace_check_hipcc why_not)
  set(${why_not} "" PARENT_SCOPE)
  execute_process(COMMAND "${HEADRACE_HIPCC}" --version OUTPUT_VARIABLE text ERROR_QUIET)
  if(text MATCHES "HIP version: *([0-9]+\\.[0-9]+)" AND CMAKE_MATCH_1 VERSION_LESS HEADRACE_OLDEST_HIPCC)
    set(${why_not} "hipcc ${CMAKE_MATCH_1} is older than ${HEADRACE_OLDEST_HIPCC}" PARENT_SCOPE)
  endif()
endfunction()

# Warns once, in projects that use Headrace, if no build option asks for optimised code.
function(headrace_check_build_type)
  get_property(has_several GLOBAL PROPERTY GENERATOR_IS_MULTI_CONFIG)
  get_property(said GLOBAL PROPERTY HEADRACE_SAID_BUILD_TYPE)
  if(CMAKE_BUILD_TYPE OR has_several OR said OR CMAKE_CXX_FLAGS MATCHES "-O[1-9sfg]")
    return()
  endif()
  set_property(GLOBAL PROPERTY HEADRACE_SAID_BUILD_TYPE ON)
  message(WARNING "Headrace: this project has no CMAKE_BUILD_TYPE, so kernels for the CPU are compiled without optimisation and take about ten times as long; configure with -DCMAKE_BUILD_TYPE=Release.")
endfunction()
