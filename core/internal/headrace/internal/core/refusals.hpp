// internal/core/refusals.hpp - participants that a policy refused: when to ask again, and which gets work
// when all are refused.
#pragma once
#include <headrace/core/export.hpp>
#include <headrace/internal/core/state_text.hpp>

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

namespace headrace {

/// A refused participant asks again when one of its tasks ends. One that is put off asks again as time
/// passes. If no task is in flight and all are refused, one must get work nevertheless: if possible one that
/// is not excluded, which is one that the policy lets take nothing over.
///
/// Threads   one at a time
class HEADRACE_EXPORT Refusals {
public:
    explicit Refusals(std::size_t participants) : of_(participants) {}

    void refuse(std::size_t participant, bool is_excluded);
    /// It asks for open work, or for any: there is none.
    void note_ask(std::size_t participant, double now);
    void note_no_work() noexcept { there_was_work_ = false; }
    /// Seconds since it could have asked for what is open, and did not.
    [[nodiscard]] double silent_for(std::size_t participant, double now) const {
        return there_was_work_ ? now - std::max(of_[participant].asked_at, work_since_) : 0;
    }
    /// No task is in flight, and this participant was refused. True: all that could work were, so it gets
    /// work. False: others are to ask first. `workers`: the participants that can work.
    [[nodiscard]] bool is_last_resort(std::size_t participant, const std::vector<bool>& workers);
    /// A task is granted to it.
    void note_grant(std::size_t participant);
    /// A task has ended.
    void note_end();

    /// It got nothing when it last asked: the policy wants others to do what is open, but lets it take part.
    [[nodiscard]] bool is_put_off(std::size_t participant) const { return of_[participant].is_put_off; }
    [[nodiscard]] bool is_excluded(std::size_t participant) const { return of_[participant].is_excluded; }
    [[nodiscard]] bool any_excluded() const;
    /// The policy has changed its mind.
    void include(std::size_t participant);

    /// Refused participants may be wanted after all.
    void wake() noexcept { wakes_ = true; }
    /// True, once, if they may be.
    [[nodiscard]] bool takes_wake() noexcept { return std::exchange(wakes_, false); }

    void tell(StateText& out, std::size_t participant) const;
    void tell(StateText& out) const { out << wakes_ << " work since " << there_was_work_ << work_since_; }

private:
    struct Flags {
        double asked_at = 0;       ///< for what was open
        bool is_refused = false;   ///< since the last grant to any
        bool is_put_off = false;   ///< refused and not excluded, since the last grant to it
        bool has_woken = false;    ///< all others because of that, since a task began or ended
        bool has_deferred = false; ///< to those that are not excluded, by waking all, since then
        bool is_excluded = false;  ///< when it last was refused: it does not take over anything either
    };

    std::vector<Flags> of_; ///< by participant
    bool wakes_ = false;
    bool there_was_work_ = false; ///< open, when a participant asked last
    double work_since_ = 0;       ///< when the first asked for it
};

} // namespace headrace
