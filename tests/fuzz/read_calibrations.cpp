// tests/fuzz/read_calibrations.cpp - any bytes as a file of calibrations: read, or begun anew. What is
// estimated from it is finite.
#include <fuzz/memory_file.hpp>
#include <headrace/domains/calibrations.hpp>

#include <cmath>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const headrace::fuzz::MemoryFile file(data, size);
    const headrace::Calibrations known(file.name(), "m", 2);
    for (const headrace::Calibrations::Entry& entry : known.entries()) {
        headrace::DeviceInfo device;
        device.name = entry.device;
        device.driver = entry.driver;
        device.kind = headrace::DeviceKind::gpu;
        const headrace::KernelKey kernel{entry.kernel, entry.work_units, entry.bytes};
        const auto is_usable = [](double number) { return std::isfinite(number) && number > 0; };
        if (!is_usable(known.estimate(device, kernel).units_per_second.value_or(1))) std::abort();
        const headrace::DeviceInfo* const one = &device;
        if (const auto whole = known.whole_jobs({&one, 1}, kernel);
            whole &&
            !(is_usable(whole->seconds) && is_usable(whole->last) && std::isfinite(whole->seconds_ago)))
            std::abort();
        if (!is_usable(entry.median()) || std::isnan(entry.spread())) std::abort();
    }
    return 0;
}
