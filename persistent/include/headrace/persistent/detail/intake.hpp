// persistent/detail/intake.hpp - a running launch's end of the feed: what the host says, and seeds that it
// hands in without a launch. feed.hpp is the host's end, control.h what the two share.
#pragma once
#include <headrace/persistent/detail/engine_memory.hpp>
#include <headrace/persistent/detail/seeds.hpp>

namespace headrace {

/// What a group that listens has heard.
struct Heard {
    SeedRange kept;    ///< seeds that it keeps
    std::uint64_t why; ///< all should park, or HR_RUN
};

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

    /// Hears what the host has said and tells it how far the launch is. A group that has nothing keeps the
    /// first `wanted` seeds that it hears of: the way of a short task is no longer than it must be then. For
    /// the group that listens.
    HEADRACE_GROUP_CODE Heard listen(std::uint32_t wanted) const {
        if (segments_ == nullptr) return {{0, 0}, listen_unfed()};
        tell();
        const std::uint32_t why = is_late() ? HR_PARK_BUDGET : HR_RUN;
        const bool is_idle = wanted != 0 && in_.completed == in_.seeds;
        TwoWords said{};
        std::uint64_t upto = 0;
        for (std::uint32_t looks = 0; looks < looks_at_once; ++looks) {
            // relaxed: `fed` and `park` carry no data. Both loads are on their way across the bus at once.
            said = WithHost::load_two(&feed_.fed);
            // acquire: pairs with Feed::add, for the range and for the data that its units will read. Of a
            // range that the host has not begun it says no more than what has been taken over.
            upto = WithHost::load(range().upto, WithHost::acquire);
            if (said.first != in_.seeds || said.second != 0 || upto > in_.seeds || !is_idle) break;
        }
        const std::uint64_t fed = said.first & ~HR_FEED_CLOSED;
        if (said.second != 0) return {{0, 0}, HR_PARK_HOST};
        if (why != HR_RUN) return {{0, 0}, why};
        const SeedRange kept = upto > in_.seeds ? take(upto, wanted) : take_next_ranges(fed, wanted);
        // release: pairs with has_ended: nothing is added to `pending` nor to the segments after it.
        if ((said.first & HR_FEED_CLOSED) != 0 && in_.seeds == fed)
            Sync::store(in_.open, std::uint64_t{0}, Sync::release);
        if (has_room() || fed <= in_.seeds || seeds_left()) return {kept, HR_RUN};
        // relaxed: read after the launch; the next begins with an empty table.
        Sync::store(in_.current, in_.segments, Sync::relaxed);
        return {kept, HR_PARK_FEED};
    }

    /// Seeds that have been taken over since the feed was opened. For the group that listens.
    HEADRACE_GROUP_CODE std::uint64_t taken_over() const { return in_.seeds; }

    /// Adds what a group has spawned, less what it has completed. If nothing is left by that the first
    /// `known` seeds are completed, which that group knew of before; the host need not wait until whoever
    /// listens finds out.
    HEADRACE_GROUP_CODE void add_pending(std::uint64_t net, std::uint64_t known) const {
        // release: pairs with the acquire below, or with that of tell, since the host may read what it is
        // told is completed.
        const std::uint64_t before = Sync::fetch_add(control_.pending.value, net, Sync::release);
        if (before + net != 0 || known == 0) return;
        static_cast<void>(Sync::load(control_.pending.value, Sync::acquire)); // whatever it is by now
        WithHost::store(feed_.finished, known, WithHost::release);            // pairs with Feed::completed
    }

    /// Seeds of the first segment that has some; none if there is none now. `known` grows: see add_pending.
    /// `seen`: how many segments the group has seen before, or 0.
    HEADRACE_GROUP_CODE SeedRange claim(std::uint32_t at_least, std::uint32_t at_most, std::uint64_t& known,
                                        std::uint32_t& seen) const {
        for (;;) { // as often as there are segments
            // relaxed: those that were seen are. Where units write to memory across the bus to acquire takes
            // a GPU long, once for each claim ten times as long as the units.
            std::uint64_t segments = Sync::load(in_.segments, Sync::relaxed);
            if (segments != seen) {
                // acquire: pairs with take, for the segments and for what the host wrote before it fed them.
                segments = Sync::load(in_.segments, Sync::acquire);
                seen = static_cast<std::uint32_t>(segments);
            }
            const std::uint64_t current = Sync::load(in_.current, Sync::relaxed); // relaxed: only grows
            if (current >= segments) return {0, 0};
            HrSegment& segment = segments_[current];
            const SeedRange range = claim_range<Sync>(control_, segment.cursor, segment.end,
                                                      segments - current, at_least, at_most);
            if (!range.empty()) {
                if (segment.upto > known) known = segment.upto;
                return range;
            }
            move_on(current);
        }
    }

    /// A guess; but if it is asked after has_ended was true, there are none where it says so.
    HEADRACE_GROUP_CODE bool seeds_left() const {
        // relaxed, both: who claims looks again. The last segment may be used up, until somebody moves on.
        return Sync::load(in_.current, Sync::relaxed) < Sync::load(in_.segments, Sync::relaxed);
    }

