// tests/fuzz/read_devices.cpp - any bytes as a configuration file of devices: a list that is not empty, or
// refused with an Error.
#include <fuzz/memory_file.hpp>
#include <headrace/core/error.hpp>
#include <headrace/internal/devices/device_list.hpp>

#include <algorithm>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const headrace::fuzz::MemoryFile file(data, size);
    for (const char* const machine : {"mill", "weir.example.org"}) {
        try {
            const headrace::DeviceList list = headrace::read_device_file(file.name(), machine);
            if (list.devices.empty()) std::abort();
            for (const headrace::DeviceRequest& device : list.devices) {
                const auto& settings = device.settings;
                if (device.name.empty() || settings.threads == 0u ||
                    (settings.numa && settings.numa->first > settings.numa->last))
                    std::abort();
            }
        } catch (const headrace::Error&) { // as it should; all else is a crash
        }
    }
    return 0;
}
