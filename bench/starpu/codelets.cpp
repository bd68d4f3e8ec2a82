// bench/starpu/codelets.cpp - see codelets.hpp.
#include "codelets.hpp"
#include "session.hpp"

#include <algorithm>
#include <stdexcept>

namespace bench {

void fetch(starpu_data_handle_t handle) {
    check_starpu(starpu_data_acquire(handle, STARPU_R), "starpu_data_acquire");
    starpu_data_release(handle);
}

StarPuProgram::StarPuProgram(const std::string& source, const std::string& options) {
    if (starpu_opencl_worker_get_count() == 0) return;
    check_starpu(starpu_opencl_load_opencl_from_string(source.c_str(), &program_, options.c_str()),
                 "starpu_opencl_load_opencl_from_string");
    is_built_ = true;
}

StarPuProgram::~StarPuProgram() {
    if (is_built_) starpu_opencl_unload_opencl(&program_);
}

// A codelet runs on a thread of StarPU's, which cannot be thrown through: what fails there ends the program.
namespace {
void check_in_codelet(cl_int status) {
    if (status != CL_SUCCESS) STARPU_OPENCL_REPORT_ERROR(status);
}
} // namespace

StarPuLaunch::StarPuLaunch(const StarPuProgram& program, const char* kernel) {
    check_in_codelet(starpu_opencl_load_kernel(&kernel_, &queue_, &*program, kernel,
                                               starpu_worker_get_devid(starpu_worker_get_id())));
}

StarPuLaunch::~StarPuLaunch() { starpu_opencl_release_kernel(kernel_); }

StarPuLaunch& StarPuLaunch::vector(void* buffer) {
    const auto memory = reinterpret_cast<cl_mem>(STARPU_VECTOR_GET_DEV_HANDLE(buffer));
    return argument(memory);
}

void StarPuLaunch::run(std::uint64_t items) {
    const std::size_t size = items;
    check_in_codelet(
        clEnqueueNDRangeKernel(queue_, kernel_, 1, nullptr, &size, nullptr, 0, nullptr, nullptr));
}

void StarPuLaunch::set(std::size_t size, const void* value) {
    check_in_codelet(clSetKernelArg(kernel_, arguments_++, size, value));
}

StarPuCodelet::StarPuCodelet(const char* name, starpu_cpu_func_t on_cpu, starpu_opencl_func_t on_opencl,
                             std::vector<starpu_data_access_mode> modes) {
    model.type = STARPU_HISTORY_BASED;
    model.symbol = name;
    starpu_codelet_init(&codelet);
    codelet.name = name;
    codelet.cpu_funcs[0] = on_cpu;
    codelet.opencl_funcs[0] = on_opencl;
    codelet.opencl_flags[0] = STARPU_OPENCL_ASYNC;
    codelet.nbuffers = static_cast<int>(modes.size());
    std::ranges::copy(modes, codelet.modes);
    codelet.model = &model;
}

void submit(StarPuCodelet& codelet, std::span<const starpu_data_handle_t> handles, const void* argument) {
    starpu_task* const task = starpu_task_create();
    task->cl = &codelet.codelet;
    std::ranges::copy(handles, task->handles);
    task->cl_arg = const_cast<void*>(argument);
    check_starpu(starpu_task_submit(task), "starpu_task_submit");
}

} // namespace bench
