// persistent/engine.hpp - the host's side of the persistent engine, the same for every technology.
#pragma once
#include <headrace/core/export.hpp>
#include <headrace/persistent/detail/engine_memory.hpp>
#include <headrace/persistent/detail/injection_queue.hpp>
#include <headrace/persistent/detail/launch_budget.hpp>
#include <headrace/persistent/detail/seeds.hpp>
#include <headrace/persistent/launcher.hpp>
#include <headrace/persistent/unit_batch.hpp>

#include <chrono>
#include <memory>
#include <span>
#include <vector>

namespace headrace {

class EngineQueues;

/// A value of 0 lets the engine choose.
struct EngineOptions {
    EngineWishes wishes;
    std::uint32_t bundles = 0;      ///< initial size of the pool, which grows when it runs out
    std::uint32_t first_rounds = 0; ///< each group's budget in the first launch
    std::chrono::nanoseconds launch_time = std::chrono::milliseconds(100); ///< the time that budgets aim at
    friend bool operator==(const EngineOptions&, const EngineOptions&) = default;
};

/// What the queues did, summed over all launches. control.h explains each counter.
using EngineCounters = HrCounters;

/// Runs one kernel over ranges of seeds on one device, one range at a time.
///
///     Event event = engine.start(0, seeds, after);
///     while (engine.collect() == Engine::State::paused) engine.resume();
///
/// A launch ends when all work is done or when its budget is used up. A caller that wants to stop does not
/// resume. If the engine has `fine_grained_host_coherence`, a launch pauses on request, and seeds can be
/// injected while it runs:
///
///     Event event = engine.open(after);
///     if (!engine.inject(0, seeds)) ...; // any number of times
///     engine.close();
///     while (engine.collect() == Engine::State::paused) engine.resume();
///
/// Another engine with the same kernel, on any device, can do what a paused engine has not begun:
///
///     engine.give_back(from);                    // seeds; the other engine starts with [from, end)
///     other.start(engine.transfer(0.5), after);  // units
///     if (engine.remaining() > 0) engine.resume();
///
/// The engine borrows the device and the stream, which measures times (Timing::all). Threads: one at a time.
/// Any thread may also call inject, close, request_pause, injected, consumed and completed, between the begin
/// and the end of the work. `start`, `open` and a failure lose the units in flight.
class HEADRACE_EXPORT Engine {
public:
    enum class State : std::uint8_t { finished, paused, parked [[deprecated("it is paused now")]] = paused };

    /// Prepares the kernel. Throws the device's errors and the errors of the kernel's compiler.
    Engine(Device& device, Stream& stream, std::unique_ptr<BoundKernel> kernel,
           const EngineOptions& options = {});
    ~Engine();
    Engine(const Engine&) = delete;
    Engine& operator=(const Engine&) = delete;

    /// Allocates what the next `start`, or `open`, would allocate. Throws
    /// out_of_memory. The caller can free memory and call it again.
    void reserve(bool to_be_opened = false);
    /// Begins with seeds [begin, end); end is at most 2^63. The event completes when the first launch has
    /// ended.
    Event start(std::uint64_t begin, std::uint64_t end, std::span<const Event> after = {});
    /// True if running launches on this device see what the host writes (fine-grained host coherence).
    [[nodiscard]] bool fine_grained_host_coherence() const noexcept {
        return device_.info().fine_grained_host_coherence;
    }
    [[deprecated("it is fine_grained_host_coherence now"), nodiscard]] bool hears_host() const noexcept {
        return fine_grained_host_coherence();
    }
    /// Begins without seeds; `inject` injects them. A launch ends when the engine is closed and all work is
    /// done, when a pause is requested, or after `launch_time`. Its budget is a time and not rounds, because
    /// idle groups count no rounds. Only if the engine has `fine_grained_host_coherence`. The event is as
    /// that of `start`.
    Event open(std::span<const Event> after = {});
    /// Injects seeds [begin, end) into the running launch, or the one that resumes; end is below 2^63. The
    /// data that their units read is in place. False if the launch must accept earlier seeds first.
    [[nodiscard]] bool inject(std::uint64_t begin, std::uint64_t end);
    [[deprecated("it is inject now"), nodiscard]] bool feed(std::uint64_t begin, std::uint64_t end) {
        return inject(begin, end);
    }
    /// Says that no more seeds will be injected.
    void close();
    /// Asks the launch to pause: soon, if units are short. Only if the engine has
    /// `fine_grained_host_coherence`.
    void request_pause();
    [[deprecated("it is request_pause now")]] void request_park() { request_pause(); }
    /// Number of seeds injected since `open`.
    [[nodiscard]] std::uint64_t injected() const { return injection_->injected(); }
    [[deprecated("it is injected now"), nodiscard]] std::uint64_t fed() const { return injected(); }
    /// Injected seeds that lane groups have begun; slightly late, but never behind `completed`. After
    /// `start`: the first seed that no group has claimed, slightly late; 0 until a group reports.
    [[nodiscard]] std::uint64_t consumed() const { return injection_->consumed(); }
    /// Number of injected seeds, in order, that are completed with all units spawned from them. Transferred
    /// units are not waited for. The number rises whenever no other work is left; after `close`, perhaps only
    /// in `collect`. Local sums are complete in memory when the launch has ended.
    [[nodiscard]] std::uint64_t completed() const { return injection_->completed(); }

