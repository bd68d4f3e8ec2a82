// internal/domains/job_energy.hpp - energy of a job's devices while it runs. Internal to domains/.
#pragma once
#include <headrace/core/export.hpp>
#include <headrace/domains/report.hpp>
#include <headrace/internal/domains/energy_reader.hpp>

#include <memory>
#include <vector>

namespace headrace {

/// Meters measure whole devices from the begin of the job to its end, including other work there.
///
/// Threads   one at a time; `tell` needs a copy of its own
class HEADRACE_EXPORT JobEnergy {
public:
    /// Adds the next device, in the order of the report. Null: its energy is not measured. Devices that are
    /// one piece of hardware share one reader.
    void add(std::shared_ptr<EnergyReader> reader) { devices_.push_back({std::move(reader), {}, {}}); }

    void begin();
    /// `seconds`: duration of the job.
    void end(double seconds);
    /// Fills in the energy of a job that has ended. Waits for readings, at most 1 s each.
    void tell(JobReport& report) const;

private:
    struct HEADRACE_EXPORT Device {
        std::shared_ptr<EnergyReader> reader;
        EnergyReader::Reading before, after;

        [[nodiscard]] Figure joules(double seconds) const;
    };
    std::vector<Device> devices_;
};

} // namespace headrace
