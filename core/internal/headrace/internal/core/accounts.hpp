// internal/core/accounts.hpp - what the participants of a job have completed and transferred.
#pragma once
#include <headrace/core/export.hpp>
#include <headrace/internal/core/state_text.hpp>
#include <headrace/internal/core/work.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace headrace {

/// Of one participant.
struct ParticipantAccount {
    std::uint64_t completed = 0; ///< work units
    std::uint64_t seeds_transferred = 0, units_transferred = 0, units_received = 0;
};

/// Threads   one at a time
class HEADRACE_EXPORT Accounts {
public:
    explicit Accounts(std::size_t participants) : of_(participants) {}

    [[nodiscard]] const ParticipantAccount& of(std::size_t participant) const {
        return of_[participant].account;
    }
    [[nodiscard]] std::uint64_t completed_units() const noexcept { return completed_; } ///< of the job
    /// The participant has completed something that would have to be done again.
    [[nodiscard]] bool has_completed(std::size_t participant) const {
        return !of_[participant].completed.is_none();
    }

    /// Its work units: ascending, apart. Nothing after `forget`.
    [[nodiscard]] const std::vector<IndexRange>& completed_by(std::size_t participant) const {
        return of_[participant].completed.ranges();
    }

    void complete(std::size_t participant, const Work& work);
    void transfer_seeds(std::size_t donor, std::uint64_t seeds) {
        of_[donor].account.seeds_transferred += seeds;
    }
    void transfer_units(std::size_t donor, std::uint64_t units) {
        of_[donor].account.units_transferred += units;
    }
    /// What the participant has completed, or all participants have, is not completed any more.
    [[nodiscard]] std::vector<Work> take_back(std::size_t participant, bool all);
    /// The job has ended: nothing is taken back any more.
    void forget() noexcept;

    void tell(StateText& out, std::size_t participant) const;
    void tell(StateText& out) const { out << completed_; }

private:
    struct One {
        ParticipantAccount account;
        CompletedWork completed;
    };

    std::vector<One> of_;         ///< by participant
    std::uint64_t completed_ = 0; ///< work units
};

} // namespace headrace
