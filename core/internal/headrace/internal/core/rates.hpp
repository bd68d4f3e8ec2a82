// internal/core/rates.hpp - capabilities of a job's devices, from estimates to what the job itself measures.
#pragma once
#include <headrace/core/export.hpp>
#include <headrace/core/performance_model.hpp>

#include <chrono>
#include <cstddef>
#include <optional>
#include <vector>

namespace headrace {

/// The on-line performance model. A device that has finished tasks is as fast as the last ones were, each
/// counting 0.7 of the one after it, by its time. One that has not is what its estimate says, on the scale of
/// those that have: a job that takes twice as long as it was estimated on one device will on the others.
///
/// Arithmetic, without clocks. Threads: one at a time.
class HEADRACE_EXPORT Rates {
public:
    /// `learns`: false keeps the estimates as they are.
    explicit Rates(std::vector<Estimate> estimates, bool learns = true);

    /// Times that are not above zero, and tasks without units, say nothing.
    void completed(std::size_t device, std::uint64_t units, std::chrono::nanoseconds time);
    void lost(std::size_t device) { devices_[device].lost = true; }

    /// Units per second where anything was ever measured, else GFLOP/s; 0 for a lost device.
    [[nodiscard]] double capability(std::size_t device) const;
    /// Anything was ever measured.
    [[nodiscard]] bool are_per_second() const;
    /// Now or in an earlier job.
    [[nodiscard]] bool measured(std::size_t device) const;
    /// The last measurements of the job agree; or its estimate is certain, and the job does not show that
    /// estimates are far from the truth.
    [[nodiscard]] bool certain(std::size_t device) const;
    /// In this job.
    [[nodiscard]] std::optional<double> units_per_second(std::size_t device) const;
    /// How much faster it was when it was fastest in this job; 0: nothing was measured.
    [[nodiscard]] double slowdown(std::size_t device) const;

private:
    struct HEADRACE_EXPORT One {
        Estimate estimate;
        double units = 0, seconds = 0; ///< the older the less
        double fastest = 0;            ///< units per second at some time
        unsigned agreeing = 0;         ///< of the last measurements
        bool lost = false;
    };
    [[nodiscard]] double estimated(const One& device) const;

    std::vector<One> devices_;
    double units_per_peak_ = 1;   ///< for those that were never measured beside those that were
    double slower_or_faster_ = 1; ///< than estimated, of those that have been at it
    bool learns_;
};

} // namespace headrace
