// internal/domains/job_energy.hpp - what the devices of a job use while it runs. Private to domains/.
#pragma once
#include <headrace/core/export.hpp>
#include <headrace/domains/report.hpp>
#include <headrace/internal/domains/energy_reader.hpp>

#include <memory>
#include <vector>

namespace headrace {

/// Meters read whole devices, from the begin of the job to its end: what else runs there is counted.
///
/// Threads   one at a time; a copy of its own for `tell`
class HEADRACE_EXPORT JobEnergy {
public:
    /// For the next device, in the order of the report. Null: nobody measures. Devices that are one piece of
    /// hardware have one reader.
    void add(std::shared_ptr<EnergyReader> reader) { devices_.push_back({std::move(reader), {}, {}}); }

    void begin();
    /// The job took so long.
    void end(double seconds);
    /// Fills in the figures of a job that has ended. Waits for readings, a second at most.
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
