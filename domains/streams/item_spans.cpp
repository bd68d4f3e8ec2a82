// domains/streams/item_spans.cpp - see item_spans.hpp.
#include <headrace/domains/streams/item_spans.hpp>

#include <algorithm>
#include <utility>

namespace headrace {

std::shared_ptr<ItemSpans> ItemSpans::make(std::size_t controllers) {
    const Trace* const trace = Trace::recording();
    if (!trace || trace->keep() != Trace::Keep::spans) return nullptr;
    return std::make_shared<ItemSpans>(controllers);
}

void ItemSpans::watch_arrival(const std::shared_ptr<ItemSpans>& spans, const std::shared_ptr<Item>& item,
                              const Event& there) {
    there.then([spans, item](const ErrorPtr&) {
        const std::scoped_lock lock(spans->mutex_);
        item->there = Clock::now();
    });
}

void ItemSpans::watch_part(const std::shared_ptr<ItemSpans>& spans, const std::shared_ptr<Item>& item,
                           std::size_t controller, std::string device, std::string name, const Event& last) {
    last.then([spans, item, controller, device = std::move(device), name = std::move(name)](const ErrorPtr&) {
        EventTimes times;
        {
            const std::scoped_lock lock(spans->mutex_);
            Clock::time_point& free_from = spans->free_from_[controller];
            times = {std::max(item->there, free_from), Clock::now()};
            item->there = free_from = times.end;
        }
        Trace* const trace = Trace::recording(); // it may have ended with the stream
        if (!trace) return;
        Promise ran;
        trace->add({nullptr, "stream", device, false}, name, ran.event(), {});
        ran.complete(times);
    });
}

} // namespace headrace
