// core/trace/trace.cpp - see trace.hpp.
#include <headrace/core/trace.hpp>

#include <algorithm>

namespace headrace {

std::atomic<Trace*> Trace::recording_ = nullptr;

Trace::Trace(Keep keep) : keep_(keep) {
    Trace* none = nullptr;
    // release: pairs with the acquire in `recording`. So its caller sees the members initialised.
    if (!recording_.compare_exchange_strong(none, this, std::memory_order_release, std::memory_order_relaxed))
        throw Error{ErrorKind::invalid_argument, "a trace is being recorded already"};
}

Trace::~Trace() {
    recording_.store(nullptr, std::memory_order_relaxed);
} // relaxed: no thread submits now, see the class

std::uint32_t Trace::track(const TraceUnit& unit) {
    // There are few tracks, so a search is cheaper than a table. The latest first, because a new object may
    // have the address of an old one.
    for (std::size_t i = tracks_.size(); i-- > 0;) {
        const Track& known = tracks_[i];
        const Unit& of = sums_[known.sum].unit;
        if (known.key == unit.key && of.name == unit.name && of.device == unit.device)
            return static_cast<std::uint32_t>(i);
    }
    const auto same = std::ranges::find_if(
        sums_, [&](const Sum& sum) { return sum.unit.device == unit.device && sum.unit.name == unit.name; });
    tracks_.push_back({unit.key, static_cast<std::size_t>(same - sums_.begin()), unit.in_order, {}});
    if (same == sums_.end())
        sums_.push_back({{.device = std::string(unit.device), .name = std::string(unit.name)}, {}});
    return static_cast<std::uint32_t>(tracks_.size() - 1);
}

std::uint32_t Trace::name(std::string_view text) {
    if (const auto known = name_ids_.find(text); known != name_ids_.end()) return known->second;
    names_.emplace_back(text);
    return name_ids_.emplace(names_.back(), static_cast<std::uint32_t>(names_.size() - 1)).first->second;
}

SpanId Trace::reserve() {
    const std::scoped_lock lock(mutex_);
    return ++last_;
}

SpanId Trace::add(const TraceUnit& unit, std::string_view text, const Event& event,
                  std::span<const Event> after, const Details& details) {
    const std::scoped_lock lock(mutex_);
    const SpanId id = details.id != 0 ? details.id : ++last_;
    Pending request{id, track(unit), 0, details.bytes, event};
    if (keep_ == Keep::spans) {
        request.name = name(text);
        for (const Event& earlier : after) {
            if (!earlier.passes_failure()) continue; // only order; no data comes from this event
            if (const auto from = under_way_.find(earlier.state().get()); from != under_way_.end())
                flows_.emplace_back(from->second, request.id);
        }
        if (event.state()) under_way_.insert_or_assign(event.state().get(), request.id);
        if (details.part_of != 0) parts_.emplace_back(details.part_of, id);
    }
    pending_.push_back(std::move(request));
    return id;
}

void Trace::ended(const Pending& request) {
    Track& track = tracks_[request.track];
    Sum& sum = sums_[track.sum];
    ++sum.unit.requests;
    if (const auto own = under_way_.find(request.event.state().get());
        own != under_way_.end() && own->second == request.id)
        under_way_.erase(own);
    const auto times = request.event.times();
    if (!times) return;
    // Device clocks are accurate to about 1 us. Requests that run in order must also appear in order.
    const auto begin = track.in_order ? std::max(times->begin, track.until) : times->begin;
    const auto end = std::max(begin, times->end);
    track.until = std::max(track.until, end);
    sum.busy.add({begin, end});
    if (keep_ == Keep::spans)
        spans_.push_back({request.id, request.track, request.name, request.bytes, begin, end});
}

void Trace::tidy() {
    {
        const std::scoped_lock lock(mutex_);
        if (pending_.size() < collect_at_) return;
    }
    if (collecting_.try_lock()) { // else another thread collects
        const std::scoped_lock mine(std::adopt_lock, collecting_);
        collect();
    }
}

void Trace::collect() {
    std::vector<Pending> seen;
    {
        const std::scoped_lock lock(mutex_);
        seen.swap(pending_);
    }
    // Without mutex_: asking a driver may settle events and run their continuations. The requests of a track
    // are taken in order, because its `until` needs this: requests after one that has not ended are not
    // asked.
    std::vector<Pending> done, open;
    std::vector<bool> is_held_up;
    for (Pending& request : seen) {
        if (request.track >= is_held_up.size()) is_held_up.resize(request.track + 1);
        const bool ends = !is_held_up[request.track] && request.event.done();
        is_held_up[request.track] = !ends;
        (ends ? done : open).push_back(std::move(request));
    }
    const std::scoped_lock lock(mutex_);
    for (const Pending& request : done) ended(request);
    pending_.insert(pending_.begin(), std::move_iterator(open.begin()), std::move_iterator(open.end()));
    // So each request is asked only a few times, for any number of requests.
    collect_at_ = std::max<std::size_t>(256, 2 * pending_.size());
}

std::vector<Trace::Unit> Trace::units() {
    const std::scoped_lock one(collecting_);
    collect();
    const std::scoped_lock lock(mutex_);
    std::vector<Unit> all;
    for (const Sum& sum : sums_) {
        all.push_back(sum.unit);
        all.back().busy = sum.busy.total();
    }
    return all;
}

} // namespace headrace
