// core/trace.hpp - what ran when: kernels, transfers and host tasks, each on the device or lane that ran it.
// Off, which it is unless somebody makes a Trace, it costs a request the reading of one pointer.
#pragma once
#include <headrace/core/busy_time.hpp>
#include <headrace/core/device.hpp>
#include <headrace/core/export.hpp>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace headrace {

/// Something that works by itself: a device's kernels, its transfers in one direction, a host lane.
struct TraceUnit {
    const void* key;         ///< its address tells it from others of the same name
    std::string_view device; ///< whose it is: "cuda:0", "host"
    std::string_view name;   ///< "kernels", "to device", "writing"
    bool in_order = true;    ///< one request at a time
};

/// Tells a request of the trace that records from its others. 0: none.
using SpanId = std::uint32_t;

/// What a trace is told of a request beside its name.
struct TraceLabel {
    std::string_view unit = "other streams"; ///< of the device, where the request has no lane
    SpanId part_of = 0;                      ///< the request or job that it is done for
};

/// Records every request of this process from its construction to its destruction. There is one at a time,
/// as with the log: requests of all devices and lanes are on one clock, and no other object knows all.
///
/// Requests that failed ran for no known time; they are counted and not shown.
///
/// Threads   any. Nobody submits requests while it is made or destroyed
/// Errors    throws invalid_argument if there is another one
/// Cost      0.1 us for the submitting thread, on GPUs some 3 us to have times measured (and 3 us between two
///           copies: what is close together is shown apart), and asking the driver for the times once it
///           has ended; spans take some 50 bytes each, for as long as the trace lives
class HEADRACE_EXPORT Trace {
public:
    enum class Keep : std::uint8_t {
        totals, ///< what units() says: does not grow with the number of requests
        spans,  ///< each request, for json() and svg()
    };
    explicit Trace(Keep keep = Keep::spans);
    ~Trace();
    Trace(const Trace&) = delete; // the process has its address
    Trace& operator=(const Trace&) = delete;

    /// The one that records now; null: none.
    [[nodiscard]] static Trace* recording() noexcept { return recording_.load(std::memory_order_acquire); }
    [[nodiscard]] Keep keep() const noexcept { return keep_; }
    /// For streams: whether what they are given now is to be measured.
    [[nodiscard]] static bool measures(Timing timing) noexcept {
        return timing == Timing::all || recording() != nullptr;
    }

    /// All that has one name on one device: kernels of two controllers of one GPU are one unit.
    struct Unit {
        std::string device, name;
        std::uint64_t requests = 0;       ///< that have ended, failed ones among them
        std::chrono::nanoseconds busy{0}; ///< with at least one request running
        /// Jobs, items of streams: their time is that of others, which are in the trace as well.
        [[nodiscard]] bool is_made_of_requests() const { return device == "jobs" || device == "stream"; }
    };
    /// In the order in which they were first used; later calls have the same ones in front.
    [[nodiscard]] std::vector<Unit> units();

    /// All that has ended, in the JSON that chrome://tracing and ui.perfetto.dev open: a process for each
    /// device, a thread for each unit, or several where requests of one overlap. Arrows of category "data"
    /// lead from requests to those that were submitted while their results were still being made, arrows of
    /// category "part" from a job to its tasks, and between a task or kernel and the transfers that were made
    /// for it. All lead from what began earlier to what began later: viewers drop others.
    [[nodiscard]] std::string json();
    /// The same as a Gantt chart, an SVG: a row for each unit, and of each device the share of the time in
    /// which it computed nothing. What is too short to be seen is joined to its neighbours, so that the
    /// picture stays small however many requests there were. `caption`: a line below it.
    [[nodiscard]] std::string svg(std::string_view caption = {});

    // For the core, for jobs and for backends:
    struct Details {
        std::uint64_t bytes = 0; ///< moved
        SpanId id = 0;           ///< reserved for it; 0: not
        SpanId part_of = 0;
    };
    /// `event` is that of a request called `name`, which comes after the events in `after`.
    SpanId add(const TraceUnit& unit, std::string_view name, const Event& event, std::span<const Event> after,
               const Details& details);
    SpanId add(const TraceUnit& unit, std::string_view name, const Event& event,
               std::span<const Event> after) {
        return add(unit, name, event, after, {});
    }
    /// For a request that is added later than its parts.
    [[nodiscard]] SpanId reserve();
    /// Takes notice of what has ended, if there may be much of it. Asks drivers and may settle events: hold
    /// no lock that their continuations take.
    void tidy();

private:
    using Clock = std::chrono::steady_clock;

    struct Sum {
        Unit unit; // without `busy`
        BusyTime busy;
    };
    /// Requests of one TraceUnit.
    struct Track {
        const void* key;
        std::size_t sum; ///< the place of its unit
        bool in_order;
        Clock::time_point until; ///< the latest end so far
    };
    struct Span {
        SpanId id;
        std::uint32_t track, name;
        std::uint64_t bytes;
        Clock::time_point begin, end;
    };
    struct Pending {
        SpanId id;
        std::uint32_t track, name;
        std::uint64_t bytes;
        Event event;
    };

    // With mutex_ held:
    [[nodiscard]] std::uint32_t track(const TraceUnit& unit);
    [[nodiscard]] std::uint32_t name(std::string_view text);
    void ended(const Pending& request);

    void collect();

    static std::atomic<Trace*> recording_;

    const Keep keep_;
    std::mutex collecting_; // one thread at a time asks, so that tracks get their requests in order
    std::mutex mutex_;      // guards what follows
    std::vector<Sum> sums_;
    std::vector<Track> tracks_;
    std::vector<Pending> pending_; // in the order of submission
    std::size_t collect_at_ = 256; // so many of them
    SpanId last_ = 0;
    // Of spans alone:
    std::vector<Span> spans_;
    std::vector<std::string> names_;
    std::map<std::string, std::uint32_t, std::less<>> name_ids_;
    std::unordered_map<const EventState*, SpanId> under_way_; // kept from reuse by the events in pending_
    std::vector<std::pair<SpanId, SpanId>> flows_;            // of data: from, to
    std::vector<std::pair<SpanId, SpanId>> parts_;            // whole, part
};

} // namespace headrace