    /// Waits for the launch and returns how it ended. Throws the launch's failure.
    State collect();
    /// Continues a paused launch. If the launch ran out of bundles, enlarges the pool first. Throws
    /// out_of_memory. The caller can free memory and call it again.
    Event resume();
    /// The seeds of a paused launch that no group has claimed. None after `open`: injected seeds stay.
    [[nodiscard]] SeedRange unclaimed() const;
    /// Removes the unclaimed seeds from `from` on from this engine.
    void give_back(std::uint64_t from);
    /// Takes about `share` of the units out of a paused engine, never more, and
    /// at most `at_most` bytes. Takes none if that is fewer than `at_least`. A
    /// range counts as many units as it has indices, and may be cut. Seeds stay.
    /// The engine can resume with the rest. Throws the errors of the copies.
    [[nodiscard]] UnitBatch transfer(double share, std::uint64_t at_least = 1, Bytes at_most = ~Bytes{0});
    [[deprecated("it is transfer now"), nodiscard]] UnitBatch give(double share, std::uint64_t at_least = 1,
                                                                   Bytes at_most = ~Bytes{0}) {
        return transfer(share, at_least, at_most);
    }
    /// Begins with these units, at most `room`, instead of seeds. Throws invalid_argument if their kinds,
    /// words or ranges are not those of this kernel.
    Event start(const UnitBatch& units, std::span<const Event> after = {});
    [[nodiscard]] std::uint64_t
    room(const UnitBatch& units) const;                ///< of these units, most that `start` takes
    [[nodiscard]] std::uint64_t room() const noexcept; ///< most units that `start` takes; a range is one

    /// Runs `kernel` from the next start on.
    void rebind(std::unique_ptr<BoundKernel> kernel);
    /// The same, and forgets what was measured, like a new engine with these options.
    void renew(std::unique_ptr<BoundKernel> kernel);
    /// Sets the time that launches aim at, from the next launch on.
    void aim_at(std::chrono::nanoseconds launch_time);
    [[nodiscard]] Bytes queue_memory() const noexcept; ///< on the device
    /// True if `kernel` does the same as the kernel that runs: seeds of both can be injected.
    [[nodiscard]] bool runs(const BoundKernel& kernel) const { return kernel_->is_same(kernel); }

    /// When the launches since `start` ran, including the copies of their control block.
    [[nodiscard]] std::span<const EventTimes> launch_times() const noexcept { return launch_times_; }
    /// Work units that existed and were not completed when the last launch
    /// ended, seeds included. A range counts as many units as it has indices.
    /// Injected seeds that the launch had not accepted by then are not counted.
    [[nodiscard]] std::uint64_t remaining() const noexcept;
    [[nodiscard]] EngineCounters counters() const noexcept;
    [[nodiscard]] std::uint64_t launches() const noexcept { return launches_; } ///< since construction
    [[nodiscard]] const EngineShape& shape() const noexcept { return shape_; }
    [[nodiscard]] std::uint32_t bundles() const noexcept; ///< in the pool now

private:
    void prepare();
    void begin_at(std::uint64_t seed, std::uint64_t end);
    void put_into_records(const UnitBatch& units);
    [[nodiscard]] bool all_done() const noexcept;
    Event launch(std::span<const Event> after);
    [[nodiscard]] std::uint32_t useful_groups() const noexcept;

    Device& device_;
    Stream& stream_;
    std::unique_ptr<BoundKernel> kernel_;
    EngineOptions options_;
    EngineShape shape_;
    LaunchBudget budget_;
    std::shared_ptr<void> image_owner_;
    HrControl* image_ = nullptr; ///< the host's copy of the control block
    std::unique_ptr<EngineQueues> queues_;
    std::unique_ptr<Memory> segments_;
    std::unique_ptr<InjectionQueue> injection_; ///< null unless it has `fine_grained_host_coherence`
    Event launched_;
    std::chrono::steady_clock::time_point enqueued_;
    std::vector<EventTimes> launch_times_;
    std::uint64_t launches_ = 0;
    bool running_ = false;   ///< a launch is not collected yet
    bool is_opened_ = false; ///< the running or paused launch was opened
    bool laid_out_ = false;  ///< the queues are as an ended launch or `reserve` left them
};

} // namespace headrace
