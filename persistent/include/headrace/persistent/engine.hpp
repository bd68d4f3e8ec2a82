// persistent/engine.hpp - the host's side of the persistent engine, the same for every technology.
#pragma once
#include <headrace/core/export.hpp>
#include <headrace/persistent/detail/engine_memory.hpp>
#include <headrace/persistent/detail/feed.hpp>
#include <headrace/persistent/detail/seeds.hpp>
#include <headrace/persistent/launcher.hpp>
#include <headrace/persistent/unit_batch.hpp>

#include <chrono>
#include <memory>
#include <span>
#include <vector>

namespace headrace {

/// 0 means: choose.
struct EngineOptions {
    EngineWishes wishes;
    std::uint32_t bundles = 0;      ///< in the pool at first; it grows when it runs out
    std::uint32_t first_rounds = 0; ///< each group's budget in the first launch
    std::chrono::nanoseconds launch_time = std::chrono::milliseconds(100); ///< what budgets aim at
    friend bool operator==(const EngineOptions&, const EngineOptions&) = default;
};

/// What the queues did, summed over all launches: control.h says what each figure means.
using EngineCounters = HrCounters;

/// Runs one kernel over ranges of seeds on one device, one range at a time.
///
///     Event event = engine.start(0, seeds, after);
///     while (engine.collect() == Engine::State::parked) engine.resume();
///
/// A launch ends when all work is done or when its budget is used up: whoever wants to stop does not resume.
/// Where it `hears_host`, a launch parks on request, and can be fed while it runs:
///
///     Event event = engine.open(after);
///     if (!engine.feed(0, seeds)) ...; // as often as one likes
///     engine.close();
///     while (engine.collect() == Engine::State::parked) engine.resume();
///
/// What a parked engine has not begun, another may do, of the same kernel on whatever device:
///
///     engine.give_back(from);                    // seeds; the other one starts with [from, end)
///     other.start(engine.give(0.5), after);      // units
///     if (engine.remaining() > 0) engine.resume();
///
/// The engine borrows device and stream, which measures (Timing::all). Threads: one at a time, but for feed,
/// close, request_park, fed, consumed and completed, which any thread may call beside them between the begin
/// and the end. Units in flight are lost by `start`, by `open` and by a failure.
class HEADRACE_EXPORT Engine {
public:
    enum class State : std::uint8_t { finished, parked };

    /// Lays out the queues. Throws what the device throws, and what the kernel's compiler says.
    Engine(Device& device, Stream& stream, std::unique_ptr<BoundKernel> kernel,
           const EngineOptions& options = {});
    ~Engine();
    Engine(const Engine&) = delete;
    Engine& operator=(const Engine&) = delete;

    /// Allocates what the next start, or `open`, would allocate. Throws out_of_memory; with more room it can
    /// be called again.
    void reserve(bool to_be_fed = false);
    /// Begins with seeds [begin, end); end is at most 2^63. The event completes when the first launch has
    /// ended.
    Event start(std::uint64_t begin, std::uint64_t end, std::span<const Event> after = {});
    /// True if launches on this device know while they run what the host says.
    [[nodiscard]] bool hears_host() const noexcept { return device_.info().hears_host; }
    /// Begins without seeds; what is fed follows. Its launches end when it is closed and all work is done,
    /// when they are asked to park, or when launch_time is over: their budget is time and not rounds, which
    /// idle groups do not count. Only where it `hears_host`. The event is as that of `start`.
    Event open(std::span<const Event> after = {});
    /// Seeds [begin, end) to the launch that runs, or that resumes; end is below 2^63. What their units read
    /// is in its place. False if the launch must consume some first.
    [[nodiscard]] bool feed(std::uint64_t begin, std::uint64_t end);
    /// Nothing more will be fed.
    void close();
    /// Asks the launch to park: soon, if units are short. Only where it `hears_host`.
    void request_park();
    /// Seeds that were fed since `open`.
    [[nodiscard]] std::uint64_t fed() const { return feed_->fed(); }
    /// Seeds of these that lane groups have begun with; a little late, but never behind `completed`. After
    /// `start` the first one that no group has claimed, a little late; 0 until somebody tells.
    [[nodiscard]] std::uint64_t consumed() const { return feed_->consumed(); }
    /// The first so many that were fed are done, with all that sprang from them and was not given away; says
    /// so whenever nothing else is left to do; after `close` perhaps not before `collect`. Sums that the
    /// kernel keeps near are in their places when the launch has ended.
    [[nodiscard]] std::uint64_t completed() const { return feed_->completed(); }

