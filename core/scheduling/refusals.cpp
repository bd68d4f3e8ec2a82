// core/scheduling/refusals.cpp - see refusals.hpp.
#include <headrace/internal/core/refusals.hpp>

#include <algorithm>

namespace headrace {

void Refusals::refuse(std::size_t participant, bool is_excluded) {
    of_[participant].is_refused = true;
    of_[participant].is_excluded = is_excluded;
    of_[participant].is_put_off = !is_excluded;
}

void Refusals::note_ask(std::size_t participant, double now) {
    of_[participant].asked_at = now;
    if (!std::exchange(there_was_work_, true)) work_since_ = now;
}

bool Refusals::is_last_resort(std::size_t participant, const std::vector<bool>& workers) {
    bool all_refused = true, all_excluded = true;
    for (std::size_t i = 0; i < of_.size(); ++i) {
        if (!workers[i]) continue;
        all_refused = all_refused && of_[i].is_refused;
        all_excluded = all_excluded && of_[i].is_excluded;
    }
    Flags& flags = of_[participant];
    // Participants that are not excluded come first.
    if (all_refused && (!flags.is_excluded || all_excluded)) return true;
    // Each once: a participant at work elsewhere asks when that ends, and the caller wakes itself too.
    bool& has_told = all_refused ? flags.has_deferred : flags.has_woken;
    if (!std::exchange(has_told, true)) wake();
    return false;
}

void Refusals::note_grant(std::size_t participant) {
    of_[participant].is_put_off = false;
    for (Flags& one : of_) one.is_refused = one.has_woken = one.has_deferred = false;
}

void Refusals::note_end() {
    for (Flags& one : of_) one.has_woken = one.has_deferred = false;
}

bool Refusals::any_excluded() const { return std::ranges::any_of(of_, &Flags::is_excluded); }

void Refusals::include(std::size_t participant) {
    of_[participant].is_excluded = false;
    wake();
}

void Refusals::tell(StateText& out, std::size_t participant) const {
    const Flags& flags = of_[participant];
    out << flags.is_refused << flags.has_woken << flags.has_deferred << flags.is_excluded << flags.is_put_off
        << " asked " << flags.asked_at;
}

} // namespace headrace
