// persistent/detail/injection_poller.hpp - the launch's end of the injection queue: the host's requests and
// seeds. injection_queue.hpp is the host's end. control.h has the memory that both share.
#pragma once
#include <headrace/persistent/detail/engine_memory.hpp>
#include <headrace/persistent/detail/seeds.hpp>

namespace headrace {

/// What the injection poller has read.
struct Heard {
    SeedRange kept;    ///< seeds that the poller keeps
    std::uint64_t why; ///< why all groups should pause, or HR_RUN
};

/// Borrows the engine's memory. Only a group's leader calls its functions.
template <class Sync>
class InjectionPoller {
    using WithHost = typename Sync::WithHost;

public:
    HEADRACE_GROUP_CODE explicit InjectionPoller(const EngineView& view)
        : control_(*view.control),
          in_(view.control->poller),
          injection_(*view.injection),
          segments_(view.segments) {}

    /// True if a group at work may become the injection poller, by the value of HrControl::unpolled.
    static HEADRACE_GROUP_CODE bool is_due(std::uint64_t unpolled) {
        return unpolled - 1 < Sync::nanoseconds(); // 0 - 1 is never less
    }

    /// Tries to make this group the injection poller. No group waits to become it.
    HEADRACE_GROUP_CODE bool try_poll(bool is_idle) const {
        std::uint64_t unpolled = Sync::load(control_.unpolled, Sync::relaxed);
        // acquire: pairs with stop_polling, for what the last poller has noted.
        return (is_idle ? unpolled != 0 : is_due(unpolled)) &&
               Sync::compare_exchange(control_.unpolled, unpolled, std::uint64_t{0}, Sync::acquire);
    }
    /// Groups at work leave the host's words alone for some time. Else each look of thousands of groups would
    /// find that it may read them, and end a run of rounds.
    HEADRACE_GROUP_CODE void stop_polling() const {
        constexpr std::uint64_t pause = 20'000; // nanoseconds
        // release: pairs with try_poll
        Sync::store(control_.unpolled, Sync::nanoseconds() + pause, Sync::release);
    }

    /// Reads the host's words, and tells the host how far the launch is. An
    /// idle group keeps up to `wanted` of the first new seeds, so that a short
    /// task begins as early as possible. Only the injection poller calls this.
    HEADRACE_GROUP_CODE Heard poll(std::uint32_t wanted) const {
        if (segments_ == nullptr) return {{0, 0}, poll_unopened()};
        tell();
        const std::uint32_t why = is_late() ? HR_PAUSE_BUDGET : HR_RUN;
        const bool is_idle = wanted != 0 && in_.completed == in_.seeds;
        TwoWords said{};
        std::uint64_t upto = 0;
        for (std::uint32_t looks = 0; looks < looks_at_once; ++looks) {
            // relaxed: `injected` and `pause` carry no data. Both loads cross the bus at the same time.
            said = WithHost::load_two(&injection_.injected);
            // acquire: pairs with InjectionQueue::add, for the range and for the data that its units will
            // read. If the host has not begun this range, `upto` is no more than what has been accepted.
            upto = WithHost::load(range().upto, WithHost::acquire);
            if (said.first != in_.seeds || said.second != 0 || upto > in_.seeds || !is_idle) break;
        }
        const std::uint64_t injected = said.first & ~HR_INJECTION_CLOSED;
        if (said.second != 0) return {{0, 0}, HR_PAUSE_HOST};
        if (why != HR_RUN) return {{0, 0}, why};
        const SeedRange kept = upto > in_.seeds ? take(upto, wanted) : take_next_ranges(injected, wanted);
        // release: pairs with has_ended. After it, nothing is added to `pending` or to the segments.
        if ((said.first & HR_INJECTION_CLOSED) != 0 && in_.seeds == injected)
            Sync::store(in_.open, std::uint64_t{0}, Sync::release);
        if (has_room() || injected <= in_.seeds || seeds_left()) return {kept, HR_RUN};
        // relaxed: the host reads it after the launch. The next launch begins with an empty table.
        Sync::store(in_.current, in_.segments, Sync::relaxed);
        return {kept, HR_PAUSE_SEGMENTS};
    }

