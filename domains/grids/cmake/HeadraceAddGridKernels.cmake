# headrace_add_grid_kernels(target HEADER sobel.kernels.hpp KERNELS Sobel Scale
#                           [OPENCL sobel.cl...] [CPU file.hpp] [CUDA file.cuh] [HIP file.cuh] [BACKENDS cpu cuda hip])
#
# Compiles the call operators of KERNELS for each of BACKENDS (all, unless named) into `target`. Beside them:
# - OPENCL: the kernel for OpenCL is the __kernel function of the same name in one of the files;
# - CPU, CUDA, HIP: a file that the unit of that technology includes; what its function
#   `specialise(headrace::technology::Cuda, headrace::Implementations<Sobel>&)` adds goes before the generic source.
# Kernels without a call operator have these alone. Names are as seen from the global namespace or from headrace.
# A technology that this build lacks gets no implementation: a launch on its devices says so when the program runs.
function(headrace_add_grid_kernels target)
  cmake_parse_arguments(arg "" "HEADER;CPU;CUDA;HIP" "KERNELS;BACKENDS;OPENCL" ${ARGN})
  if(NOT arg_HEADER OR NOT arg_KERNELS OR arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "headrace_add_grid_kernels(target HEADER file KERNELS names... [OPENCL files...] [CPU file] [CUDA file] [HIP file] [BACKENDS cpu cuda hip])")
  endif()
  if(NOT arg_BACKENDS)
    set(arg_BACKENDS cpu cuda hip)
  endif()
  foreach(file IN ITEMS HEADER CPU CUDA HIP)
    if(arg_${file})
      cmake_path(ABSOLUTE_PATH arg_${file} BASE_DIRECTORY "${CMAKE_CURRENT_SOURCE_DIR}")
      if(NOT EXISTS "${arg_${file}}")
        message(FATAL_ERROR "headrace_add_grid_kernels: no such file: ${arg_${file}}")
      endif()
    endif()
  endforeach()
  cmake_path(GET arg_HEADER STEM stem)
  target_link_libraries(${target} PRIVATE headrace::grids headrace::cpu)

  foreach(technology IN ITEMS Cpu Cuda Hip)
    string(TOLOWER ${technology} backend)
    string(TOUPPER ${technology} upper)
    set(adapter implementations.hpp)
    set(extension cpp)
    set(body "{}")
    set(special "")
    if(backend IN_LIST arg_BACKENDS AND (backend STREQUAL "cpu" OR HEADRACE_HAS_${upper}))
      set(body "on_${backend}::compiled")
      headrace_choose_adapter(adapter extension ${backend})
      if(arg_${upper})
        set(special "#include \"${arg_${upper}}\"\n")
      endif()
    endif()
    set(definitions "")
    foreach(kernel IN LISTS arg_KERNELS)
      set(call "${body}")
      if(NOT body STREQUAL "{}")
        set(call "${body}<${kernel}>()")
      endif()
      string(APPEND definitions "template <>\nImplementations<${kernel}> compiled_for<technology::${technology}, ${kernel}>() {\n    return ${call};\n}\n")
    endforeach()
    headrace_write_grid_unit(unit ${target}_${stem}_grids_${backend}.${extension})
    headrace_compile_unit(${target} "${unit}" "${stem}_grids")
  endforeach()

  # OpenCL C: which file has which kernel is found here, so that a kernel in none of them simply has no implementation.
  set(backend opencl)
  set(adapter opencl/opencl_grid.hpp)
  set(special "")
  set(definitions "")
  foreach(kernel IN LISTS arg_KERNELS)
    set(call "{}")
    string(REGEX REPLACE "^.*:" "" function "${kernel}")
    foreach(file IN LISTS arg_OPENCL)
      cmake_path(ABSOLUTE_PATH file BASE_DIRECTORY "${CMAKE_CURRENT_SOURCE_DIR}" OUTPUT_VARIABLE path)
      set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${path}")
      file(STRINGS "${path}" found REGEX "(^|[^A-Za-z0-9_])${function}\\(" LIMIT_COUNT 1)
      if(found)
        cmake_path(GET path FILENAME name)
        string(MAKE_C_IDENTIFIER "${name}" identifier)
        string(APPEND special "#include \"${name}.hpp\"\n")
        set(call "on_opencl::compiled<${kernel}>(\"${function}\", \"${name}\", embedded::${identifier})")
      endif()
    endforeach()
    string(APPEND definitions "template <>\nImplementations<${kernel}> compiled_for<technology::OpenCl, ${kernel}>() {\n    return ${call};\n}\n")
  endforeach()
  headrace_write_grid_unit(unit ${target}_${stem}_grids_opencl.cpp)
  headrace_compile_unit(${target} "${unit}" "${stem}_grids")
  if(arg_OPENCL)
    headrace_embed(${target} ${arg_OPENCL})
  endif()
endfunction()

# Writes one unit from the variables of headrace_add_grid_kernels and says where it is.
function(headrace_write_grid_unit out name)
  set(unit "${CMAKE_CURRENT_BINARY_DIR}/headrace_kernels/${name}")
  file(CONFIGURE OUTPUT "${unit}" @ONLY CONTENT
"// Written by headrace_add_grid_kernels: what is in @arg_HEADER@, for @backend@.
#include <headrace/domains/grids/@adapter@>

#include \"@arg_HEADER@\"
@special@
namespace headrace {
@definitions@} // namespace headrace
")
  set(${out} "${unit}" PARENT_SCOPE)
endfunction()