    /// The host may feed more; a guess, but never false before it has ended.
    HEADRACE_GROUP_CODE bool is_open() const {
        return Sync::load(in_.open, Sync::relaxed) != 0; // relaxed: who relies on the end asks has_ended
    }

    /// True if the host feeds no more, and all that it fed is in `pending` and in the segments.
    HEADRACE_GROUP_CODE bool has_ended() const {
        return Sync::load(in_.open, Sync::acquire) == 0; // acquire: pairs with listen
    }

private:
    /// Where there is nothing to do, what is fed is seen sooner by who looks for nothing else.
    static constexpr std::uint32_t looks_at_once = 8;

    /// In a launch that has all its seeds from the beginning: how many are claimed, and whether all should
    /// park.
    HEADRACE_GROUP_CODE std::uint64_t listen_unfed() const {
        // relaxed, all: figures and requests carry no data.
        std::uint64_t claimed = Sync::load(control_.seed_cursor.value, Sync::relaxed);
        if (claimed > control_.seed_end) claimed = control_.seed_end;
        if (claimed != in_.consumed)
            WithHost::store(feed_.consumed, in_.consumed = claimed, WithHost::relaxed);
        return WithHost::load(feed_.park, WithHost::relaxed) != 0 ? HR_PARK_HOST : HR_RUN;
    }

    /// The one whose seeds are next.
    HEADRACE_GROUP_CODE HrFeedRange& range() const { return feed_.range[in_.ranges % HR_FEED_RANGES]; }

    HEADRACE_GROUP_CODE bool has_room() const { return in_.segments < HR_FEED_SEGMENTS; }

    /// All that is fed, which may be more than the range at hand has.
    HEADRACE_GROUP_CODE SeedRange take_next_ranges(std::uint64_t fed, std::uint32_t wanted) const {
        SeedRange kept{0, 0};
        if (fed > in_.seeds)
            // acquire: pairs with Feed::add. As of it, a range that ends with what we have grows no more.
            fed = WithHost::load(feed_.fed, WithHost::acquire) & ~HR_FEED_CLOSED;
        while (fed > in_.seeds && has_room()) {
            // relaxed, both: ordered by `fed`, beyond which we do not go.
            std::uint64_t upto = WithHost::load(range().upto, WithHost::relaxed);
            if (upto == in_.seeds) {
                in_.knows_offset = 0;
                // release: pairs with Feed::add, which may use its place again: we have read it.
                WithHost::store(feed_.ranges, ++in_.ranges, WithHost::release);
                upto = WithHost::load(range().upto, WithHost::relaxed);
            }
            const SeedRange first = take(upto < fed ? upto : fed, kept.empty() ? wanted : 0);
            if (kept.empty()) kept = first;
        }
        return kept;
    }

    /// Takes over the seeds of the range at hand up to number `upto` of the feed, which is beyond those that
    /// are; returns the first of them, at most `wanted`, and leaves the others to all. Nothing if there
    /// is no room for them.
    HEADRACE_GROUP_CODE SeedRange take(std::uint64_t upto, std::uint32_t wanted) const {
        if (!has_room()) return {0, 0};
        if (in_.knows_offset == 0) {
            // relaxed: written before the `upto` or `fed` that we have acquired.
            in_.offset = WithHost::load(range().offset, WithHost::relaxed);
            in_.knows_offset = 1;
        }
        const std::uint64_t fresh = upto - in_.seeds, begin = in_.seeds + in_.offset;
        const std::uint64_t kept = wanted < fresh ? wanted : fresh;
        in_.seeds = upto;
        // relaxed: ordered by the next line, before any of them can be completed by others.
        Sync::fetch_add(control_.pending.value, fresh, Sync::relaxed);
        if (kept < fresh) {
            segments_[in_.segments] = {begin + kept, begin + fresh, upto, 0};
            Sync::store(in_.segments, in_.segments + 1, Sync::release); // pairs with claim
        }
        return {begin, begin + kept};
    }

    HEADRACE_GROUP_CODE void tell() const {
        // acquire: pairs with flush, for what units have written. First, so that no less is consumed then.
        const bool all_completed =
            in_.completed != in_.seeds && Sync::load(control_.pending.value, Sync::acquire) == 0;
        std::uint64_t consumed = in_.seeds;
        const std::uint64_t current = Sync::load(in_.current, Sync::relaxed); // relaxed: only grows
        if (current < in_.segments) {
            const std::uint64_t left = left_in(segments_[current]);
            consumed = segments_[current].upto - left;
            if (left == 0) move_on(current);
        }
        if (consumed != in_.consumed) // relaxed: a figure
            WithHost::store(feed_.consumed, in_.consumed = consumed, WithHost::relaxed);
        if (all_completed) // release: pairs with Feed::completed
            WithHost::store(feed_.completed, in_.completed = in_.seeds, WithHost::release);
    }

    /// From a segment that is used up. One of those who find that does it for all.
    HEADRACE_GROUP_CODE void move_on(std::uint64_t current) const {
        Sync::compare_exchange(in_.current, current, current + 1, Sync::relaxed); // relaxed: only grows
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
