// internal/devices/energy/rapl.hpp - the energy counters of Intel's and AMD's processors, as Linux shows
// them.
#pragma once
#include <headrace/core/energy_meter.hpp>
#include <headrace/core/export.hpp>

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace headrace {

/// All packages of the host, and their memory where that is counted: what runs on some of the cores cannot be
/// told from the rest. On most systems only root may read the counters.
///
/// Cost   some microseconds for each counter
/// Source Linux, Documentation/power/powercap/powercap.rst. AMD's counters are in the same place
class HEADRACE_EXPORT RaplMeter final : public EnergyMeter {
public:
    /// `folder` has a folder for each of the system's power zones.
    explicit RaplMeter(const std::filesystem::path& folder = "/sys/class/powercap");

    [[nodiscard]] std::string_view name() const noexcept override { return "RAPL"; }
    [[nodiscard]] Figure joules() override;
    /// Counters are renewed every millisecond or so.
    [[nodiscard]] std::chrono::nanoseconds shortest() const noexcept override {
        return std::chrono::milliseconds(10);
    }

private:
    struct Counter {
        std::filesystem::path file;
        std::uint64_t range; ///< microjoules, as all here; it wraps there
        std::uint64_t last;
    };
    std::vector<Counter> counters_;
    std::uint64_t sum_ = 0; ///< since the meter was made
    std::string why_absent_;
};

} // namespace headrace
