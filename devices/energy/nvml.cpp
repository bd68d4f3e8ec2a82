// devices/energy/nvml.cpp - see nvml.hpp. It does not include nvml.h, so builds need neither the toolkit nor
// the driver.
#include <headrace/internal/devices/energy/nvml.hpp>

#include <utility>

#include <dlfcn.h>

namespace headrace {
namespace {

constexpr int success = 0;

template <class Function>
bool find(void* library, const char* name, Function& function) {
    function = reinterpret_cast<Function>(dlsym(library, name));
    return function != nullptr;
}

} // namespace

NvmlMeter::NvmlMeter(std::string address, std::string library)
    : address_(std::move(address)), library_(std::move(library)) {}

void NvmlMeter::open() {
    is_open_ = true;
    void* const library = dlopen(library_.c_str(), RTLD_NOW | RTLD_LOCAL); // never closed: others may use it
    if (library == nullptr) {
        why_absent_ = library_ + " cannot be loaded; GPUs of other makers than NVIDIA are not measured";
        return;
    }
    int (*init)() = nullptr;
    int (*gpu_at)(const char* address, void** gpu) = nullptr;
    if (!find(library, "nvmlInit_v2", init) || !find(library, "nvmlDeviceGetHandleByPciBusId_v2", gpu_at) ||
        !find(library, "nvmlDeviceGetTotalEnergyConsumption", count_) ||
        !find(library, "nvmlErrorString", text_of_)) {
        why_absent_ = library_ + " is too old: it counts no energy";
    } else if (const int status = init(); status != success) {
        why_absent_ = std::string("NVML does not start: ") + text_of_(status);
    } else if (const int found = gpu_at(address_.c_str(), &gpu_); found != success) {
        why_absent_ = "NVML has no GPU at " + address_ + ": " + text_of_(found);
    }
}

Figure NvmlMeter::joules() {
    if (!is_open_) open();
    if (!why_absent_.empty()) return {std::nullopt, why_absent_};
    unsigned long long millijoules = 0;
    if (const int status = count_(gpu_, &millijoules); status != success)
        return {std::nullopt, std::string("NVML counts no energy of this GPU: ") + text_of_(status)};
    return {static_cast<double>(millijoules) * 1e-3, {}};
}

} // namespace headrace