    /// Number of seeds accepted since `open`. Only the injection poller calls this.
    HEADRACE_GROUP_CODE std::uint64_t taken_over() const { return in_.seeds; }

    /// Adds what a group has spawned less what it has completed. If `pending`
    /// becomes 0, the first `known` seeds are completed: the seeds that this
    /// group knew of before. So the host need not wait until the poller sees it.
    HEADRACE_GROUP_CODE void add_pending(std::uint64_t net, std::uint64_t known) const {
        // release: pairs with the acquire below, or with that of `tell`, because the host may read the
        // results of seeds that are told to be completed.
        const std::uint64_t before = Sync::fetch_add(control_.pending.value, net, Sync::release);
        if (before + net != 0 || known == 0) return;
        static_cast<void>(Sync::load(control_.pending.value, Sync::acquire)); // any value will do
        WithHost::store(injection_.finished, known,
                        WithHost::release); // release: pairs with InjectionQueue::completed
    }

    /// Claims seeds of the first segment that has some; empty if no segment has any now. Raises `known`: see
    /// add_pending. `seen`: number of segments that the group has seen before, or 0.
    HEADRACE_GROUP_CODE SeedRange claim(std::uint32_t at_least, std::uint32_t at_most, std::uint64_t& known,
                                        std::uint32_t& seen) const {
        for (;;) { // at most once for each segment
            // relaxed: segments that were seen are acquired. If units write across the bus, an acquire takes
            // a GPU long. One for each claim took ten times as long as the units.
            std::uint64_t segments = Sync::load(in_.segments, Sync::relaxed);
            if (segments != seen) {
                // acquire: pairs with `take`, for the segments and for what the host wrote before.
                segments = Sync::load(in_.segments, Sync::acquire);
                seen = static_cast<std::uint32_t>(segments);
            }
            const std::uint64_t current = Sync::load(in_.current, Sync::relaxed); // relaxed: it only grows
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

    /// A guess. After has_ended was true, an answer of false is certain.
    HEADRACE_GROUP_CODE bool seeds_left() const {
        // relaxed, both: a claim looks again. The last segment may be used up until a group moves on.
        return Sync::load(in_.current, Sync::relaxed) < Sync::load(in_.segments, Sync::relaxed);
    }

    /// True if the host may inject more. A guess, but never false before the injection has ended.
    HEADRACE_GROUP_CODE bool is_open() const {
        return Sync::load(in_.open, Sync::relaxed) != 0; // relaxed: has_ended gives the certain answer
    }

    /// True if the host injects no more, and all injected seeds are in `pending` and in the segments.
    HEADRACE_GROUP_CODE bool has_ended() const {
        return Sync::load(in_.open, Sync::acquire) == 0; // acquire: pairs with poll
    }

private:
    /// An idle poller looks several times in a row, so that it sees new seeds sooner.
    static constexpr std::uint32_t looks_at_once = 8;

    /// For a launch that was not opened: tells the host how many seeds
    /// are claimed. Returns why all groups should pause, or HR_RUN.
    HEADRACE_GROUP_CODE std::uint64_t poll_unopened() const {
        // relaxed, all: numbers and requests carry no data.
        std::uint64_t claimed = Sync::load(control_.seed_cursor.value, Sync::relaxed);
        if (claimed > control_.seed_end) claimed = control_.seed_end;
        if (claimed != in_.consumed)
            WithHost::store(injection_.consumed, in_.consumed = claimed, WithHost::relaxed);
        return WithHost::load(injection_.pause, WithHost::relaxed) != 0 ? HR_PAUSE_HOST : HR_RUN;
    }

    /// The injected range with the next seeds.
    HEADRACE_GROUP_CODE HrInjectionRange& range() const {
        return injection_.range[in_.ranges % HR_INJECTION_RANGES];
    }

    HEADRACE_GROUP_CODE bool has_room() const { return in_.segments < HR_INJECTION_SEGMENTS; }

    /// Accepts all injected seeds, also beyond the current range. Returns the seeds that the group keeps.
    HEADRACE_GROUP_CODE SeedRange take_next_ranges(std::uint64_t injected, std::uint32_t wanted) const {
        SeedRange kept{0, 0};
        if (injected > in_.seeds)
            // acquire: pairs with InjectionQueue::add. A range that ends at `in_.seeds` does not grow after
            // it.
            injected = WithHost::load(injection_.injected, WithHost::acquire) & ~HR_INJECTION_CLOSED;
        while (injected > in_.seeds && has_room()) {
            // relaxed, both: ordered by the acquire of `injected`. Nothing beyond `injected` is accepted.
            std::uint64_t upto = WithHost::load(range().upto, WithHost::relaxed);
            if (upto == in_.seeds) {
                in_.knows_offset = 0;
                // release: pairs with InjectionQueue::add, which may reuse the slot after this read.
                WithHost::store(injection_.ranges, ++in_.ranges, WithHost::release);
                upto = WithHost::load(range().upto, WithHost::relaxed);
            }
            const SeedRange first = take(upto < injected ? upto : injected, kept.empty() ? wanted : 0);
            if (kept.empty()) kept = first;
        }
        return kept;
    }

    /// Accepts the seeds of the current range up to seed number `upto`, which is beyond the accepted ones.
    /// Returns the first of them, at most `wanted`; the others become a segment for all groups. Accepts
    /// nothing if there is no room for a segment.
    HEADRACE_GROUP_CODE SeedRange take(std::uint64_t upto, std::uint32_t wanted) const {
        if (!has_room()) return {0, 0};
        if (in_.knows_offset == 0) {
            // relaxed: the host wrote it before the `upto` or `injected` that we have acquired.
            in_.offset = WithHost::load(range().offset, WithHost::relaxed);
            in_.knows_offset = 1;
        }
        const std::uint64_t fresh = upto - in_.seeds, begin = in_.seeds + in_.offset;
        const std::uint64_t kept = wanted < fresh ? wanted : fresh;
        in_.seeds = upto;
        // relaxed: ordered by the release below, before other groups can complete any of these seeds.
        Sync::fetch_add(control_.pending.value, fresh, Sync::relaxed);
        if (kept < fresh) {
            segments_[in_.segments] = {begin + kept, begin + fresh, upto, 0};
            Sync::store(in_.segments, in_.segments + 1, Sync::release); // release: pairs with claim
        }
        return {begin, begin + kept};
    }

    HEADRACE_GROUP_CODE void tell() const {
        // acquire: pairs with add_pending, for what units have written. First, so `consumed` is not less.
        const bool all_completed =
            in_.completed != in_.seeds && Sync::load(control_.pending.value, Sync::acquire) == 0;
        std::uint64_t consumed = in_.seeds;
        const std::uint64_t current = Sync::load(in_.current, Sync::relaxed); // relaxed: it only grows
        if (current < in_.segments) {
            const std::uint64_t left = left_in(segments_[current]);
            consumed = segments_[current].upto - left;
            if (left == 0) move_on(current);
        }
        if (consumed != in_.consumed) // relaxed: carries no data
            WithHost::store(injection_.consumed, in_.consumed = consumed, WithHost::relaxed);
        if (all_completed) // release: pairs with InjectionQueue::completed
            WithHost::store(injection_.completed, in_.completed = in_.seeds, WithHost::release);
    }

    /// Moves `current` on from a used-up segment. One of the groups that find it does so for all.
    HEADRACE_GROUP_CODE void move_on(std::uint64_t current) const {
        Sync::compare_exchange(in_.current, current, current + 1, Sync::relaxed); // relaxed: it only grows
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
    HrPoller& in_;
    HrInjection& injection_;
    HrSegment* segments_;
};

} // namespace headrace
