// internal/core/schedule_state.hpp - the state of a job's schedule: all its parts, and what follows from
// them. Events change it: see schedule.hpp.
#pragma once
#include <headrace/core/export.hpp>
#include <headrace/core/performance_model.hpp>
#include <headrace/core/policy.hpp>
#include <headrace/internal/core/accounts.hpp>
#include <headrace/internal/core/availability.hpp>
#include <headrace/internal/core/granted_tasks.hpp>
#include <headrace/internal/core/rates.hpp>
#include <headrace/internal/core/recipients.hpp>
#include <headrace/internal/core/refusals.hpp>
#include <headrace/internal/core/waiting_transfers.hpp>
#include <headrace/internal/core/work.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace headrace {

/// A value: tests copy it, compare its text, and go on from it. `now`: seconds since the job began.
///
/// Errors    what the policy throws leaves each function that asks it
/// Threads   one at a time
struct HEADRACE_EXPORT ScheduleState {
    struct Participant {
        Estimate estimate;
        std::uint64_t least = 1;      ///< work units of a lane group: a smaller task leaves lanes idle
        std::uint64_t full = 1;       ///< work units that give each of its lanes one
        std::uint64_t lane_group = 1; ///< lanes
        bool is_group = false;        ///< of devices, such as another rank
        unsigned devices = 1;         ///< that it consists of
        double group_speed = 0;       ///< units per second, as the group tells; 0: it has not
        bool is_processor = true;     ///< its lanes take turns
        bool gives_back = false;      ///< a launch pauses when it is asked to
        bool takes_units = true;      ///< it can work on transferred units
        bool is_standby = false;      ///< the others have proven to be faster without it
        std::size_t memory = 0;       ///< on which it works, of a job all of whose tasks work on one
    };
    struct Shape {
        std::uint64_t work_units = 0, first_unit = 0;
        bool learns = true;          ///< capabilities follow what is measured
        bool moves_data = false;     ///< a task has data of its own
        bool is_repeatable = true;   ///< a task can be done once more, or elsewhere beside one that has begun
        bool shares_units = false;   ///< units may be transferred
        bool is_open = false;        ///< its work units come later, by `extend`, until `close`
        bool has_above = false;      ///< another schedule gives them, and may take units
        double expected_seconds = 0; ///< twice that after the begin, the standby steps in
        std::optional<std::size_t> memory = {}; ///< all tasks work on it; none: each participant's own
    };

    ScheduleState(Shape of_job, std::vector<Participant> all, std::shared_ptr<Policy> divides,
                  std::shared_ptr<const Division> cuts);

    Shape shape;
    std::vector<Participant> participants;
    std::shared_ptr<Policy> policy; ///< shared by copies: those of tests, whose policies keep no state
    std::shared_ptr<const Division> division;
    Rates rates;
    OpenWork open; ///< no participant has it
    GrantedTasks tasks;
    WaitingTransfers transfers; ///< the last recipient is the schedule above
    Accounts accounts;
    Refusals refusals;
    Availability availability;
    bool has_returns = false; ///< `Schedule::make_way` has cut a task

    // Where the job is.

    [[nodiscard]] bool has_tasks() const { return !tasks.are_none(); } ///< granted
    /// Nothing is left, granted or waiting, whether or not more comes.
    [[nodiscard]] bool is_quiet() const;
    [[nodiscard]] bool is_done() const { return !shape.is_open && is_quiet(); } ///< each unit is completed
    /// What the work is to take the participant, by what is known of its speed from this job or others.
    [[nodiscard]] std::optional<double> expected_seconds(std::size_t participant, const Work& work) const;
    /// Work units per second of all participants together, as measured in the job; 0: none was measured.
    [[nodiscard]] double units_per_second() const;
    /// There is a standby, it waits, and no other participant is lost.
    [[nodiscard]] bool standby_waits(double now) const;
    [[nodiscard]] double standby_steps_in() const { return 2 * shape.expected_seconds; }
    /// All of the state, for logs and for tests that compare states.
    [[nodiscard]] std::string text() const;

    // What policies are told. The progress refers to that of the participants.

    [[nodiscard]] std::vector<DeviceProgress> participants_progress(double now) const;
    [[nodiscard]] Progress progress(std::span<const DeviceProgress> devices) const;
    /// Time until the participant asks for work, if it has none that it has not begun. Zero: it is at hand.
    [[nodiscard]] double expected_away(std::size_t participant, double now) const;

    // Which participants want work.

    /// It has a use for a grant.
    [[nodiscard]] bool wants(std::size_t participant, double now) const;
    /// It was refused what is open, and may get it as time passes: if others are late, or do not come.
    [[nodiscard]] bool waits_for_others(std::size_t participant) const {
        return open.has_units() && availability.can_work(participant) && refusals.is_put_off(participant);
    }
    [[nodiscard]] bool others_may_take_over(std::size_t participant, double now) const;
    /// Any participant works on transferred units.
    [[nodiscard]] bool takes_units() const;
    /// How many participants would get units from a donor; of several, 2.
    [[nodiscard]] unsigned wanting_units(double now) const;
    /// No participant is a donor: those that are no groups are idle, or cannot work.
    [[nodiscard]] bool has_no_donor() const;

    // What a donor that has paused would transfer.

    /// Whether a participant is idle, and so many seeds that the donor has not begun take it so long that a
    /// transfer pays. At the pace of its task they take `seconds`. `lanes`: of the donor's groups.
    [[nodiscard]] bool would_take(std::size_t donor, std::uint64_t seeds, std::uint64_t lanes, double seconds,
                                  double now) const;
    /// The share of the donor's units that goes to idle participants, and the least that pay.
    struct Demand {
        double share = 0; ///< 0: no participant is idle, or units are not shared
        std::uint64_t least = 0;
        std::uint64_t most_bytes = 0;
    };
    [[nodiscard]] Demand demand(std::size_t donor, std::uint64_t lanes, std::uint64_t left, double now) const;

    enum class Kind : std::uint8_t { seeds, units };
    /// It is idle. As long as there is work that was never granted, it gets units only if the policy wants
    /// others to do that work: they may be busy for long.
    [[nodiscard]] bool may_receive(std::size_t participant, Kind kind) const;
    /// No donor: of units that have come from another schedule.
    [[nodiscard]] Recipients recipients(std::optional<std::size_t> donor, Kind kind, std::uint64_t lanes,
                                        double now) const;
    /// The schedule above, as a recipient.
    [[nodiscard]] std::size_t above() const { return participants.size(); }
};

} // namespace headrace
