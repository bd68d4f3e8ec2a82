// core/trace.hpp - when kernels, transfers and host tasks ran, and on which device or lane.
// Without a Trace object tracing is off, and costs one pointer read per request.
#pragma once
#include <headrace/core/busy_time.hpp>
#include <headrace/core/device.hpp>
#include <headrace/core/export.hpp>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace headrace {

/// A unit that runs independently: the kernels of a device, its transfers in one direction, a host lane.
struct TraceUnit {
    const void* key;         ///< an address that distinguishes units of the same name
    std::string_view device; ///< the device of the unit: "cuda:0", "host"
    std::string_view name;   ///< "kernels", "to device", "writing"
    bool in_order = true;    ///< it runs one request at a time
};

/// Identifies a request within one trace. 0: none.
using SpanId = std::uint32_t;

/// Data of a request for the trace, besides its name.
struct TraceLabel {
    std::string_view unit = "other streams"; ///< name of the unit, if the request has no lane
    SpanId part_of = 0;                      ///< the request or job that it is a part of
};

/// Records every request of this process from its construction to its destruction. Like the log, it can exist
/// only once: the requests of all devices and lanes share one clock, and no other object knows all of them.
///
/// The time of a failed request is not known. The request is counted but not shown.
///
/// Threads   any. No thread may submit requests during construction or destruction
/// Errors    throws invalid_argument if another Trace exists
/// Cost      per request: 0.1 us of the submitting thread; on GPUs about 3 us to measure times (plus 3 us
///           between two copies, so copies without a gap appear with one); one query to the driver after the
///           end. A span takes about 50 bytes as long as the trace exists
class HEADRACE_EXPORT Trace {
public:
    enum class Keep : std::uint8_t {
        totals, ///< only the data of units(): memory does not grow with the number of requests
        spans,  ///< each request, for json() and svg()
    };
    explicit Trace(Keep keep = Keep::spans);
    ~Trace();
    Trace(const Trace&) = delete; // recording_ holds its address
    Trace& operator=(const Trace&) = delete;

    /// The trace that records now; null: none.
    [[nodiscard]] static Trace* recording() noexcept { return recording_.load(std::memory_order_acquire); }
    [[nodiscard]] Keep keep() const noexcept { return keep_; }
    /// For streams: whether requests that are submitted now must be measured.
    [[nodiscard]] static bool measures(Timing timing) noexcept {
        return timing == Timing::all || recording() != nullptr;
    }

    /// All requests with one unit name on one device: kernels of two controllers of a GPU are one unit.
    struct Unit {
        std::string device, name;
        std::uint64_t requests = 0;       ///< that have ended, including failed requests
        std::chrono::nanoseconds busy{0}; ///< time with at least one running request
        /// True for jobs and items of streams. They consist of requests that are also in the trace.
        [[nodiscard]] bool is_made_of_requests() const { return device == "jobs" || device == "stream"; }
    };
    /// The units in the order of their first use. A later call returns the same units first.
    [[nodiscard]] std::vector<Unit> units();

    /// All ended requests as JSON for chrome://tracing and ui.perfetto.dev: a process for each device, and a
    /// thread for each unit (several if its requests overlap). An arrow of category "data" leads from a
    /// request to one that was submitted before the first one had ended, and depends on it. Arrows of
    /// category "part" lead from a job to its tasks, and between a task or kernel and its transfers. All
    /// arrows lead from an earlier begin to a later one, because viewers drop others.
    [[nodiscard]] std::string json();
    /// The same requests as a Gantt chart in SVG: a row for each unit, and for each device the share of the
    /// time in which it computes nothing. Bars too short to see are joined with their neighbours. So the
    /// picture stays small for any number of requests. `caption`: a line below the chart.
    [[nodiscard]] std::string svg(std::string_view caption = {});

    // Several processes, for example the ranks of a cluster:

    struct Process {
        std::uint64_t number = 0; ///< the pid in JSON
        std::string name{};       ///< "rank 1 on node7"
        /// What must be added to its times, at the end of the run, and the largest error of that. Nothing:
        /// its clock is that of this process, or is not known.
        std::optional<std::chrono::nanoseconds> clock_offset{}, clock_error{};
    };
    /// The time since the epoch of another process's steady clock, as that of this process's.
    using ToOwnClock = std::function<std::chrono::nanoseconds(std::chrono::nanoseconds)>;

    /// From now on, json() has one process with this number and name, and below it a thread for each unit of
    /// each device. svg() groups rows in the same way. `add_process` adds other processes.
    void show_as(Process own);
    /// All ended requests, for `add_process` of another process with the same byte order.
    [[nodiscard]] std::vector<std::byte> bytes();
    /// Shows requests of another process too, which come from its bytes(). Errors: internal, for other bytes
    void add_process(Process other, std::span<const std::byte> bytes, const ToOwnClock& to_own);

    // For the core, for jobs and for backends:
    struct Details {
        std::uint64_t bytes = 0; ///< moved
        SpanId id = 0;           ///< from `reserve`; 0: none is reserved
        SpanId part_of = 0;
    };
    /// Adds the request `name`. It completes with `event`, and comes after the events in `after`.
    SpanId add(const TraceUnit& unit, std::string_view name, const Event& event, std::span<const Event> after,
               const Details& details);
    SpanId add(const TraceUnit& unit, std::string_view name, const Event& event,
               std::span<const Event> after) {
        return add(unit, name, event, after, {});
    }
    /// Reserves the id of a request that is added later than its parts.
    [[nodiscard]] SpanId reserve();
    /// Collects ended requests if many are pending. It asks drivers and may settle events: the caller must
    /// hold no lock that their continuations take.
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
        std::size_t sum; ///< index in sums_
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

    using Flow = std::pair<SpanId, SpanId>;
    /// Ended requests of another process, by the clock of this one.
    struct Other {
        Process process;
        std::vector<Unit> units; // by track
        std::vector<std::string> names;
        std::vector<Span> spans;
        SpanId last = 0;
        std::vector<Flow> flows, parts;
    };
    /// What json() and svg() show of one process. Borrows from the trace.
    struct Shown {
        const Process* process;         // null: one process is shown, without a name
        std::vector<const Unit*> units; // by track
        std::span<const std::string> names;
        std::span<const Span> spans;
        SpanId last;
        std::span<const Flow> flows, parts;
    };
    class JsonWriter;

    // With mutex_ held:
    [[nodiscard]] std::vector<Shown> shown() const;
    [[nodiscard]] static Clock::time_point begin_of(std::span<const Shown> all);
    [[nodiscard]] std::uint32_t track(const TraceUnit& unit);
    [[nodiscard]] std::uint32_t name(std::string_view text);
    void ended(const Pending& request);

    void collect();

    static std::atomic<Trace*> recording_;

    const Keep keep_;
    std::mutex collecting_; // only one thread collects, so that tracks get their requests in order
    std::mutex mutex_;      // guards the members below
    std::vector<Sum> sums_;
    std::vector<Track> tracks_;
    std::vector<Pending> pending_; // in the order of submission
    std::size_t collect_at_ = 256; // size of pending_ at which `tidy` collects
    SpanId last_ = 0;
    // Used only with Keep::spans:
    std::vector<Span> spans_;
    std::vector<std::string> names_;
    std::map<std::string, std::uint32_t, std::less<>> name_ids_;
    std::unordered_map<const EventState*, SpanId> under_way_; // pending_ keeps these states alive
    std::vector<Flow> flows_;                                 // of data: from, to
    std::vector<Flow> parts_;                                 // whole, part
    std::optional<Process> own_;
    std::vector<Other> others_;
};

} // namespace headrace
