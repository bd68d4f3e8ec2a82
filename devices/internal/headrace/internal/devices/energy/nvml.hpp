// internal/devices/energy/nvml.hpp - the energy counters of NVIDIA's GPUs.
#pragma once
#include <headrace/core/energy_meter.hpp>
#include <headrace/core/export.hpp>

#include <string>

namespace headrace {

/// The meter of one GPU, by PCI address, whichever technology uses the GPU. NVML comes with the driver; the
/// first reading loads it.
///
/// Cost   3 ms per reading on an H100 (driver 580), sometimes 15 ms; 24 ms for the first reading
/// Source NVIDIA, "NVML API Reference", nvmlDeviceGetTotalEnergyConsumption: from Volta on
class HEADRACE_EXPORT NvmlMeter final : public EnergyMeter {
public:
    /// `address` is for example "0000:3b:00.0".
    explicit NvmlMeter(std::string address, std::string library = "libnvidia-ml.so.1");

    [[nodiscard]] std::string_view name() const noexcept override { return "NVML"; }
    [[nodiscard]] Figure joules() override;
    /// An H100 renews its counter every 100 ms (driver 580): over 1 s the error is at most a tenth.
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
