// internal/devices/energy/nvml.hpp - the energy counters of NVIDIA's GPUs.
#pragma once
#include <headrace/core/energy_meter.hpp>
#include <headrace/core/export.hpp>

#include <string>

namespace headrace {

/// One GPU, by its PCI address, whichever technology uses it. NVML comes with the driver and is loaded at the
/// first reading.
///
/// Cost   3 ms a reading on an H100 (driver 580), now and then 15; 24 for the first
/// Source NVIDIA, "NVML API Reference", nvmlDeviceGetTotalEnergyConsumption: from Volta on
class HEADRACE_EXPORT NvmlMeter final : public EnergyMeter {
public:
    /// `address`: "0000:3b:00.0".
    explicit NvmlMeter(std::string address, std::string library = "libnvidia-ml.so.1");

    [[nodiscard]] std::string_view name() const noexcept override { return "NVML"; }
    [[nodiscard]] Figure joules() override;
    /// An H100's counter is renewed every 100 ms (driver 580): a tenth, at worst, is the counter's.
    [[nodiscard]] std::chrono::nanoseconds shortest() const noexcept override {
        return std::chrono::seconds(1);
    }

private:
    using Count = int (*)(void* gpu, unsigned long long* millijoules);

    void open();

    std::string address_, library_;
    bool is_open_ = false;
    std::string why_absent_;
    void* gpu_ = nullptr;
    Count count_ = nullptr;
    const char* (*text_of_)(int) = nullptr;
};

} // namespace headrace
