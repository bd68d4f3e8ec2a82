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

/// Counts all packages of the host, and their memory where the system counts it. It cannot separate the cores
/// that one device uses from the others. On most systems only root may read the counters.
///
/// Cost   some microseconds for each counter
/// Source Linux, Documentation/power/powercap/powercap.rst. AMD's counters are in the same place
class HEADRACE_EXPORT RaplMeter final : public EnergyMeter {
public:
    /// `folder` has one folder for each power zone of the system.
    explicit RaplMeter(const std::filesystem::path& folder = "/sys/class/powercap");

    [[nodiscard]] std::string_view name() const noexcept override { return "RAPL"; }
    [[nodiscard]] Figure joules() override;
    /// The system renews the counters about every millisecond.
    [[nodiscard]] std::chrono::nanoseconds shortest() const noexcept override {
        return std::chrono::milliseconds(10);
    }

private:
    struct Counter {
        std::filesystem::path file;
        std::uint64_t range; ///< microjoules, as all values here; the counter wraps at this value
        std::uint64_t last;
    };
    std::vector<Counter> counters_;
    std::uint64_t sum_ = 0; ///< since the meter was made
    std::string why_absent_;
};

} // namespace headrace
