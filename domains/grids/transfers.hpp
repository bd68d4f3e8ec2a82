// domains/grids/transfers.hpp - explicit transfers of arrays and parts of them. They are never needed for the
// right data, only to have it there earlier.
#pragma once
#include <headrace/domains/grids/binding.hpp>

#include <vector>

namespace headrace {

namespace detail {
template <class ArrayOrPart, class Move>
Event for_tiles(const ArrayOrPart& array, const Move& move) {
    const auto tiles = ArrayTraits<ArrayOrPart>::tiles(array);
    if (tiles.size() == 1) return move(*tiles.front());
    std::vector<Event> all;
    for (Tile* tile : tiles) all.push_back(move(*tile));
    return Event::all(all);
}
} // namespace detail

/// An Array or a Part.
template <class T>
concept ArrayOrPart = detail::ArrayTraits<T>::is_array;

/// See Controller::move_to, move_from and prefetch.
template <ArrayOrPart A>
Event move_to(Controller& controller, const A& array) {
    return detail::for_tiles(array, [&](Tile& tile) { return controller.move_to(tile); });
}
template <ArrayOrPart A>
Event move_from(Controller& controller, const A& array) {
    return detail::for_tiles(array, [&](Tile& tile) { return controller.move_from(tile); });
}
template <ArrayOrPart A>
Event prefetch(Controller& controller, const A& array) {
    return detail::for_tiles(array, [&](Tile& tile) { return controller.prefetch(tile); });
}

/// Brings the host image up to date, without blocking; Array::gather waits for it.
template <ArrayOrPart A>
[[nodiscard]] Event gather(const A& array) {
    return detail::for_tiles(array, [](Tile& tile) { return gather(tile); });
}

/// Blocks until every request on it has ended; throws what made it invalid. Fetches nothing.
template <ArrayOrPart A>
void wait(const A& array) {
    for (Tile* tile : detail::ArrayTraits<A>::tiles(array)) wait(*tile);
}

} // namespace headrace
