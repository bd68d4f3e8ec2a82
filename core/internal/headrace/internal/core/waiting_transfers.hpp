// internal/core/waiting_transfers.hpp - what donors have transferred and its recipients do not have yet, and
// which participants are idle.
#pragma once
#include <headrace/core/export.hpp>
#include <headrace/internal/core/state_text.hpp>
#include <headrace/internal/core/work.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace headrace {

/// Also numbers the units that a job transfers, and limits their bytes: they are kept until the job ends, for
/// the case that their participant is lost.
///
/// Threads   one at a time
class HEADRACE_EXPORT WaitingTransfers {
public:
    explicit WaitingTransfers(std::size_t recipients) : of_(recipients) {}

    [[nodiscard]] bool are_none() const; ///< of any participant
    [[nodiscard]] bool are_none(std::size_t participant) const { return of_[participant].waiting.empty(); }
    /// The participant is idle, and nothing waits for it.
    [[nodiscard]] bool may_receive(std::size_t participant) const;
    [[nodiscard]] bool is_idle(std::size_t participant) const { return of_[participant].is_idle; }

    void add(std::size_t recipient, const Work& work) { of_[recipient].waiting.push_back(work); }
    /// What was transferred to the participant last. Needs some.
    [[nodiscard]] Work take(std::size_t participant);
    [[nodiscard]] std::vector<Work> take_all(std::size_t participant);
    /// The participant has nothing to do, or has something again. Returns whether it was idle.
    bool note_idle(std::size_t participant, bool is_idle);

    /// So many units of the donor's, which get their numbers.
    [[nodiscard]] Work number(std::uint64_t units);
    /// So many bytes of units are kept.
    void keep(std::uint64_t bytes) noexcept { bytes_ += bytes; }
    /// So many of them are kept no more.
    void release(std::uint64_t bytes) noexcept { bytes_ -= std::min(bytes, bytes_); }
    /// So many bytes more may be kept.
    [[nodiscard]] std::uint64_t bytes_left() const noexcept;
    /// The job has ended.
    void forget() noexcept;

    void tell(StateText& out, std::size_t participant) const;
    void tell(StateText& out) const { out << numbered_ << "/" << bytes_; }

private:
    struct One {
        std::vector<Work> waiting; ///< the last is next
        bool is_idle = false;
    };

    std::vector<One> of_;        ///< by participant
    std::uint64_t numbered_ = 0; ///< units
    std::uint64_t bytes_ = 0;    ///< kept
};

} // namespace headrace
