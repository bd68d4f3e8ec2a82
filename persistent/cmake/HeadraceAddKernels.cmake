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
    headrace_begin_unit(persistent launcher.hpp ${technology})
    foreach(pair IN LISTS pairs)
      string(REGEX MATCH "^(.*[^:]):((::)?[^:].*)$" matched "${pair}")
      set(kernel_type "${CMAKE_MATCH_1}")
      set(seeds_type "${CMAKE_MATCH_2}")
      headrace_name_in_unit(kernel "${kernel_type}")
      headrace_name_in_unit(seeds "${seeds_type}")
      set(body "{}")
      if(compiles)
        set(body "::headrace::on_${backend}::launcher<${kernel}, ${seeds}>()")
      endif()
      headrace_define_in_unit("EngineKernel<${kernel}, ${seeds}>" "${body}")
    endforeach()
    headrace_write_unit(${target} "${unit_name}" "${header}" "" ${arg_CUDA_OPTIONS})
  endforeach()
endfunction()
