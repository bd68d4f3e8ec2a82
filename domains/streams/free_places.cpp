// domains/streams/free_places.cpp - see free_places.hpp.
#include <headrace/internal/domains/streams/free_places.hpp>

#include <algorithm>
#include <numeric>

namespace headrace {

FreePlaces::FreePlaces(std::size_t places) : free_(places), had_by_(places) {
    std::iota(free_.begin(), free_.end(), std::size_t{0});
}

void FreePlaces::wait() {
    std::unique_lock lock(mutex_);
    any_.wait(lock, [this] { return !free_.empty(); });
}

std::size_t FreePlaces::take(std::optional<std::size_t> controller) {
    const std::scoped_lock lock(mutex_);
    const auto had_by = [this](std::size_t place) { return had_by_[place]; };
    constexpr std::optional<std::size_t> nobody;
    auto found = std::ranges::find(free_, controller, had_by);
    if (found == free_.end()) found = std::ranges::find(free_, nobody, had_by);
    if (found == free_.end()) found = free_.begin();
    const std::size_t place = *found;
    free_.erase(found);
    had_by_[place] = controller;
    return place;
}

void FreePlaces::give_back(std::size_t place) {
    const std::scoped_lock lock(mutex_);
    free_.push_back(place);
    any_.notify_one();
}

} // namespace headrace
