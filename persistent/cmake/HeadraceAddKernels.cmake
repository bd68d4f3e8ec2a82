# CMake 3.25 does not know how to ask nvcc 13 for C++20.
if(HEADRACE_HAS_CUDA AND NOT CMAKE_CUDA20_STANDARD_COMPILE_OPTION)
  set(CMAKE_CUDA20_STANDARD_COMPILE_OPTION "-std=c++20")
  set(CMAKE_CUDA20_EXTENSION_COMPILE_OPTION "-std=c++20")
  set(CMAKE_CUDA20_COMPILE_FEATURES cuda_std_20)
  list(APPEND CMAKE_CUDA_COMPILE_FEATURES cuda_std_20)
endif()

# headrace_add_kernels(target HEADER path.kernels.hpp KERNELS TracePath:CameraPaths Square BACKENDS cpu cuda hip)
#
# Compiles the kernels of HEADER, each with the seeds behind its colon (without: headrace::Indices, for consumers), for each
# of BACKENDS, into `target`. Names are as seen from the global namespace or from headrace. A technology that is not named,
# or that this build lacks, gets launchers that are null: its devices are left out, in words, when the program runs.
# One generated unit per technology: nothing of two technologies meets in one compiler run.
function(headrace_add_kernels target)
  cmake_parse_arguments(arg "" "HEADER" "KERNELS;BACKENDS" ${ARGN})
  if(NOT arg_HEADER OR NOT arg_KERNELS OR arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "headrace_add_kernels(target HEADER file KERNELS Kernel:Seeds... [BACKENDS cpu cuda hip])")
  endif()
  if(NOT arg_BACKENDS)
    set(arg_BACKENDS cpu cuda hip)
  endif()
  foreach(backend IN LISTS arg_BACKENDS)
    if(NOT backend MATCHES "^(cpu|cuda|hip)$")
      message(FATAL_ERROR "headrace_add_kernels: unknown backend '${backend}'; there are cpu, cuda and hip")
    endif()
  endforeach()
  cmake_path(ABSOLUTE_PATH arg_HEADER BASE_DIRECTORY "${CMAKE_CURRENT_SOURCE_DIR}" OUTPUT_VARIABLE header)
  if(NOT EXISTS "${header}")
    message(FATAL_ERROR "headrace_add_kernels: no such header: ${header}")
  endif()
  cmake_path(GET header STEM stem)
  target_link_libraries(${target} PRIVATE headrace::persistent headrace::cpu)

  foreach(technology IN ITEMS Cpu Cuda Hip)
    string(TOLOWER ${technology} backend)
    string(TOUPPER ${technology} upper)
    set(built OFF)
    if(backend IN_LIST arg_BACKENDS AND (backend STREQUAL "cpu" OR HEADRACE_HAS_${upper}))
      set(built ON)
    endif()
    set(definitions "")
    foreach(pair IN LISTS arg_KERNELS)
      # The last colon that is not half of a '::' parts kernel and seeds.
      if(pair MATCHES "^(.*[^:]):([^:].*)$")
        set(types "${CMAKE_MATCH_1}, ${CMAKE_MATCH_2}")
      else()
        set(types "${pair}, headrace::Indices")
      endif()
      set(body "{}")
      if(built)
        set(body "on_${backend}::launcher<${types}>()")
      endif()
      string(APPEND definitions
        "template <>\nLauncher launcher<technology::${technology}, ${types}>() {\n    return ${body};\n}\n")
    endforeach()
    set(adapter launcher.hpp)
    set(extension cpp)
    if(built)
      headrace_choose_adapter(adapter extension ${backend})
    endif()
    set(unit "${CMAKE_CURRENT_BINARY_DIR}/headrace_kernels/${target}_${stem}_${backend}.${extension}")
    file(CONFIGURE OUTPUT "${unit}" @ONLY CONTENT
"// Written by headrace_add_kernels: what is in @header@, for @backend@.
#include <headrace/persistent/@adapter@>

#include \"@header@\"

namespace headrace {
@definitions@} // namespace headrace
")
    headrace_compile_unit(${target} "${unit}" "${stem}")
  endforeach()
endfunction()

# The header that adapts kernels to `backend`, and how its units end.
function(headrace_choose_adapter adapter extension backend)
  if(backend STREQUAL "cpu")
    set(${adapter} on_cpu.hpp PARENT_SCOPE)
    set(${extension} cpp PARENT_SCOPE)
    return()
  endif()
  set(${adapter} on_simt.cuh PARENT_SCOPE)
  if(backend STREQUAL "cuda")
    set(${extension} cu PARENT_SCOPE)
  else()
    set(${extension} hip PARENT_SCOPE)
  endif()
endfunction()

# Compiles `unit` into `target` with the compiler that its extension names.
function(headrace_compile_unit target unit stem)
  cmake_path(GET unit EXTENSION LAST_ONLY extension)
  if(extension STREQUAL ".cu")
    headrace_compile_cuda_kernels(${target} "${unit}" "${stem}")
  elseif(extension STREQUAL ".hip")
    headrace_compile_hip(objects ${target} "${unit}")
    target_sources(${target} PRIVATE ${objects})
    set_source_files_properties(${objects} PROPERTIES EXTERNAL_OBJECT ON GENERATED ON)
    target_link_libraries(${target} PRIVATE headrace::hip)
  else()
    target_sources(${target} PRIVATE "${unit}")
    # Where units are joined (CMAKE_UNITY_BUILD), what one specialises another may have used before; and they are large.
    set_source_files_properties("${unit}" TARGET_DIRECTORY ${target} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
  endif()
endfunction()

# The CUDA unit in an object library of its own, so that nvcc's options stay with it.
function(headrace_compile_cuda_kernels target unit stem)
  set(objects ${target}_${stem}_cuda)
  add_library(${objects} OBJECT "${unit}")
  set_target_properties(${objects} PROPERTIES CUDA_STANDARD 20 POSITION_INDEPENDENT_CODE ON)
  target_compile_options(${objects} PRIVATE "$<$<COMPILE_LANGUAGE:CUDA>:--expt-relaxed-constexpr;-lineinfo>")
  target_include_directories(${objects} PRIVATE
    "${HEADRACE_INCLUDE_DIR}" "$<TARGET_PROPERTY:${target},INCLUDE_DIRECTORIES>")
  target_compile_definitions(${objects} PRIVATE "$<TARGET_PROPERTY:${target},COMPILE_DEFINITIONS>")
  target_sources(${target} PRIVATE "$<TARGET_OBJECTS:${objects}>")
  target_link_libraries(${target} PRIVATE headrace::cuda CUDA::cudart_static)
endfunction()
