# CMake 3.25 does not know the option of nvcc 13 for C++20.
if(CMAKE_CUDA_COMPILER_LOADED AND NOT CMAKE_CUDA20_STANDARD_COMPILE_OPTION)
  set(CMAKE_CUDA20_STANDARD_COMPILE_OPTION "-std=c++20")
  set(CMAKE_CUDA20_EXTENSION_COMPILE_OPTION "-std=c++20")
  set(CMAKE_CUDA20_COMPILE_FEATURES cuda_std_20)
  list(APPEND CMAKE_CUDA_COMPILE_FEATURES cuda_std_20)
endif()

# headrace_add_kernels(target HEADER path.kernels.hpp KERNELS TracePath:CameraPaths Square BACKENDS cpu cuda hip
#                      [CUDA_OPTIONS options...])
#
# Compiles the kernels of HEADER for each of BACKENDS into `target`. The seeds of a kernel follow its colon. Without a colon
# the seeds are headrace::Indices, for consumers. Without BACKENDS all backends are used. A technology that is not named, or
# that this build lacks, gets null launchers: the program leaves its devices out with a message when it runs. CUDA_OPTIONS
# are options of nvcc for these kernels alone.
#
# Names are looked up from the global namespace, as after a leading `::`. A kernel may have any name, also one of Headrace's
# names (Trace, Event), and may be in any namespace (detail::Walk). Arguments of a kernel template are looked up in the same
# place: Walk<Step> means ::Walk<Step>.
#
# A target may have several headers, also with the same file name. A header may have several calls, with other kernels each
# time. A kernel with its seeds is named once: one call has all of its BACKENDS.
function(headrace_add_kernels target)
  cmake_parse_arguments(arg "" "HEADER" "KERNELS;BACKENDS;CUDA_OPTIONS" ${ARGN})
  if(NOT arg_HEADER OR NOT arg_KERNELS OR arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "headrace_add_kernels(target HEADER file KERNELS Kernel:Seeds... [BACKENDS cpu cuda hip] [CUDA_OPTIONS options...])")
  endif()
  headrace_choose_backends(headrace_add_kernels "${arg_BACKENDS}")
  cmake_path(ABSOLUTE_PATH arg_HEADER BASE_DIRECTORY "${CMAKE_CURRENT_SOURCE_DIR}" OUTPUT_VARIABLE header)
  if(NOT EXISTS "${header}")
    message(FATAL_ERROR "headrace_add_kernels: no such header: ${header}")
  endif()
  set(pairs "")
  foreach(pair IN LISTS arg_KERNELS)
    # The last colon that is not half of a '::' separates kernel and seeds.
    if(pair MATCHES "^(.*[^:]):((::)?[^:].*)$")
      list(APPEND pairs "${CMAKE_MATCH_1}:${CMAKE_MATCH_2}")
    else()
      list(APPEND pairs "${pair}:headrace::Indices")
    endif()
  endforeach()
  headrace_name_kernels_once(headrace_add_kernels ${target} ${pairs})
  headrace_number_unit(unit_name ${target} "${header}")
  target_link_libraries(${target} PRIVATE headrace::persistent headrace::cpu)

  foreach(technology IN ITEMS Cpu Cuda Hip)
    string(TOLOWER ${technology} backend)
    set(aliases "")
    set(definitions "")
    set(number 0)
    foreach(pair IN LISTS pairs)
      string(REGEX MATCH "^(.*[^:]):((::)?[^:].*)$" matched "${pair}")
      set(kernel "${CMAKE_MATCH_1}")
      set(seeds "${CMAKE_MATCH_2}")
      string(REGEX REPLACE "^::" "" kernel "${kernel}")
      string(REGEX REPLACE "^::" "" seeds "${seeds}")
      math(EXPR number "${number} + 1")
      set(types "headrace_kernel_${number}, headrace_seeds_${number}")
      set(body "{}")
      if(compiles_for_${backend})
        set(body "::headrace::on_${backend}::launcher<${types}>()")
      endif()
      string(APPEND aliases
        "using headrace_kernel_${number} = ::${kernel};\nusing headrace_seeds_${number} = ::${seeds};\n")
      string(APPEND definitions "
template <>
::headrace::Launcher headrace::launcher<::headrace::technology::${technology}, ${types}>() {
    return ${body};
}
")
    endforeach()
    set(adapter launcher.hpp)
    set(extension cpp)
    if(compiles_for_${backend})
      headrace_choose_adapter(adapter extension ${backend})
    endif()
    set(unit "${unit_name}_${backend}.${extension}")
    file(CONFIGURE OUTPUT "${unit}" @ONLY CONTENT
"// Written by headrace_add_kernels: what is in @header@, for @backend@.
#include <headrace/persistent/@adapter@>

#include \"@header@\"

// Here, where no name of Headrace hides one of the header.
@aliases@@definitions@")
    headrace_compile_unit(${target} "${unit}" ${arg_CUDA_OPTIONS})
  endforeach()
endfunction()

# Sets compiles_for_cpu, compiles_for_cuda and compiles_for_hip for `caller`. A backend compiles if it is among the backends
# asked for (none: all), the library has it, and this project has its compiler. A project has nvcc if it enables the language
# CUDA.
function(headrace_choose_backends caller asked)
  set(known cpu cuda hip)
  foreach(backend IN LISTS asked)
    if(NOT backend IN_LIST known)
      message(FATAL_ERROR "${caller}: unknown backend '${backend}'; there are cpu, cuda and hip")
    endif()
  endforeach()
  set(has_cpu ON)
  set(has_cuda OFF)
  set(has_hip OFF)
  if(TARGET headrace::cuda AND CMAKE_CUDA_COMPILER_LOADED)
    set(has_cuda ON)
  endif()
  if(TARGET headrace::hip AND HEADRACE_HIPCC)
    set(has_hip ON)
  endif()
  foreach(backend IN LISTS known)
    if(asked AND NOT backend IN_LIST asked)
      set(has_${backend} OFF)
    endif()
    set(compiles_for_${backend} ${has_${backend}} PARENT_SCOPE)
  endforeach()
endfunction()

# Fails if a kernel is named twice for one target. Without this check the linker would report it, without the header or the
# call.
function(headrace_name_kernels_once caller target)
  get_target_property(known ${target} HEADRACE_KERNELS)
  foreach(kernel IN LISTS ARGN)
    string(REGEX REPLACE "(^|:)::" "\\1" name "${kernel}")
    set(name "${caller} ${name}")
    if(name IN_LIST known)
      message(FATAL_ERROR "${caller}: the target ${target} has ${kernel} already; name it once, with all of its BACKENDS")
    endif()
    list(APPEND known "${name}")
    set_property(TARGET ${target} APPEND PROPERTY HEADRACE_KERNELS "${name}")
  endforeach()
endfunction()

# Returns where the sources of one call are written: a path without backend and extension, which no other call has.
function(headrace_number_unit out target header)
  get_target_property(number ${target} HEADRACE_KERNEL_UNITS)
  if(NOT number)
    set(number 0)
  endif()
  math(EXPR number "${number} + 1")
  set_target_properties(${target} PROPERTIES HEADRACE_KERNEL_UNITS ${number})
  cmake_path(GET header STEM stem)
  set(${out} "${CMAKE_CURRENT_BINARY_DIR}/headrace_kernels/${target}/${stem}_${number}" PARENT_SCOPE)
endfunction()

# Returns the header that adapts kernels to `backend`, and the extension of its sources.
function(headrace_choose_adapter adapter extension backend)
  if(backend STREQUAL "cpu")
    set(${adapter} detail/on_cpu.hpp PARENT_SCOPE)
    set(${extension} cpp PARENT_SCOPE)
    return()
  endif()
  set(${adapter} detail/on_simt.cuh PARENT_SCOPE)
  if(backend STREQUAL "cuda")
    set(${extension} cu PARENT_SCOPE)
  else()
    set(${extension} hip PARENT_SCOPE)
  endif()
endfunction()

# Compiles `unit` into `target` with the compiler that its extension names. Further arguments are options of nvcc.
function(headrace_compile_unit target unit)
  cmake_path(GET unit EXTENSION LAST_ONLY extension)
  if(extension STREQUAL ".cu")
    headrace_compile_cuda_kernels(${target} "${unit}" ${ARGN})
  elseif(extension STREQUAL ".hip")
    headrace_compile_hip(objects ${target} "${unit}")
    target_sources(${target} PRIVATE ${objects})
    set_source_files_properties(${objects} PROPERTIES EXTERNAL_OBJECT ON GENERATED ON)
    target_link_libraries(${target} PRIVATE headrace::hip)
  else()
    target_sources(${target} PRIVATE "${unit}")
    # In a joined source (CMAKE_UNITY_BUILD), one unit may use a template before another unit specialises it. Units are also
    # large.
    set_source_files_properties("${unit}" TARGET_DIRECTORY ${target} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
  endif()
endfunction()

# Compiles the CUDA unit in its own object library, so that nvcc's options stay with it: these options and the further
# arguments.
function(headrace_compile_cuda_kernels target unit)
  cmake_path(GET unit STEM stem)
  set(objects ${target}.${stem})
  add_library(${objects} OBJECT "${unit}")
  get_target_property(is_excluded ${target} EXCLUDE_FROM_ALL) # if the target is built only on demand, so are its objects
  set_target_properties(${objects} PROPERTIES POSITION_INDEPENDENT_CODE ON EXCLUDE_FROM_ALL "${is_excluded}")
  # nvcc only warns if a kernel calls a host function. The program then computes wrong results.
  target_compile_options(${objects} PRIVATE
    "$<$<COMPILE_LANGUAGE:CUDA>:--expt-relaxed-constexpr;-lineinfo;-Werror=cross-execution-space-call>" ${ARGN})
  # A project that has Headrace as a subfolder does not see what that folder tells CMake about nvcc.
  if(CMAKE_CUDA20_STANDARD_COMPILE_OPTION)
    set_target_properties(${objects} PROPERTIES CUDA_STANDARD 20)
  else()
    set_property(TARGET ${objects} PROPERTY CUDA_STANDARD)
    target_compile_options(${objects} PRIVATE "$<$<COMPILE_LANGUAGE:CUDA>:-std=c++20>")
  endif()
  target_include_directories(${objects} PRIVATE "$<TARGET_PROPERTY:${target},INCLUDE_DIRECTORIES>")
  target_compile_definitions(${objects} PRIVATE "$<TARGET_PROPERTY:${target},COMPILE_DEFINITIONS>")
  target_sources(${target} PRIVATE "$<TARGET_OBJECTS:${objects}>")
  target_link_libraries(${target} PRIVATE headrace::cuda)
endfunction()
