// persistent/intake.hpp - a running launch's end of the feed: seeds that the host hands in without a launch.
// feed.hpp is the host's end, control.h what the two share.
#pragma once
#include <headrace/persistent/engine_memory.hpp>
#include <headrace/persistent/seeds.hpp>

namespace headrace {

/// Borrows the engine's memory. Every function is for a group's leader.
template <class Sync>
class Intake {
    using WithHost = typename Sync::WithHost;

public:
    HEADRACE_GROUP_CODE explicit Intake(const EngineView& view)
        : control_(*view.control), in_(view.control->intake), feed_(*view.feed), segments_(view.segments) {}

    /// Whether this group is now the one that listens. Nobody waits for that one.
    HEADRACE_GROUP_CODE bool try_listen() const {
        std::uint32_t unheard = 1;
        // acquire: pairs with stop_listening, for what the last listener has noted.
        return Sync::load(control_.unheard, Sync::relaxed) != 0 &&
               Sync::compare_exchange(control_.unheard, unheard, 0u, Sync::acquire);
    }
    HEADRACE_GROUP_CODE void stop_listening() const {
        Sync::store(control_.unheard, 1u, Sync::release); // pairs with try_listen
    }

    /// Hears what the host has said and tells it how far the launch is. Says why all should park, or HR_RUN.
    /// For the group that listens.
    HEADRACE_GROUP_CODE std::uint32_t listen() const {
        const bool asked = WithHost::load(feed_.park, WithHost::relaxed) != 0; // relaxed: carries no data
        // acquire: pairs with Feed::add, for the ranges and for the data that their units will read.
        const std::uint64_t fed = WithHost::load(feed_.fed, WithHost::acquire);
        const bool has_all = take_over(fed & ~HR_FEED_CLOSED);
        // release: pairs with has_ended: nothing is added to `pending` nor to the segments after it.
        if (has_all && (fed & HR_FEED_CLOSED) != 0) Sync::store(in_.open, std::uint64_t{0}, Sync::release);
        tell();
        if (asked) return HR_PARK_HOST;
        if (is_late()) return HR_PARK_BUDGET;
        if (has_all || seeds_left()) return HR_RUN;
        // relaxed: read after the launch; the next begins with an empty table.
        Sync::store(in_.current, in_.segments, Sync::relaxed);
        return HR_PARK_FEED;
    }

    /// Seeds of the first segment that has some; none if there is none now.
    HEADRACE_GROUP_CODE SeedRange claim(std::uint32_t at_least) const {
        for (;;) { // as often as there are segments
            // acquire: pairs with take_over, for the segments and for what the host wrote before it fed them.
            const std::uint64_t segments = Sync::load(in_.segments, Sync::acquire);
            std::uint64_t current = Sync::load(in_.current, Sync::relaxed); // relaxed: only grows
            if (current >= segments) return {0, 0};
            HrSegment& segment = segments_[current];
            const SeedRange range =
                claim_range<Sync>(control_, segment.cursor, segment.end, segments - current, at_least);
            if (!range.empty()) return range;
            // relaxed: as above. One of those who find it used up moves on for all.
            Sync::compare_exchange(in_.current, current, current + 1, Sync::relaxed);
        }
    }

    /// A guess; but if it is asked after has_ended was true, there are none where it says so.
    HEADRACE_GROUP_CODE bool seeds_left() const {
        const std::uint64_t segments = Sync::load(in_.segments, Sync::acquire); // acquire: as in claim
        const std::uint64_t current = Sync::load(in_.current, Sync::relaxed);
        return current < segments && (current + 1 < segments || left_in(segments_[current]) > 0);
    }

    /// True if the host feeds no more, and all that it fed is in `pending` and in the segments.
    HEADRACE_GROUP_CODE bool has_ended() const {
        return Sync::load(in_.open, Sync::acquire) == 0; // acquire: pairs with listen
    }

private:
    /// False if there was no room for all that is fed.
    HEADRACE_GROUP_CODE bool take_over(std::uint64_t fed) const {
        const std::uint64_t before = in_.seeds, ranges_before = in_.ranges;
        std::uint64_t segments = in_.segments;
        while (in_.seeds != fed && segments < HR_FEED_SEGMENTS) {
            const HrFeedRange& range = feed_.range[in_.ranges % HR_FEED_RANGES];
            // relaxed, both: as of `fed`, which is acquired, they are written; beyond it we do not go.
            const std::uint64_t offset = WithHost::load(range.offset, WithHost::relaxed);
            std::uint64_t upto = WithHost::load(range.upto, WithHost::relaxed);
            if (upto > fed) upto = fed;
            if (upto == in_.seeds) { // more is fed than this range ends with, so it grows no more
                ++in_.ranges;
                continue;
            }
            segments_[segments++] = {in_.seeds + offset, upto + offset, upto, 0};
            in_.seeds = upto;
        }
        if (in_.seeds != before) {
            // relaxed: ordered by the next line, before any of them can be completed.
            Sync::fetch_add(control_.pending.value, in_.seeds - before, Sync::relaxed);
            Sync::store(in_.segments, segments, Sync::release); // pairs with claim
        }
        // release: pairs with Feed::add, which may use their places again: we have read them.
        if (in_.ranges != ranges_before) WithHost::store(feed_.ranges, in_.ranges, WithHost::release);
        return in_.seeds == fed;
    }

    HEADRACE_GROUP_CODE void tell() const {
        // acquire: pairs with flush, for what units have written. First, so that no less is consumed then.
        const bool all_completed =
            in_.completed != in_.seeds && Sync::load(control_.pending.value, Sync::acquire) == 0;
        std::uint64_t consumed = in_.seeds;
        const std::uint64_t current = Sync::load(in_.current, Sync::relaxed); // relaxed: only grows
        if (current < in_.segments) consumed = segments_[current].upto - left_in(segments_[current]);
        if (consumed != in_.consumed) // relaxed: a figure
            WithHost::store(feed_.consumed, in_.consumed = consumed, WithHost::relaxed);
        if (all_completed) // release: pairs with Feed::completed
            WithHost::store(feed_.completed, in_.completed = in_.seeds, WithHost::release);
    }

    HEADRACE_GROUP_CODE bool is_late() const {
        const std::uint64_t now = Sync::nanoseconds();
        if (in_.deadline == 0) in_.deadline = now + in_.time;
        return now >= in_.deadline;
    }

    static HEADRACE_GROUP_CODE std::uint64_t left_in(const HrSegment& segment) {
        const std::uint64_t cursor = Sync::load(segment.cursor, Sync::relaxed); // relaxed: a guess
        return cursor < segment.end ? segment.end - cursor : 0;
    }

    HrControl& control_;
    HrIntake& in_;
    HrFeed& feed_;
    HrSegment* segments_;
};

} // namespace headrace
