// domains/grids/transfers.hpp - explicit transfers of arrays and parts of them. Programs are correct without
// them; they only move data earlier.
#pragma once
#include <headrace/domains/grids/detail/binding.hpp>

#include <vector>

namespace headrace {

/// An Array or a Part.
template <class T>
concept ArrayOrPart = detail::ArrayTraits<T>::is_array;

/// See Controller::move_to, move_from and prefetch.
template <ArrayOrPart A>
Event move_to(Controller& controller, const A& array) {
    return controller.move_to(detail::ArrayTraits<A>::tile(array));
}
template <ArrayOrPart A>
Event move_from(Controller& controller, const A& array) {
    return controller.move_from(detail::ArrayTraits<A>::tile(array));
}
template <ArrayOrPart A>
Event prefetch(Controller& controller, const A& array) {
    return controller.prefetch(detail::ArrayTraits<A>::tile(array));
}

/// Updates the host replica without blocking. Array::gather also waits for it.
template <ArrayOrPart A>
[[nodiscard]] Event gather(const A& array) {
    return gather(detail::ArrayTraits<A>::tile(array));
}

/// Blocks until every request on it has ended. Throws the failure that made it invalid. Moves no data.
template <ArrayOrPart A>
void wait(const A& array) {
    wait(detail::ArrayTraits<A>::tile(array));
}

} // namespace headrace
