# headrace_add_grid_kernels(target HEADER sobel.kernels.hpp KERNELS Sobel Scale
#                           [OPENCL sobel.cl...] [CPU file.hpp] [CUDA file.cuh] [HIP file.cuh] [BACKENDS cpu cuda hip]
#                           [CUDA_OPTIONS options...])
#
# Compiles the call operators of KERNELS for each of BACKENDS (default: all) into `target`.
# Further implementations:
# - OPENCL: the kernel for OpenCL is the __kernel function of the same name in one of the files;
# - CPU, CUDA, HIP: the unit of that technology includes this file. It may define
#   `specialise(headrace::technology::Cuda, headrace::Implementations<Sobel>&)`; what this function adds takes
#   precedence over the generic source.
# Kernels without a call operator have only these. A technology that this build lacks gets no implementation:
# a launch on its devices throws an error at run time.
#
# Names are looked up from the global namespace, and a target may have several headers and calls: see
# headrace_add_kernels.
function(headrace_add_grid_kernels target)
  cmake_parse_arguments(arg "" "HEADER;CPU;CUDA;HIP" "KERNELS;BACKENDS;OPENCL;CUDA_OPTIONS" ${ARGN})
  if(NOT arg_HEADER OR NOT arg_KERNELS OR arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "headrace_add_grid_kernels(target HEADER file KERNELS names... [OPENCL files...] [CPU file] [CUDA file] [HIP file] [BACKENDS cpu cuda hip] [CUDA_OPTIONS options...])")
  endif()
  headrace_choose_backends(headrace_add_grid_kernels "${arg_BACKENDS}")
  if(HEADRACE_HIP_OPTIMISATION STREQUAL -O0) # code for images would stay that gfx90a lacks
    set(HEADRACE_HIP_OPTIMISATION -O1)
  endif()
  foreach(file IN ITEMS HEADER CPU CUDA HIP)
    if(arg_${file})
      cmake_path(ABSOLUTE_PATH arg_${file} BASE_DIRECTORY "${CMAKE_CURRENT_SOURCE_DIR}")
      if(NOT EXISTS "${arg_${file}}")
        message(FATAL_ERROR "headrace_add_grid_kernels: no such file: ${arg_${file}}")
      endif()
    endif()
  endforeach()
  headrace_name_kernels_once(headrace_add_grid_kernels ${target} ${arg_KERNELS})
  headrace_number_unit(unit_name ${target} "${arg_HEADER}")
  target_link_libraries(${target} PRIVATE headrace::grids headrace::cpu)

  foreach(technology IN ITEMS Cpu Cuda Hip)
    headrace_begin_unit(domains/grids implementations.hpp ${technology})
    string(TOUPPER ${technology} upper)
    set(includes "")
    if(compiles AND arg_${upper})
      set(includes "#include \"${arg_${upper}}\"\n")
    endif()
    foreach(name IN LISTS arg_KERNELS)
      headrace_name_in_unit(kernel "${name}")
      set(body "{}")
      if(compiles)
        set(body "::headrace::on_${backend}::compiled<${kernel}>()")
      endif()
      headrace_define_in_unit("GridKernel<${kernel}>" "${body}")
    endforeach()
    headrace_write_unit(${target} "${unit_name}_grids" "${arg_HEADER}" "${includes}" ${arg_CUDA_OPTIONS})
  endforeach()

  # OpenCL C: finds the file of each kernel here. A kernel in none of the files has no implementation for
  # OpenCL.
  headrace_begin_unit(domains/grids opencl/opencl_grid.hpp OpenCl)
  set(includes "")
  set(number 0)
  foreach(file IN LISTS arg_OPENCL)
    cmake_path(ABSOLUTE_PATH file BASE_DIRECTORY "${CMAKE_CURRENT_SOURCE_DIR}" OUTPUT_VARIABLE path_${number})
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${path_${number}}")
    # The name is unique to the unit: other calls may embed a file with this name, or this file.
    set(embedded "${unit_name}_grids_opencl_${number}.cl.hpp")
    headrace_embed_as(${target} "${path_${number}}" "${embedded}" source_${number})
    string(APPEND includes "#include \"${embedded}\"\n")
    math(EXPR number "${number} + 1")
  endforeach()
  foreach(name IN LISTS arg_KERNELS)
    headrace_name_in_unit(kernel "${name}")
    string(REGEX REPLACE "^.*:" "" function "${name}")
    set(body "{}")
    set(number 0)
    foreach(file IN LISTS arg_OPENCL)
      file(STRINGS "${path_${number}}" found REGEX "(^|[^A-Za-z0-9_])${function}\\(" LIMIT_COUNT 1)
      if(found)
        cmake_path(GET path_${number} FILENAME file_name)
        set(body
          "::headrace::on_opencl::compiled<${kernel}>(\"${function}\", \"${file_name}\", ::headrace::embedded::source_${number})")
      endif()
      math(EXPR number "${number} + 1")
    endforeach()
    headrace_define_in_unit("GridKernel<${kernel}>" "${body}")
  endforeach()
  headrace_write_unit(${target} "${unit_name}_grids" "${arg_HEADER}" "${includes}")
endfunction()
