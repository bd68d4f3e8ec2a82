// devices/energy/meter_of.cpp - see meter_of.hpp.
#include <headrace/devices/energy/meter_of.hpp>
#include <headrace/internal/devices/energy/nvml.hpp>
#include <headrace/internal/devices/energy/rapl.hpp>

#include <string>
#include <utility>

namespace headrace {
namespace {

class NoMeter final : public EnergyMeter {
public:
    explicit NoMeter(std::string why) : why_(std::move(why)) {}
    [[nodiscard]] std::string_view name() const noexcept override { return "none"; }
    [[nodiscard]] Figure joules() override { return {std::nullopt, why_}; }
    [[nodiscard]] std::chrono::nanoseconds shortest() const noexcept override { return {}; }

private:
    std::string why_;
};

} // namespace

std::unique_ptr<EnergyMeter> energy_meter_of(const DeviceInfo& device) {
    constexpr std::string_view pci = "pci:";
    if (device.physical_id == "cpu") return std::make_unique<RaplMeter>();
    if (device.technology == "hip")
        return std::make_unique<NoMeter>("AMD's driver tells the power of a GPU, and no energy");
    if (device.physical_id.starts_with(pci))
        return std::make_unique<NvmlMeter>(device.physical_id.substr(pci.size()));
    return std::make_unique<NoMeter>("nothing is known that counts the energy of this device");
}

} // namespace headrace
