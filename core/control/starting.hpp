// core/control/starting.hpp - how a request is started, and which event it has if this fails. Only for the
// core.
#pragma once
#include <headrace/core/detail/submission.hpp>
#include <headrace/core/export.hpp>

#include <span>
#include <string_view>

namespace headrace {

/// Calls `start` and returns its event, or a failed event if it throws. If an event in `after` is known to
/// have failed, returns a failed event without the call. `name`: of the request, for errors; may be empty.
[[nodiscard]] HEADRACE_EXPORT Event start_or_fail(std::string_view name, std::span<const Event> after,
                                                  const Starter& start);

/// Returns `event`; if it has failed already, it also waits for `after` and `before_on_lane`. A request that
/// fails at submission overtakes these earlier requests, which may still use the tiles. Tiles remember only
/// the last request of a lane, so later requests must find all of them ended when this event completes.
[[nodiscard]] HEADRACE_EXPORT Event in_place(Event event, std::span<const Event> after,
                                             const Event& before_on_lane);

} // namespace headrace
