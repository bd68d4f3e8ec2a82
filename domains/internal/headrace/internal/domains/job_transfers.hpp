// internal/domains/job_transfers.hpp - transfers of work that a device has not begun, to devices without
// work. Internal to domains/.
#pragma once
#include <headrace/core/export.hpp>
#include <headrace/internal/domains/job_state.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>

namespace headrace {

/// A view of a job, for the workers of donors and of recipients.
///
/// Threads   any
class HEADRACE_EXPORT JobTransfers {
public:
    explicit JobTransfers(JobState& state) : state_(state) {}

    /// The worker has no work at all, in any job, or has work again. Returns true if other workers should be
    /// woken: they may have work for it, or may now take what was transferred to it meanwhile.
    bool idle(std::size_t device, bool is_idle);
    /// Units or seeds transferred to this device, or transferred units that no device has.
    [[nodiscard]] std::optional<WorkRange> next_transferred(std::size_t device);
    /// The device has room for only `units` of the range at once; the next devices that ask get the others.
    [[nodiscard]] WorkRange keep(std::size_t device, const WorkRange& work_range, std::uint64_t units);

    /// True if a device is idle, and the donor's `seeds` that have not begun take so long that a transfer is
    /// worth a pause of the donor's launch. At the pace of its task they take `seconds`; the known speed of
    /// the device may give a longer time. `lanes`: of the donor's groups.
    [[nodiscard]] bool would_take(std::size_t donor, std::uint64_t seeds, std::uint64_t lanes,
                                  double seconds = 0) const;
    /// Transfers seeds of the donor's task that have not begun, from `unclaimed` on, to idle devices. Each
    /// gets a share by capability, unless the share does not fill a lane group of the device. `lanes`: of the
    /// donor's groups. Returns the new end of the task. Transfers nothing while the job has work that no
    /// device has, or if it updates data.
    [[nodiscard]] std::uint64_t give_back(std::size_t donor, IndexRange task, std::uint64_t unclaimed,
                                          std::uint64_t lanes);
    /// The share of the donor's units for idle devices, and the smallest number worth a transfer.
    [[nodiscard]] ScheduleState::Demand demand(std::size_t donor, std::uint64_t lanes,
                                               std::uint64_t left) const;
    /// Transfers units of the donor's tasks to idle devices, or to the next device that asks.
    void transfer(std::size_t donor, UnitBatch units);

    /// The device is a rank below that works on transferred units.
    void note_takes_units(std::size_t device);
    void note_speed(std::size_t device, double units_per_second); ///< of another rank, by itself
    /// Units have come from a rank below, as a device, or from the rank above. Devices should look for them.
    void receive(std::optional<std::size_t> device, UnitBatch units);
    /// The rank above wants units, as an idle device does; or it wants none any more.
    void note_above(bool wants);
    /// Units for the rank above, which are its own from then on. Null: there are none.
    [[nodiscard]] std::shared_ptr<const UnitBatch> take_for_above();

    /// Returns seeds of the device's task, from `unclaimed` on, to the job: another job goes first on the
    /// device, or the device has no room for their data. Returns the new end of the task.
    [[nodiscard]] std::uint64_t make_way(std::size_t device, IndexRange task, std::uint64_t unclaimed);
    /// True if some seeds were returned in this way.
    [[nodiscard]] bool has_returns() const;

private:
    JobState& state_;
};

} // namespace headrace
