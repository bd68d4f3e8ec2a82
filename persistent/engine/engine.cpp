// persistent/engine/engine.cpp - see engine.hpp.
#include <headrace/persistent/engine.hpp>

#include <algorithm>
#include <atomic>
#include <bit>
#include <new>
#include <string>
#include <utility>

namespace headrace {
namespace {

constexpr std::uint32_t first_rounds = 4;       // small: the time of a unit is not known yet
constexpr std::uint32_t most_rounds = 1u << 30; // a group counts its rounds in 32 bits
constexpr double fastest_growth = 8;            // per launch, of the budget
constexpr double growth_of_short_ones = 32;     // while launches are so short that the next cannot be long
constexpr std::chrono::milliseconds short_launch{1};
constexpr std::chrono::milliseconds long_launch{500}; // no budget is tried with longer launches
constexpr std::uint32_t seed_chunk = 512; // amortises the claim: at least 8 rounds of a group of 64

std::string status_text(std::uint32_t status) {
    switch (status) {
    case HR_SPAWNED_TOO_MANY:
        return "a kernel spawned more work units than its Kind declares";
    case HR_SEEDS_OF_TWO_KINDS:
        return "an OpenCL kernel's hr_seed gave units of more than one kind, or of a kind that there is not";
    case HR_THREW:
        return "a kernel threw";
    default:
        return "a kernel reported status " + std::to_string(status);
    }
}

std::uint32_t first_budget(const EngineOptions& options) {
    return options.first_rounds != 0 ? options.first_rounds : first_rounds;
}

/// Chooses the number of rings of each kind. One ring gives 18 G units/s under all lane groups of an H200,
/// eight rings 53 G units/s (bench/queues). Few groups need only one.
std::uint32_t choose_ways(std::uint32_t groups) {
    return std::bit_floor(std::clamp(groups / 4, 1u, HR_MAX_WAYS));
}

/// Slots of each ring. Several rings have twice the room that all bundles need, because one ring may get more
/// than its share.
std::uint32_t choose_ring_slots(std::uint32_t bundles, std::uint32_t ways) {
    return std::bit_ceil(std::max(2u, ways == 1 ? bundles : 2 * bundles / ways));
}

} // namespace

std::uint32_t choose_liq_units(const EngineShape& shape, std::uint32_t wish, Bytes local_bytes) {
    const std::uint32_t each = shape.beyond_continuation();
    if (each == 0) return 0;
    const std::uint32_t least = std::bit_ceil(each);
    if (wish != 0) return std::max(least, std::bit_ceil(wish));
    const Bytes unit = Bytes{4} * shape.unit_words * shape.kinds;
    std::uint32_t units = std::bit_ceil((each + 1) * shape.lanes);
    while (units > least && units * unit > local_bytes) units /= 2;
    while (units * 2 * unit <= local_bytes / 3) units *= 2; // cheap: saves trips to the GIQ
    return units;
}

Engine::Engine(Device& device, Stream& stream, std::unique_ptr<BoundKernel> kernel,
               const EngineOptions& options)
    : device_(device),
      stream_(stream),
      kernel_(std::move(kernel)),
      options_(options),
      rounds_(first_budget(options)) {
    if (!kernel_)
        throw Error{ErrorKind::unsupported, "no kernel for this device's technology"}.on_device(
            device.info().id);
    image_owner_ = device_.allocate_host(sizeof(HrControl));
    image_ = new (image_owner_.get()) HrControl{};
    if (fine_grained_host_coherence()) injection_ = std::make_unique<InjectionQueue>(device_);
    prepare();
}

Engine::~Engine() {
    if (!running_) return;
    if (fine_grained_host_coherence()) request_pause();
    static_cast<void>(launched_.outcome()); // the launch uses our memory; no caller gets its failure
}

void Engine::prepare() {
    EngineShape shape;
    std::atomic<bool> done = false;
    const Event prepared = stream_.launch([&](const NativeStream& native) {
        shape = kernel_->prepare(native, options_.wishes);
        done.store(true, std::memory_order_release); // release: pairs with the load below, for the shape
    });
    // Streams of GPUs call the body at once. To wait for the event would also wait for earlier work of the
    // stream.
    if (!done.load(std::memory_order_acquire)) prepared.wait();
    HEADRACE_ASSERT(shape.lanes >= 1 && shape.groups >= 1 && shape.kinds <= HR_MAX_KINDS);
    HEADRACE_ASSERT(shape.liq_units >= shape.beyond_continuation());
    if (shape == shape_ && control_) return;
    shape_ = shape;
    laid_out_ = false;
    control_.reset();
}

/// Makes new queues: every bundle is free, no group has a spare, and there is no record.
void Engine::lay_out() {
    const bool queues = shape_.beyond_continuation() > 0;
    const bool first = !control_;
    if (first) {
        bundles_ = !queues ? 0 : options_.bundles != 0 ? options_.bundles : std::max(64u, 4 * shape_.groups);
        slots_.reset(); // before the new ones: memory may not suffice for both
        bundle_words_.reset();
        spill_.reset();
        spill_ = device_.allocate(record_at(2, 0));
        bundle_words_ = device_.allocate(
            std::max<Bytes>(64, 4 * hr_bundle_at(bundles_, shape_.lanes, shape_.unit_words)));
        control_ = device_.allocate(sizeof(HrControl));
    }
    std::vector<std::vector<std::uint64_t>> entries(shape_.kinds + 1);
    for (std::uint32_t bundle = 0; bundle < bundles_; ++bundle) entries.back().push_back(bundle);

    const HrCounters counters = image_->counters;
    *image_ = HrControl{};
    image_->counters = counters;
    image_->groups = shape_.groups;
    image_->lanes = shape_.lanes;
    image_->kinds = shape_.kinds;
    image_->unit_words = shape_.unit_words;
    image_->liq_units = shape_.liq_units;
    image_->seed_chunk = std::max(seed_chunk, shape_.lanes);
    image_->ways = choose_ways(shape_.groups);
    image_->enough = shape_.enough;
    write_rings(entries);
    const std::vector<std::uint32_t> spares(shape_.groups, HR_NO_BUNDLE);
    stream_.copy_in(*spill_, 0, spares.data(), 4 * spares.size()).wait();
    laid_out_ = true;
}

Bytes Engine::ring_bytes(std::uint32_t bundles) const {
    const std::uint32_t ways = image_->ways;
    const Bytes slots = Bytes{shape_.kinds + 1} * ways * choose_ring_slots(bundles, ways);
    return (hr_slots_at(shape_.kinds, ways) + slots) * sizeof(HrSlot);
}

/// Writes new rings for `bundles_` bundles, with tickets from 0: entries[kind], then the free bundles. Deals
/// the entries of a kind to its rings in turn.
void Engine::write_rings(const std::vector<std::vector<std::uint64_t>>& entries) {
    const std::uint32_t ways = image_->ways;
    const std::uint32_t ring_slots = choose_ring_slots(bundles_, ways);
    const Bytes first_slot = hr_slots_at(shape_.kinds, ways);
    std::vector<HrTickets> tickets(entries.size() * ways, HrTickets{});
    std::vector<HrSlot> slots(tickets.size() * ring_slots);
    for (std::size_t ring = 0; ring < tickets.size(); ++ring) {
        const auto& values = entries[ring / ways];
        for (std::size_t i = 0; i < ring_slots; ++i) {
            const std::size_t value = i * ways + ring % ways;
            const bool is_full = value < values.size();
            slots[ring * ring_slots + i] = is_full ? HrSlot{i + 1, values[value]} : HrSlot{i, 0};
            ++(is_full ? tickets[ring].full : tickets[ring].room).value;
            tickets[ring].tail.value += is_full ? 1 : 0;
        }
    }
    image_->ring_slots = ring_slots;
    image_->bundles = bundles_;
    const Bytes bytes = ring_bytes(bundles_);
    if (!slots_ || slots_->size() < bytes) {
        slots_.reset();
        slots_ = device_.allocate(bytes);
    }
    stream_.copy_in(*slots_, 0, tickets.data(), tickets.size() * sizeof(HrTickets)).wait();
    stream_.copy_in(*slots_, first_slot * sizeof(HrSlot), slots.data(), slots.size() * sizeof(HrSlot)).wait();
}

/// Reads all rings of each kind: entries[kind], then the free bundles.
std::vector<std::vector<std::uint64_t>> Engine::read_rings() {
    const std::uint32_t ring_slots = image_->ring_slots;
    std::vector<HrTickets> tickets(std::size_t{shape_.kinds + 1} * image_->ways);
    std::vector<HrSlot> slots(tickets.size() * ring_slots);
    const Bytes first_slot = hr_slots_at(shape_.kinds, image_->ways) * sizeof(HrSlot);
    stream_.copy_out(tickets.data(), *slots_, 0, tickets.size() * sizeof(HrTickets)).wait();
    stream_.copy_out(slots.data(), *slots_, first_slot, slots.size() * sizeof(HrSlot)).wait();
    std::vector<std::vector<std::uint64_t>> entries(shape_.kinds + 1);
    for (std::size_t ring = 0; ring < tickets.size(); ++ring)
        for (std::uint64_t ticket = tickets[ring].head.value; ticket != tickets[ring].tail.value; ++ticket)
            entries[ring / image_->ways].push_back(
                slots[ring * ring_slots + (ticket & (ring_slots - 1))].value);
    return entries;
}

/// Doubles the number of bundles. Full bundles keep their numbers. If memory does not suffice, the pool stays
/// as it was.
void Engine::grow_pool() {
    std::vector<std::vector<std::uint64_t>> entries = read_rings();
    if (bundles_ >= 1u << 30)
        throw Error{ErrorKind::out_of_memory, "the pool of bundles cannot grow any more"}.on_device(
            device_.info().id);
    const Bytes old_bytes = 4 * hr_bundle_at(bundles_, shape_.lanes, shape_.unit_words);
    auto larger = device_.allocate(2 * old_bytes);
    slots_ = device_.allocate(ring_bytes(2 * bundles_)); // the old ones have been read
    stream_.copy_peer(*larger, 0, *bundle_words_, 0, old_bytes).wait();
    bundle_words_ = std::move(larger);
    for (std::uint32_t bundle = bundles_; bundle < 2 * bundles_; ++bundle) entries.back().push_back(bundle);
    bundles_ *= 2;
    write_rings(entries);
}

/// Drops what a paused launch left behind, and the queues of a failed launch.
void Engine::reserve(bool to_be_opened) {
    HEADRACE_ASSERT(!running_);
    if (!laid_out_ || image_->pending.value != 0) lay_out();
    if (to_be_opened && !segments_) segments_ = device_.allocate(HR_INJECTION_SEGMENTS * sizeof(HrSegment));
}

void Engine::begin_at(std::uint64_t seed, std::uint64_t end) {
    HEADRACE_ASSERT(seed <= end && end <= std::uint64_t{1} << 63);
    reserve();
    image_->pending.value = end - seed;
    image_->seed_cursor.value = seed;
    image_->seed_end = end;
    image_->spill_count = 0;
    image_->saved.value = 0;
    image_->poller = HrPoller{};
    if (injection_) injection_->reset();
    launch_times_.clear();
}

Event Engine::start(std::uint64_t begin, std::uint64_t end, std::span<const Event> after) {
    begin_at(begin, end);
    is_opened_ = false;
    return launch(after);
}

Event Engine::open(std::span<const Event> after) {
    HEADRACE_ASSERT(fine_grained_host_coherence());
    reserve(true);
    begin_at(0, 0);
    image_->poller.open = 1;
    // A launch that is late from the beginning would accept nothing.
    image_->poller.time = static_cast<std::uint64_t>(std::max<std::int64_t>(options_.launch_time.count(), 1));
    is_opened_ = true;
    return launch(after);
}

bool Engine::inject(std::uint64_t begin, std::uint64_t end) { return injection_->add(begin, end); }
void Engine::close() { injection_->close(); }
void Engine::request_pause() { injection_->ask_to_pause(true); }

Event Engine::launch(std::span<const Event> after) {
    image_->rounds = is_opened_ ? most_rounds : rounds_;
    image_->pause = HR_RUN;
    image_->status = HR_OK;
    image_->idle_groups = 0;
    image_->unpolled = injection_ ? 1 : 0;
    image_->poller.deadline = 0;
    if (image_->poller.current == image_->poller.segments) // all are used up
        image_->poller.current = image_->poller.segments = 0;
    image_->restored.value = 0;
    running_ = true;
    laid_out_ = false; // until collect() has seen that it ended well
    enqueued_ = std::chrono::steady_clock::now();
    ++launches_;
    launched_ = stream_.launch(
        [this, useful = useful_groups()](const NativeStream& native) {
            kernel_->enqueue(native, {*image_, *control_, *slots_, *bundle_words_, *spill_,
                                      injection_ ? injection_->words() : nullptr,
                                      is_opened_ ? segments_.get() : nullptr, shape_.groups, useful,
                                      shape_.liq_units, image_->ring_slots, image_->ways});
        },
        after);
    return launched_;
}

/// The number of groups that would find work. A consumer's group that finds neither a record nor a seed has
/// nothing else to do.
std::uint32_t Engine::useful_groups() const noexcept {
    if (shape_.kinds > 0 || is_opened_) return shape_.groups;
    const std::uint64_t seeds = image_->seed_end - image_->seed_cursor.value;
    const std::uint32_t least = shape_.least_claim != 0 ? shape_.least_claim : shape_.lanes;
    const std::uint64_t claims = (seeds + least - 1) / least + image_->spill_count;
    return static_cast<std::uint32_t>(std::clamp<std::uint64_t>(claims, 1, shape_.groups));
}

Engine::State Engine::collect() {
    HEADRACE_ASSERT(running_);
    running_ = false;
    launched_.wait();
    if (image_->status != HR_OK)
        throw Error{ErrorKind::kernel, status_text(image_->status)}.on_device(device_.info().id);
    launch_times_.push_back(
        launched_.times().value_or(EventTimes{enqueued_, std::chrono::steady_clock::now()}));
    if (injection_) injection_->ask_to_pause(false);
    if (!is_opened_)
        adapt_budget(launch_times_.back().end - launch_times_.back().begin, image_->pause == HR_PAUSE_BUDGET);
    if (!all_done() && image_->pause == HR_RUN) // no group asked for a pause, but work is left
        throw Error{ErrorKind::internal, "a launch ended with " + std::to_string(image_->pending.value) +
                                             " work units unaccounted for"}
            .on_device(device_.info().id);
    laid_out_ = true;
    if (!all_done()) return State::paused;
    if (is_opened_) injection_->finish();
    return State::finished;
}

bool Engine::all_done() const noexcept { return image_->pending.value == 0 && image_->poller.open == 0; }

/// Returns whether rounds take more than a quarter of a launch's time. Two launches show it, if one had at
/// least 1.5 times the rounds of the other. If they cannot show it, returns true.
bool Engine::rounds_matter(PastLaunch one, PastLaunch other) {
    if (one.rounds < other.rounds) std::swap(one, other);
    if (other.rounds == 0 || one.rounds < 1.5 * other.rounds) return true;
    const auto more_than = [](auto more, auto less) {
        return 1 - static_cast<double>(less) / static_cast<double>(more);
    };
    return more_than(one.took.count(), other.took.count()) > 0.25 * more_than(one.rounds, other.rounds);
}

/// Adapts the budget to launches of options_.launch_time. It rises carefully, because the next rounds may
/// take longer. On a busy machine a launch may take longer because its groups wait for processors. Fewer
/// rounds would then make more launches, but not shorter ones. So budgets grow until rounds matter. Launches
/// of one round try two rounds now and then, to find out whether rounds matter. This does not apply if
/// `launch_time` is below 1 ms. Budgets may then fall to one round, whatever it costs.
void Engine::adapt_budget(std::chrono::nanoseconds took, bool ended_by_budget) {
    const double factor = std::chrono::duration<double>(options_.launch_time) /
                          std::max(std::chrono::duration<double>(took), std::chrono::duration<double>(1e-6));
    if (factor > 1 && !ended_by_budget) return; // a launch that ended early tells nothing about its budget
    const PastLaunch now{ended_by_budget ? rounds_ : 0, took}, before = std::exchange(past_, now);
    double change = std::min(factor, took < short_launch ? growth_of_short_ones : fastest_growth);
    if (factor < 1 && took < long_launch && options_.launch_time >= short_launch) {
        const bool may_try = now.rounds == 1 && before.rounds == 1 && launches_ % 8 == 0;
        if (!rounds_matter(now, before))
            change = 4;
        else if (may_try)
            change = 2;
    }
    rounds_ = static_cast<std::uint32_t>(std::clamp(rounds_ * change, 1.0, static_cast<double>(most_rounds)));
    is_first_budget_ = false;
}

void Engine::aim_at(std::chrono::nanoseconds launch_time) {
    const double factor = std::chrono::duration<double>(launch_time) /
                          std::chrono::duration<double>(std::exchange(options_.launch_time, launch_time));
    // The measured times hold for another launch time too. A longer time is approached as usual. The first
    // budget is a guess without a measurement: a part of it would be a wasted launch.
    if (factor < 1 && !is_first_budget_) rounds_ = std::max(1U, static_cast<std::uint32_t>(rounds_ * factor));
}

Bytes Engine::record_bytes() const noexcept {
    return 4 * hr_record_words(shape_.kinds, shape_.unit_words, shape_.lanes, shape_.liq_units);
}

/// Position of a record in `spill_`. Half number 2 begins at the end of `spill_`.
Bytes Engine::record_at(std::uint64_t half, std::uint64_t number) const noexcept {
    return 4 * hr_spill_records_at(shape_.groups) + (half * shape_.groups + number) * record_bytes();
}

/// Adds the records that no group restored to the saved ones: docs/engine.md, "Records suffice".
void Engine::carry_records_on() {
    std::uint64_t& saved = image_->saved.value;
    const std::uint64_t count = image_->spill_count;
    const std::uint64_t taken = std::min<std::uint64_t>(image_->restored.value, count);
    const std::uint64_t left = count - taken;
    HEADRACE_ASSERT(saved + left <= shape_.groups);
    if (left == 0) return;
    stream_
        .copy_peer(*spill_, record_at(image_->spill_half ^ 1u, saved), *spill_,
                   record_at(image_->spill_half, taken), left * record_bytes())
        .wait();
    saved += left;
    image_->spill_count = static_cast<std::uint32_t>(taken);
}

Event Engine::resume() {
    HEADRACE_ASSERT(!running_ && laid_out_ && !all_done());
    if (image_->pause == HR_PAUSE_POOL) grow_pool();
    carry_records_on();
    image_->spill_count = static_cast<std::uint32_t>(image_->saved.value);
    image_->saved.value = 0;
    image_->spill_half ^= 1u;
    image_->seed_cursor.value = std::min(image_->seed_cursor.value, image_->seed_end);
    return launch({});
}

void Engine::rebind(std::unique_ptr<BoundKernel> kernel) {
    HEADRACE_ASSERT(!running_ && kernel);
    kernel_ = std::move(kernel);
    past_ = {};
    prepare();
}

void Engine::renew(std::unique_ptr<BoundKernel> kernel) {
    rebind(std::move(kernel));
    rounds_ = first_budget(options_);
    is_first_budget_ = true;
}

Bytes Engine::queue_memory() const noexcept {
    Bytes sum = 0;
    for (const Memory* memory : {slots_.get(), bundle_words_.get(), spill_.get()})
        if (memory) sum += memory->size();
    return sum;
}

std::uint64_t Engine::remaining() const noexcept { return image_->pending.value; }
EngineCounters Engine::counters() const noexcept { return image_->counters; }

} // namespace headrace
