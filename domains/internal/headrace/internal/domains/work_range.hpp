// internal/domains/work_range.hpp - a work range: what a device gets of a job at once. Internal to domains/.
#pragma once
#include <headrace/domains/domain.hpp>
#include <headrace/persistent/unit_batch.hpp>

#include <memory>
#include <string>
#include <utility>

namespace headrace {

/// A range of the job's work units, or units that were transferred from another device.
struct WorkRange {
    IndexRange range; ///< of transferred units: their numbers among all transferred units of the job
    std::shared_ptr<const UnitBatch> units; ///< null: the job's own work units
    std::uint64_t tasks = 1;                ///< of the policy, adjacent; all else treats them as one

    WorkRange(IndexRange of_the_job, std::uint64_t tasks_in_it = 1) // NOLINT: converts from a range
        : range(of_the_job), tasks(tasks_in_it) {}
    WorkRange(IndexRange numbers, UnitBatch transferred)
        : range(numbers), units(std::make_shared<const UnitBatch>(std::move(transferred))) {}

    /// "[0, 512)", "transferred units [0, 512)"
    [[nodiscard]] std::string text() const {
        return (units ? "transferred units [" : "[") + std::to_string(range.begin) + ", " +
               std::to_string(range.end) + ")";
    }
    /// The job's own work units in it: transferred units come from work units that are counted already.
    [[nodiscard]] std::uint64_t work_units() const noexcept { return units ? 0 : range.size(); }
};

} // namespace headrace
