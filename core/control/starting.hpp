// core/control/starting.hpp - how a request is started, and what its event is when that fails. For the core
// itself.
#pragma once
#include <headrace/core/detail/submission.hpp>
#include <headrace/core/export.hpp>

#include <span>
#include <string_view>

namespace headrace {

/// What `start` returns; a failed event if it throws, or if it is known already that something in `after`
/// failed, and then it is not called. `name`: of the request, for errors; may be empty.
[[nodiscard]] HEADRACE_EXPORT Event start_or_fail(std::string_view name, std::span<const Event> after,
                                                  const Starter& start);

/// A request that failed while it was submitted has overtaken those that it should have come after, and those
/// before it on its lane, of which tiles remember the last one only. They may still be using the tiles: it
/// waits for them.
[[nodiscard]] HEADRACE_EXPORT Event in_place(Event event, std::span<const Event> after,
                                             const Event& before_on_lane);

} // namespace headrace