    /// Waits for the launch and says how it ended. Throws what it failed with.
    State collect();
    /// Goes on where the launch parked; first enlarges the bundle pool if that is why. Throws out_of_memory;
    /// with more room it can be called again.
    Event resume();
    /// The seeds of a parked launch that no group has claimed. None if it was opened: what was fed stays.
    [[nodiscard]] SeedRange unclaimed() const;
    /// Seeds from here on, of the unclaimed, are not this engine's any more.
    void give_back(std::uint64_t from);
    /// Takes about that share of its units out of a parked engine, never more, and not more than `at_most`
    /// bytes of them; none at all if that is fewer than `at_least`. Ranges count as what they have indices,
    /// and are cut. Seeds stay. The engine goes on with the rest, if there is any. Throws what copying
    /// throws.
    [[nodiscard]] UnitBatch give(double share, std::uint64_t at_least = 1, Bytes at_most = ~Bytes{0});
    /// Begins with these units, which are no more than `room`, instead of seeds. Throws invalid_argument if
    /// they are not like this kernel's.
    Event start(const UnitBatch& units, std::span<const Event> after = {});
    [[nodiscard]] std::uint64_t
    room(const UnitBatch& units) const;                ///< of these units, most that `start` takes
    [[nodiscard]] std::uint64_t room() const noexcept; ///< most units that `start` takes, a range being one

    /// From the next start on, runs `kernel`.
    void rebind(std::unique_ptr<BoundKernel> kernel);
    /// The same, and nothing learned of the last kernel counts: as a new engine with these options.
    void renew(std::unique_ptr<BoundKernel> kernel);
    /// Launches from the next one on aim at that time.
    void aim_at(std::chrono::nanoseconds launch_time);
    [[nodiscard]] Bytes queue_memory() const noexcept; ///< on the device
    /// True if `kernel` is as good as the one that runs: tasks of either can be fed.
    [[nodiscard]] bool runs(const BoundKernel& kernel) const { return kernel_->is_same(kernel); }

    /// When the launches since `start` ran, what their control block takes to come and go included.
    [[nodiscard]] std::span<const EventTimes> launch_times() const noexcept { return launch_times_; }
    /// Work units that exist and are not completed, seeds included, when the last launch ended; a range
    /// counts as what it has indices.
    /// What was fed and not taken over by then is not counted.
    [[nodiscard]] std::uint64_t remaining() const noexcept;
    [[nodiscard]] EngineCounters counters() const noexcept;
    [[nodiscard]] std::uint64_t launches() const noexcept { return launches_; } ///< since construction
    [[nodiscard]] const EngineShape& shape() const noexcept { return shape_; }
    [[nodiscard]] std::uint32_t bundles() const noexcept { return bundles_; } ///< in the pool now

private:
    void prepare();
    void lay_out();
    void write_rings(const std::vector<std::vector<std::uint64_t>>& entries);
    [[nodiscard]] std::vector<std::vector<std::uint64_t>> read_rings();
    void grow_pool();
    [[nodiscard]] Bytes ring_bytes(std::uint32_t bundles) const;
    [[nodiscard]] Bytes record_bytes() const noexcept;
    [[nodiscard]] Bytes record_at(std::uint64_t half, std::uint64_t number) const noexcept;
    void carry_records_on();
    struct FullBundle {
        std::uint32_t kind;
        std::uint64_t entry;
        std::vector<std::uint32_t> words;
    };
    void read_bundles(std::vector<FullBundle>& bundles);
    void take_bundles(double share, double& credit, std::uint64_t most, UnitBatch& units,
                      std::vector<std::vector<std::uint64_t>>& entries);
    template <class Takes>
    void take_of_bundle(FullBundle& bundle, const Takes& takes,
                        std::vector<std::vector<std::uint64_t>>& entries);
    void put_into_records(const UnitBatch& units);
    void begin_at(std::uint64_t seed, std::uint64_t end);
    [[nodiscard]] bool all_done() const noexcept;
    Event launch(std::span<const Event> after);
    [[nodiscard]] std::uint32_t useful_groups() const noexcept;
    /// What a launch that used up its budget says of it. No rounds: nothing.
    struct PastLaunch {
        std::uint32_t rounds = 0;
        std::chrono::nanoseconds took{};
    };
    [[nodiscard]] static bool rounds_matter(PastLaunch one, PastLaunch other);
    void adapt_budget(std::chrono::nanoseconds took, bool ended_by_budget);

    Device& device_;
    Stream& stream_;
    std::unique_ptr<BoundKernel> kernel_;
    EngineOptions options_;
    EngineShape shape_;
    std::uint32_t bundles_ = 0;
    std::uint32_t rounds_ = 0;
    bool is_first_budget_ = true; ///< no launch has told anything of it
    PastLaunch past_{};           ///< the last one
    std::unique_ptr<Memory> control_, slots_, bundle_words_, spill_, segments_;
    std::unique_ptr<Feed> feed_; ///< null where the host is not heard
    std::shared_ptr<void> image_owner_;
    HrControl* image_ = nullptr; ///< the host's copy of the control block
    Event launched_;
    std::chrono::steady_clock::time_point enqueued_;
    std::vector<EventTimes> launch_times_;
    std::uint64_t launches_ = 0;
    bool running_ = false;  ///< a launch is to be collected
    bool is_fed_ = false;   ///< what runs or is parked was opened
    bool laid_out_ = false; ///< the queues are as an ended launch or lay_out left them
};

} // namespace headrace
