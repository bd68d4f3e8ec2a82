// domains/streams/item_spans.cpp - see item_spans.hpp.
#include "streams/item_spans.hpp"
#include <headrace/core/event.hpp>

#include <algorithm>

namespace headrace {

std::unique_ptr<ItemSpans> ItemSpans::make(std::size_t controllers) {
    const Trace* const trace = Trace::recording();
    if (!trace || trace->keep() != Trace::Keep::spans) return nullptr;
    return std::make_unique<ItemSpans>(controllers);
}

void ItemSpans::arrived(Item& item) {
    const std::scoped_lock lock(mutex_);
    item.there = Clock::now();
}

void ItemSpans::ended(Item& item, std::size_t controller, std::string_view device, std::string_view name) {
    EventTimes times;
    {
        const std::scoped_lock lock(mutex_);
        Clock::time_point& free_from = free_from_[controller];
        times = {std::max(item.there, free_from), Clock::now()};
        item.there = free_from = times.end;
    }
    Trace* const trace = Trace::recording();
    if (!trace) return;
    Promise ran;
    trace->add({nullptr, "stream", device, false}, name, ran.event(), {});
    ran.complete(times);
}

} // namespace headrace
