// devices/opencl/check.cpp - see check.hpp.
#include <headrace/devices/opencl/check.hpp>

#include <string>

namespace headrace::opencl {

std::string_view status_name(cl_int status) noexcept {
#define HEADRACE_STATUS(name)                                                                                \
    case name:                                                                                               \
        return #name
    switch (status) {
        HEADRACE_STATUS(CL_SUCCESS);
        HEADRACE_STATUS(CL_DEVICE_NOT_FOUND);
        HEADRACE_STATUS(CL_DEVICE_NOT_AVAILABLE);
        HEADRACE_STATUS(CL_COMPILER_NOT_AVAILABLE);
        HEADRACE_STATUS(CL_MEM_OBJECT_ALLOCATION_FAILURE);
        HEADRACE_STATUS(CL_OUT_OF_RESOURCES);
        HEADRACE_STATUS(CL_OUT_OF_HOST_MEMORY);
        HEADRACE_STATUS(CL_PROFILING_INFO_NOT_AVAILABLE);
        HEADRACE_STATUS(CL_MEM_COPY_OVERLAP);
        HEADRACE_STATUS(CL_BUILD_PROGRAM_FAILURE);
        HEADRACE_STATUS(CL_MAP_FAILURE);
        HEADRACE_STATUS(CL_MISALIGNED_SUB_BUFFER_OFFSET);
        HEADRACE_STATUS(CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST);
        HEADRACE_STATUS(CL_COMPILE_PROGRAM_FAILURE);
        HEADRACE_STATUS(CL_LINKER_NOT_AVAILABLE);
        HEADRACE_STATUS(CL_LINK_PROGRAM_FAILURE);
        HEADRACE_STATUS(CL_KERNEL_ARG_INFO_NOT_AVAILABLE);
        HEADRACE_STATUS(CL_INVALID_VALUE);
        HEADRACE_STATUS(CL_INVALID_DEVICE_TYPE);
        HEADRACE_STATUS(CL_INVALID_PLATFORM);
        HEADRACE_STATUS(CL_INVALID_DEVICE);
        HEADRACE_STATUS(CL_INVALID_CONTEXT);
        HEADRACE_STATUS(CL_INVALID_QUEUE_PROPERTIES);
        HEADRACE_STATUS(CL_INVALID_COMMAND_QUEUE);
        HEADRACE_STATUS(CL_INVALID_HOST_PTR);
        HEADRACE_STATUS(CL_INVALID_MEM_OBJECT);
        HEADRACE_STATUS(CL_INVALID_BINARY);
        HEADRACE_STATUS(CL_INVALID_BUILD_OPTIONS);
        HEADRACE_STATUS(CL_INVALID_PROGRAM);
        HEADRACE_STATUS(CL_INVALID_PROGRAM_EXECUTABLE);
        HEADRACE_STATUS(CL_INVALID_KERNEL_NAME);
        HEADRACE_STATUS(CL_INVALID_KERNEL_DEFINITION);
        HEADRACE_STATUS(CL_INVALID_KERNEL);
        HEADRACE_STATUS(CL_INVALID_ARG_INDEX);
        HEADRACE_STATUS(CL_INVALID_ARG_VALUE);
        HEADRACE_STATUS(CL_INVALID_ARG_SIZE);
        HEADRACE_STATUS(CL_INVALID_KERNEL_ARGS);
        HEADRACE_STATUS(CL_INVALID_WORK_DIMENSION);
        HEADRACE_STATUS(CL_INVALID_WORK_GROUP_SIZE);
        HEADRACE_STATUS(CL_INVALID_WORK_ITEM_SIZE);
        HEADRACE_STATUS(CL_INVALID_GLOBAL_OFFSET);
        HEADRACE_STATUS(CL_INVALID_EVENT_WAIT_LIST);
        HEADRACE_STATUS(CL_INVALID_EVENT);
        HEADRACE_STATUS(CL_INVALID_OPERATION);
        HEADRACE_STATUS(CL_INVALID_BUFFER_SIZE);
        HEADRACE_STATUS(CL_INVALID_GLOBAL_WORK_SIZE);
        HEADRACE_STATUS(CL_INVALID_PROPERTY);
        HEADRACE_STATUS(CL_INVALID_COMPILER_OPTIONS);
        HEADRACE_STATUS(CL_INVALID_LINKER_OPTIONS);
    case -1001:
        return "CL_PLATFORM_NOT_FOUND_KHR";
    default:
        return "an unknown code";
    }
#undef HEADRACE_STATUS
}

Error status_error(cl_int status, std::string_view call, std::source_location where) {
    // CL_OUT_OF_RESOURCES does not mean too little memory: NVIDIA reports it for a kernel that accessed
    // memory outside its own.
    const bool memory = status == CL_MEM_OBJECT_ALLOCATION_FAILURE || status == CL_OUT_OF_HOST_MEMORY;
    Error error{memory ? ErrorKind::out_of_memory : ErrorKind::device,
                std::string(call) + ": " + std::string(status_name(status)), where};
    error.with_code(status);
    return error;
}

} // namespace headrace::opencl
