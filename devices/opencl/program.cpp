// devices/opencl/program.cpp - gets programs from this process, from the disk, or from the compiler.
#include <headrace/internal/devices/opencl/native.hpp>

#include "opencl/context.hpp"
#include <headrace/internal/core/compiling.hpp>
#include <headrace/internal/devices/opencl/program_cache.hpp>

#include <vector>

namespace headrace {
namespace {

using namespace opencl;

std::string device_text(cl_device_id device, cl_device_info what) {
    std::size_t bytes = 0;
    if (clGetDeviceInfo(device, what, 0, nullptr, &bytes) != CL_SUCCESS || bytes == 0) return {};
    std::string text(bytes, '\0');
    check(clGetDeviceInfo(device, what, bytes, text.data(), nullptr), "clGetDeviceInfo");
    text.resize(bytes - 1); // the terminating zero
    return text;
}

std::string build_log(cl_program program, cl_device_id device) {
    std::size_t bytes = 0;
    clGetProgramBuildInfo(program, device, CL_PROGRAM_BUILD_LOG, 0, nullptr, &bytes);
    std::string log(bytes, '\0');
    clGetProgramBuildInfo(program, device, CL_PROGRAM_BUILD_LOG, bytes, log.data(), nullptr);
    while (!log.empty() && (log.back() == '\0' || log.back() == '\n')) log.pop_back();
    return log;
}

/// Everything that determines the result of a build.
std::string cache_key(cl_device_id device, const std::string& source, const std::string& options) {
    return device_text(device, CL_DEVICE_NAME) + '\n' + device_text(device, CL_DEVICE_VERSION) + '\n' +
           device_text(device, CL_DRIVER_VERSION) + '\n' + options + '\n' + source;
}

/// Empty if the driver refuses the binary: an older driver with the same version text may have made it.
ProgramHandle from_binary(OpenClTarget target, const std::vector<unsigned char>& binary,
                          const std::string& options) {
    const unsigned char* data = binary.data();
    const std::size_t bytes = binary.size();
    cl_int status = CL_SUCCESS, binary_status = CL_SUCCESS;
    ProgramHandle program{
        clCreateProgramWithBinary(target.context, 1, &target.device, &bytes, &data, &binary_status, &status)};
    if (status != CL_SUCCESS || binary_status != CL_SUCCESS ||
        clBuildProgram(program.get(), 1, &target.device, options.c_str(), nullptr, nullptr) != CL_SUCCESS)
        return {};
    return program;
}

ProgramHandle from_source(OpenClTarget target, const std::string& source, const std::string& options) {
    const char* text = source.c_str();
    const std::size_t length = source.size();
    cl_int status = CL_SUCCESS;
    ProgramHandle program{clCreateProgramWithSource(target.context, 1, &text, &length, &status)};
    check(status, "clCreateProgramWithSource");
    status = clBuildProgram(program.get(), 1, &target.device, options.c_str(), nullptr, nullptr);
    if (status == CL_BUILD_PROGRAM_FAILURE || status == CL_INVALID_BUILD_OPTIONS)
        throw Error{ErrorKind::kernel, "an OpenCL program does not build for " +
                                           device_text(target.device, CL_DEVICE_NAME) + " with \"" + options +
                                           "\":\n" + build_log(program.get(), target.device)}
            .with_code(status);
    check(status, "clBuildProgram");
    return program;
}

/// Empty if the driver gives no binary.
std::vector<unsigned char> binary_of(const ProgramHandle& program) {
    std::size_t bytes = 0; // the program has one device
    if (clGetProgramInfo(program.get(), CL_PROGRAM_BINARY_SIZES, sizeof bytes, &bytes, nullptr) != CL_SUCCESS)
        return {};
    std::vector<unsigned char> binary(bytes);
    unsigned char* data = binary.data();
    if (clGetProgramInfo(program.get(), CL_PROGRAM_BINARIES, sizeof data, &data, nullptr) != CL_SUCCESS)
        return {};
    return binary;
}

} // namespace

ProgramHandle build_program(OpenClTarget target, const std::string& source, const std::string& options) {
    const std::string key = cache_key(target.device, source, options);
    const Context* ours = Context::of(target.context);
    if (ours)
        if (ProgramHandle built = ours->find_program(key)) return built;

    const Compiling sign_of_life;
    const ProgramCache cache = ProgramCache::of_user();
    // One process builds a program and the others load it. Also, PoCL 3.1 unpacks what it loads into a folder
    // of its own. A process that loads or builds the same program at that moment finds an incomplete folder,
    // and fails or crashes.
    const FileLock turn = cache.turn(key);
    ProgramHandle program;
    if (const auto binary = cache.load(key)) {
        program = from_binary(target, *binary, options);
        if (!program) cache.forget(key);
    }
    if (!program) {
        program = from_source(target, source, options);
        if (const auto binary = binary_of(program); !binary.empty()) cache.store(key, binary);
    }
    if (ours) ours->keep_program(key, program);
    return program;
}

std::shared_ptr<SharedKernel> shared_kernel(OpenClTarget target, const std::string& key,
                                            const std::function<KernelHandle()>& make) {
    const Context* ours = Context::of(target.context);
    if (ours)
        if (std::shared_ptr<SharedKernel> kept = ours->find_kernel(key)) return kept;
    const auto made = std::make_shared<SharedKernel>();
    made->native = make();
    return ours ? ours->keep_kernel(key, made) : made;
}

KernelHandle make_kernel(const ProgramHandle& program, const std::string& name) {
    cl_int status = CL_SUCCESS;
    KernelHandle kernel{clCreateKernel(program.get(), name.c_str(), &status)};
    if (status == CL_INVALID_KERNEL_NAME)
        throw Error{ErrorKind::kernel, "an OpenCL program has no kernel \"" + name + "\""}.with_code(status);
    check(status, "clCreateKernel");
    return kernel;
}

} // namespace headrace
