// persistent/engine/engine.cpp - see engine.hpp.
#include "engine/engine_queues.hpp"
#include <headrace/persistent/engine.hpp>

#include <algorithm>
#include <atomic>
#include <bit>
#include <new>
#include <string>
#include <utility>

namespace headrace {
namespace {

std::string status_text(std::uint32_t status) {
    switch (status) {
    case HR_SPAWNED_TOO_MANY:
        return "a kernel spawned more work units than its Kind declares";
    case HR_SEEDS_OF_TWO_KINDS:
        return "an OpenCL kernel's hr_seed gave units of more than one kind, or of a kind that there is not";
    case HR_NO_SUCH_PHASE:
        return "a step of a resumable kind returned a phase that the kind does not have, or "
               "Phase::unresolved without a "
               "resolve";
    case HR_THREW:
        return "a kernel threw";
    default:
        return "a kernel reported status " + std::to_string(status);
    }
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
    while (Bytes{2} * units * unit <= local_bytes / 3) units *= 2; // cheap: saves trips to the GIQ
    return units;
}

Engine::Engine(Device& device, Stream& stream, std::unique_ptr<BoundKernel> kernel,
               const EngineOptions& options)
    : device_(device),
      stream_(stream),
      kernel_(std::move(kernel)),
      options_(options),
      budget_(options.first_rounds, options.launch_time) {
    if (!kernel_)
        throw Error{ErrorKind::unsupported, "no kernel for this device's technology"}.on_device(
            device.info().id);
    image_owner_ = device_.allocate_host(sizeof(HrControl));
    image_ = new (image_owner_.get()) HrControl{};
    queues_ = std::make_unique<EngineQueues>(device_, stream_, *image_);
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
    if (shape == shape_ && queues_->exist()) return;
    shape_ = shape;
    laid_out_ = false;
    queues_->drop();
}

/// Drops what a paused launch left behind, and the queues of a failed launch.
void Engine::reserve(bool to_be_opened) {
    HEADRACE_ASSERT(!running_);
    if (!laid_out_ || image_->pending.value != 0) {
        queues_->lay_out(shape_, options_.bundles);
        laid_out_ = true;
    }
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
    image_->poller.time =
        static_cast<std::uint64_t>(std::max<std::int64_t>(budget_.launch_time().count(), 1));
    is_opened_ = true;
    return launch(after);
}

bool Engine::inject(std::uint64_t begin, std::uint64_t end) { return injection_->add(begin, end); }
void Engine::close() { injection_->close(); }
void Engine::request_pause() { injection_->ask_to_pause(true); }

Event Engine::launch(std::span<const Event> after) {
    image_->rounds = is_opened_ ? LaunchBudget::most_rounds : budget_.rounds();
    image_->pause = HR_RUN;
    image_->status = HR_OK;
    image_->idle_groups = 0;
    image_->unpolled = injection_ ? 1 : 0; // at any time
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
            kernel_->enqueue(native, {*image_, queues_->control(), queues_->slots(), queues_->bundle_words(),
                                      queues_->spill(), injection_ ? injection_->words() : nullptr,
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
        budget_.adapt(launch_times_.back().end - launch_times_.back().begin, image_->pause == HR_PAUSE_BUDGET,
                      launches_);
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

Event Engine::resume() {
    HEADRACE_ASSERT(!running_ && laid_out_ && !all_done());
    if (image_->pause == HR_PAUSE_POOL) queues_->grow();
    queues_->carry_records_on();
    image_->spill_count = static_cast<std::uint32_t>(image_->saved.value);
    image_->saved.value = 0;
    image_->spill_half ^= 1u;
    image_->seed_cursor.value = std::min(image_->seed_cursor.value, image_->seed_end);
    return launch({});
}

void Engine::rebind(std::unique_ptr<BoundKernel> kernel) {
    HEADRACE_ASSERT(!running_ && kernel);
    kernel_ = std::move(kernel);
    budget_.forget_last_launch();
    prepare();
}

void Engine::renew(std::unique_ptr<BoundKernel> kernel) {
    rebind(std::move(kernel));
    budget_.start_again();
}

void Engine::aim_at(std::chrono::nanoseconds launch_time) { budget_.aim_at(launch_time); }

Bytes Engine::queue_memory() const noexcept { return queues_->bytes(); }
std::uint32_t Engine::bundles() const noexcept { return queues_->bundles(); }
std::uint64_t Engine::remaining() const noexcept { return image_->pending.value; }
EngineCounters Engine::counters() const noexcept { return image_->counters; }

} // namespace headrace
