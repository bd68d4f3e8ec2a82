// internal/core/availability.hpp - which participants of a job can work: those that are not lost, and whose
// memory has room and is in use.
#pragma once
#include <headrace/core/export.hpp>
#include <headrace/internal/core/rates.hpp>
#include <headrace/internal/core/state_text.hpp>
#include <headrace/internal/core/working_memory.hpp>

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

namespace headrace {

/// A lost participant stays lost, and a full memory stays full.
///
/// Threads   one at a time
class HEADRACE_EXPORT Availability {
public:
    struct Participant {
        std::size_t memory = 0;
        bool is_standby = false;
    };

    /// `memory`: all tasks work on it; none: each participant works on its own.
    Availability(std::span<const Participant> participants, std::optional<std::size_t> memory);

    [[nodiscard]] bool can_work(std::size_t participant) const;
    [[nodiscard]] std::vector<bool> workers() const; ///< `can_work`, by participant
    [[nodiscard]] bool are_none() const;             ///< no participant can work

    [[nodiscard]] bool is_lost(std::size_t participant) const { return all_[participant].is_lost; }
    [[nodiscard]] bool is_full(std::size_t participant) const { return all_[participant].is_full; }
    /// All tasks so far work on another memory.
    [[nodiscard]] bool is_spared(std::size_t participant) const { return all_[participant].is_spared; }
    /// Its memory is not in use.
    [[nodiscard]] bool stands_by(std::size_t participant) const;
    /// There is a standby, and no other participant is lost.
    [[nodiscard]] bool has_standby() const;
    /// Some of the job was done in a memory that is not in use any more.
    [[nodiscard]] bool has_moved() const noexcept { return memory_.has_moved(); }

    /// False: it was lost before.
    bool lose(std::size_t participant);
    /// What was done in other memories is done again.
    void start_again() noexcept { memory_.start_again(); }
    /// The tasks can work on another memory than this participant's.
    [[nodiscard]] bool has_other_memory(std::size_t participant) const;
    /// The participant's memory is full. `has_begun`: some of the job was done, or is under way.
    void fill_memory(std::size_t participant, bool has_begun);
    /// The job goes on in the memory whose participants are the fastest together. False: there is none.
    [[nodiscard]] bool go_to_next_memory(const Rates& rates);

    void tell(StateText& out, std::size_t participant) const;
    void tell(StateText& out) const { memory_.tell(out); }

private:
    struct One {
        Participant participant;
        bool is_lost = false, is_full = false, is_spared = false;

        [[nodiscard]] bool is_left() const { return !is_lost && !is_full; }
    };

    std::vector<One> all_; ///< by participant
    WorkingMemory memory_;
};

} // namespace headrace
