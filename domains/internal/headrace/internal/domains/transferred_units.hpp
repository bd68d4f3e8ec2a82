// internal/domains/transferred_units.hpp - the units that devices of a job transferred to others. Internal to
// domains/.
#pragma once
#include <headrace/core/export.hpp>
#include <headrace/internal/core/schedule.hpp>
#include <headrace/internal/domains/work_range.hpp>

#include <cstdint>
#include <map>
#include <memory>
#include <span>

namespace headrace {

/// The units themselves. Which device has them is the schedule's to know: it numbers the units. They are kept
/// until the job ends, for the case that their device is lost.
///
/// Threads   one at a time: the job's lock
class HEADRACE_EXPORT TransferredUnits {
public:
    /// Batches with these numbers, in order, have all of `units`.
    void add(std::span<const Work> batches, UnitBatch units);
    struct Halves {
        std::shared_ptr<const UnitBatch> rest, kept;
    };
    /// Copies of the batch's units; `kept` has the last `units` of them.
    [[nodiscard]] Halves halves(const Work& batch, std::uint64_t units) const;
    /// The batch is now two.
    void divide(const Work& batch, const Schedule::Kept& parts, Halves halves);
    [[nodiscard]] const std::shared_ptr<const UnitBatch>& at(const Work& batch) const {
        return batches_.at(batch.range.begin);
    }
    /// The batch goes to another rank: its units are not kept.
    std::shared_ptr<const UnitBatch> take(const Work& batch);
    void clear() noexcept { batches_.clear(); }

private:
    std::map<std::uint64_t, std::shared_ptr<const UnitBatch>> batches_; ///< by the number of the first unit
};

} // namespace headrace
