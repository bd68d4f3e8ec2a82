// devices/opencl/context.cpp - see context.hpp.
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS // clCreateCommandQueue: the only call of this kind in every version
#include "opencl/context.hpp"

#include <array>
#include <cstring>
#include <memory>
#include <utility>

namespace headrace::opencl {
namespace {

// Bodies of launches and adapters of kernels know only the native handle of a context.
struct Registry {
    std::mutex mutex;
    std::map<cl_context, const Context*> contexts;
};
// Never destroyed: the thread of `let_go` may drop the last reference to a context while the process ends.
Registry& registry() {
    static auto* const instance = std::make_unique<Registry>().release();
    return *instance;
}

bool is_pocl(cl_device_id device) {
    std::array<char, 1024> version{};
    return clGetDeviceInfo(device, CL_DEVICE_VERSION, version.size() - 1, version.data(), nullptr) ==
               CL_SUCCESS &&
           (std::strstr(version.data(), "PoCL") || std::strstr(version.data(), "pocl"));
}

} // namespace

Context::Context(cl_device_id device, DeviceInfo device_info)
    : device_(device), info_(std::move(device_info)), mixes_up_grids_(is_pocl(device)) {
    cl_int status = CL_SUCCESS;
    context_ = ContextHandle{clCreateContext(nullptr, 1, &device_, nullptr, nullptr, &status)};
    check(status, "clCreateContext");
    measure_clock();
    const std::scoped_lock lock(registry().mutex);
    registry().contexts.emplace(get(), this);
}

Context::~Context() {
    const std::scoped_lock lock(registry().mutex);
    registry().contexts.erase(get());
}

const Context* Context::of(cl_context native) {
    const std::scoped_lock lock(registry().mutex);
    const auto found = registry().contexts.find(native);
    return found == registry().contexts.end() ? nullptr : found->second;
}

QueueHandle Context::make_queue() const {
    cl_int status = CL_SUCCESS;
    QueueHandle queue{clCreateCommandQueue(get(), device(), CL_QUEUE_PROFILING_ENABLE, &status)};
    check(status, "clCreateCommandQueue");
    return queue;
}

void Context::complete(EventHandle user_event) const {
    // The context must outlive the user event, which may be the last object that uses it.
    completions_.post([self = shared_from_this(), event = std::move(user_event)] {
        static_cast<void>(clSetUserEventStatus(event.get(), CL_COMPLETE));
    });
}

// The fastest of several round trips gives the most exact offset between the two clocks. If all are slow, on
// a busy machine, more round trips are made to find a fast one.
void Context::measure_clock() {
    using Clock = std::chrono::steady_clock;
    const QueueHandle queue = make_queue();
    auto quickest = Clock::duration::max();
    for (int trial = 0; trial < 8 || (trial < 50 && quickest > std::chrono::microseconds(200)); ++trial) {
        EventHandle event;
        const auto before = Clock::now();
        check(clEnqueueMarkerWithWaitList(queue.get(), 0, nullptr, event.out()),
              "clEnqueueMarkerWithWaitList");
        check(clFinish(queue.get()), "clFinish");
        const auto after = Clock::now();
        cl_ulong ended = 0;
        if (clGetEventProfilingInfo(event.get(), CL_PROFILING_COMMAND_END, sizeof ended, &ended, nullptr) !=
                CL_SUCCESS ||
            after - before >= quickest)
            continue;
        quickest = after - before;
        clock_offset_ = (before + quickest / 2).time_since_epoch() - std::chrono::nanoseconds(ended);
    }
}

std::chrono::steady_clock::time_point Context::host_time(cl_ulong device_nanoseconds) const noexcept {
    return std::chrono::steady_clock::time_point{clock_offset_ +
                                                 std::chrono::nanoseconds(device_nanoseconds)};
}

ProgramHandle Context::find_program(const std::string& key) const {
    const std::scoped_lock lock(mutex_);
    const auto found = programs_.find(key);
    return found == programs_.end() ? ProgramHandle{} : found->second;
}

void Context::keep_program(const std::string& key, ProgramHandle program) const {
    const std::scoped_lock lock(mutex_);
    programs_.insert_or_assign(key, std::move(program));
}

std::shared_ptr<SharedKernel> Context::find_kernel(const std::string& key) const {
    const std::scoped_lock lock(mutex_);
    const auto found = kernels_.find(key);
    return found == kernels_.end() ? nullptr : found->second;
}

std::shared_ptr<SharedKernel> Context::keep_kernel(const std::string& key,
                                                   std::shared_ptr<SharedKernel> kernel) const {
    const std::scoped_lock lock(mutex_);
    return kernels_.try_emplace(key, std::move(kernel)).first->second;
}

} // namespace headrace::opencl
