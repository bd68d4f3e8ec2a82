// domains/streams/free_slots.cpp - see free_slots.hpp.
#include <headrace/internal/domains/streams/free_slots.hpp>

#include <algorithm>
#include <numeric>

namespace headrace {

FreeSlots::FreeSlots(std::size_t slots) : free_(slots), had_by_(slots) {
    std::iota(free_.begin(), free_.end(), std::size_t{0});
}

void FreeSlots::wait() {
    std::unique_lock lock(mutex_);
    any_.wait(lock, [this] { return !free_.empty(); });
}

std::size_t FreeSlots::take(std::optional<std::size_t> controller) {
    const std::scoped_lock lock(mutex_);
    const auto had_by = [this](std::size_t slot) { return had_by_[slot]; };
    constexpr std::optional<std::size_t> nobody;
    auto found = std::ranges::find(free_, controller, had_by);
    if (found == free_.end()) found = std::ranges::find(free_, nobody, had_by);
    if (found == free_.end()) found = free_.begin();
    const std::size_t slot = *found;
    free_.erase(found);
    had_by_[slot] = controller;
    return slot;
}

void FreeSlots::give_back(std::size_t slot) {
    const std::scoped_lock lock(mutex_);
    free_.push_back(slot);
    any_.notify_one();
}

} // namespace headrace
