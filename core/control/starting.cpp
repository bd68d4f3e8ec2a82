// core/control/starting.cpp - see starting.hpp.
#include "control/starting.hpp"

#include <memory>
#include <utility>
#include <vector>

namespace headrace {

namespace {

/// The first failure that is already known; null if none.
ErrorPtr known_failure(std::span<const Event> after) {
    for (const Event& event : after)
        if (event.state() && event.state()->settled())
            if (ErrorPtr error = event.outcome()) return error;
    return {};
}

} // namespace

Event start_or_fail(std::string_view name, std::span<const Event> after, const Starter& start) {
    if (ErrorPtr error = known_failure(after)) return Event::failed(std::move(error));
    try {
        return start(after);
    } catch (...) {
        Error error{*current_error()};
        if (!name.empty()) error.in_task(name);
        return Event::failed(std::make_shared<const Error>(std::move(error)));
    }
}

Event in_place(Event event, std::span<const Event> after, const Event& before_on_lane) {
    if (!event.state() || !event.state()->settled() || !event.outcome()) return event;
    std::vector<Event> all{std::move(event), before_on_lane.order_only()};
    for (const Event& earlier : after) all.push_back(earlier.order_only());
    return Event::all(all);
}

} // namespace headrace
