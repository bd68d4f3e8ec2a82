// core/scheduling/availability.cpp - see availability.hpp.
#include <headrace/internal/core/availability.hpp>

#include <algorithm>
#include <map>
#include <utility>

namespace headrace {

Availability::Availability(std::span<const Participant> participants, std::optional<std::size_t> memory)
    : memory_(memory) {
    for (const Participant& one : participants)
        all_.push_back({.participant = one, .is_spared = !memory_.is(one.memory)});
}

bool Availability::can_work(std::size_t participant) const {
    return all_[participant].is_left() && !stands_by(participant);
}

std::vector<bool> Availability::workers() const {
    std::vector<bool> workers;
    for (std::size_t i = 0; i < all_.size(); ++i) workers.push_back(can_work(i));
    return workers;
}

bool Availability::are_none() const {
    for (std::size_t i = 0; i < all_.size(); ++i)
        if (can_work(i)) return false;
    return true;
}

bool Availability::stands_by(std::size_t participant) const {
    return !memory_.is(all_[participant].participant.memory);
}

bool Availability::has_standby() const {
    return std::ranges::any_of(all_, [](const One& one) { return one.participant.is_standby; }) &&
           std::ranges::none_of(all_,
                                [](const One& one) { return one.is_lost && !one.participant.is_standby; });
}

bool Availability::lose(std::size_t participant) { return !std::exchange(all_[participant].is_lost, true); }

bool Availability::has_other_memory(std::size_t participant) const {
    const std::size_t left = all_[participant].participant.memory;
    return memory_.is_one() && std::ranges::any_of(all_, [&](const One& one) {
               return one.is_left() && one.participant.memory != left;
           });
}

void Availability::fill_memory(std::size_t participant, bool has_begun) {
    const std::size_t full = all_[participant].participant.memory;
    for (One& one : all_)
        if (one.participant.memory == full) one.is_full = true;
    // Tasks in flight end in the memory where they are.
    if (has_begun) memory_.note_moved();
}

bool Availability::go_to_next_memory(const Rates& rates) {
    std::map<std::size_t, double> capabilities; // by memory
    for (std::size_t i = 0; i < all_.size(); ++i)
        if (all_[i].is_left()) capabilities[all_[i].participant.memory] += std::max(rates.capability(i), 0.0);
    if (!memory_.go_to_best(capabilities)) return false;
    for (One& one : all_)
        if (memory_.is(one.participant.memory)) one.is_spared = false;
    return true;
}

void Availability::tell(StateText& out, std::size_t participant) const {
    const One& one = all_[participant];
    out << one.is_lost << one.is_full << one.is_spared;
}

} // namespace headrace
