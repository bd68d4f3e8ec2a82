// internal/domains/epochs/report_sum.hpp - one report for several jobs that followed each other. Internal to
// domains/.
#pragma once
#include <headrace/core/export.hpp>
#include <headrace/domains/report.hpp>

#include <cstdint>

namespace headrace::epochs {

/// Devices are the same if they have the same id.
class HEADRACE_EXPORT ReportSum {
public:
    /// `begin`: when the job began, in seconds since the first one did.
    void add(const JobReport& job, double begin);
    /// `seconds`: from the begin of the first job to the end of the last.
    [[nodiscard]] JobReport report(double seconds) const;

private:
    [[nodiscard]] DeviceReport& device(const DeviceReport& like);

    JobReport sum_;
    bool is_first_ = true;
    double first_ends_ = 0, last_ends_ = 0; ///< of devices, summed over jobs: balance compares them
    double gpu_ends_ = 0, cpu_ends_ = 0;    ///< of jobs on which both kinds worked
};

} // namespace headrace::epochs
