// internal/core/turns.hpp - which of several jobs a participant asks first.
#pragma once
#include <headrace/core/export.hpp>

#include <cstddef>
#include <span>
#include <vector>

namespace headrace {

struct Turn {
    int priority = 0;
    double charged = 0; ///< seconds: Schedule::charged
};

/// The most urgent first; of one priority those that were charged least; then in the order given.
[[nodiscard]] HEADRACE_EXPORT std::vector<std::size_t> order_of_turns(std::span<const Turn> turns);

} // namespace headrace
