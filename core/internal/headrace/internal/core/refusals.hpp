// internal/core/refusals.hpp - participants that a policy refused: when to ask again, and which gets work
// when all are refused.
#pragma once
#include <headrace/core/export.hpp>

#include <cstddef>
#include <ostream>
#include <utility>
#include <vector>

namespace headrace {

/// A refused participant is asked again when one of its tasks ends. If no task is in flight and all are
/// refused, one must get work nevertheless: if possible one that is not excluded, which is one that the
/// policy lets take nothing over.
///
/// Threads   one at a time
class HEADRACE_EXPORT Refusals {
public:
    explicit Refusals(std::size_t participants) : of_(participants) {}

    void refuse(std::size_t participant, bool is_excluded);
    /// No task is in flight, and this participant was refused. True: all that could work were, so it gets
    /// work. False: others are to ask first. `workers`: the participants that can work.
    [[nodiscard]] bool is_last_resort(std::size_t participant, const std::vector<bool>& workers);
    /// A task is granted.
    void note_grant();
    /// A task has ended.
    void note_end();

    [[nodiscard]] bool is_excluded(std::size_t participant) const { return of_[participant].is_excluded; }
    [[nodiscard]] bool any_excluded() const;
    /// The policy has changed its mind.
    void include(std::size_t participant);

    /// Refused participants may be wanted after all.
    void wake() noexcept { wakes_ = true; }
    /// True, once, if they may be.
    [[nodiscard]] bool takes_wake() noexcept { return std::exchange(wakes_, false); }

    void tell(std::ostream& out, std::size_t participant) const;
    void tell(std::ostream& out) const { out << wakes_; }

private:
    struct Flags {
        bool is_refused = false;   ///< since the last grant
        bool has_woken = false;    ///< all others because of that, since a task began or ended
        bool has_deferred = false; ///< to those that are not excluded, by waking all, since then
        bool is_excluded = false;  ///< when it last was refused: it does not take over anything either
    };

    std::vector<Flags> of_; ///< by participant
    bool wakes_ = false;
};

} // namespace headrace
