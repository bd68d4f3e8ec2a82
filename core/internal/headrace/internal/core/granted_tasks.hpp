// internal/core/granted_tasks.hpp - the tasks of a job that participants have: how far they are, and what the
// job is charged for them.
#pragma once
#include <headrace/core/export.hpp>
#include <headrace/internal/core/state_text.hpp>
#include <headrace/internal/core/work.hpp>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <tuple>
#include <vector>

namespace headrace {

/// Progress has its home here: what engines count, workers report, and nothing else keeps it.
///
/// A task is known by its participant and its first unit: its end may go to others while it runs.
///
/// Threads   one at a time
class HEADRACE_EXPORT GrantedTasks {
public:
    using Duration = std::chrono::nanoseconds;

    struct Task {
        Work work;
        std::uint64_t begun = 0;   ///< work units, as far as that is known
        std::uint64_t learned = 0; ///< of these: the participant's rate takes them into account
        double charge = 0;         ///< seconds, for what it was expected to take, or has taken
    };

    explicit GrantedTasks(std::size_t participants) : loads_(participants) {}

    [[nodiscard]] bool are_none() const noexcept { return tasks_.empty(); }
    /// `expected`: seconds that it is to take; 0: not known.
    void add(std::size_t participant, const Work& work, double expected, double now);
    /// The task has ended, or is not this participant's any more.
    Task remove(std::size_t participant, const Work& work);
    /// The task ends there from here on. Its participant has not begun what is cut off.
    void shorten(std::size_t participant, const Work& work, std::uint64_t end);

    /// The task's launches have taken so long so far.
    void ran(std::size_t participant, const Work& work, Duration busy);
    /// So many units of the task are begun. Returns how many were not known to be. It may be told late, when
    /// the task has ended.
    std::uint64_t begun(std::size_t participant, const Work& work, std::uint64_t units, double now);
    /// The same of a task that has not ended; its participant's rate takes them into account.
    std::uint64_t progressed(std::size_t participant, const Work& work, std::uint64_t units);
    /// The participant is known to have done some work.
    void note_progress(std::size_t participant, double now) { loads_[participant].known_from = now; }

    /// Work units of the participant that are begun, of tasks that have not ended.
    [[nodiscard]] std::uint64_t begun_by(std::size_t participant) const { return loads_[participant].begun; }
    /// Work units that it has not begun, as far as known, less what it should have done since it was
    /// last known to have begun any, at `per_second`; 0: its speed is not known. A participant that is late
    /// by some time is taken to need as much time again, since what is late by much may be late by more: a
    /// unit may spawn a large tree.
    [[nodiscard]] std::uint64_t expected_in_flight(std::size_t participant, double per_second,
                                                   double now) const;
    /// When it last had units to begin; if it has any, that is now.
    [[nodiscard]] double last_had_any(std::size_t participant, double now) const {
        return loads_[participant].outstanding > 0 ? now : loads_[participant].known_from;
    }
    /// The time that its last event is a measurement of: from one event of the participant to the next, with
    /// what it costs to move data; or `busy`, if before it there were preparations.
    [[nodiscard]] Duration measure(std::size_t participant, Duration busy, double now);
    /// It prepares what it does next, unless it has more in flight.
    void note_end(std::size_t participant) { loads_[participant].is_steady = loads_[participant].is_any(); }

    /// Seconds of participants that were and will be busy with what was granted.
    [[nodiscard]] double charged() const noexcept { return charged_; }
    void charge(Duration busy);
    void charge_at_least(double seconds) { charged_ = std::max(charged_, seconds); }

    void tell(StateText& out) const;
    void tell_load(StateText& out, std::size_t participant) const;

private:
    using Key = std::tuple<std::size_t, bool, std::uint64_t>; ///< participant, is transferred, first index
    /// Work units in flight of one participant.
    struct Load {
        std::uint64_t outstanding = 0; ///< not begun
        std::uint64_t begun = 0;
        double known_from = 0;    ///< what is outstanding is as it was known then
        double reckoned_from = 0; ///< the last event that ended a measurement
        bool is_steady = false;   ///< at work ever since

        [[nodiscard]] bool is_any() const { return outstanding + begun > 0; }
    };

    static Key key(std::size_t participant, const Work& work) {
        return {participant, work.is_transferred, work.range.begin};
    }
    Task& at(std::size_t participant, const Work& work);
    std::uint64_t note_begun(Load& load, Task& task, std::uint64_t units);

    std::map<Key, Task> tasks_;
    std::vector<Load> loads_; ///< by participant
    double charged_ = 0;
};

} // namespace headrace
