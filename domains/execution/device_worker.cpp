// domains/execution/device_worker.cpp - see device_worker.hpp.
#include <headrace/internal/domains/device_worker.hpp>
#include <headrace/internal/domains/launch_slot.hpp>

#include <algorithm>
#include <utility>

namespace headrace {
namespace {

constexpr std::chrono::microseconds glance{10}, between_rounds{1000};

} // namespace

DeviceWorker::DeviceWorker(std::size_t number, std::unique_ptr<Device> device, ControllerOptions options,
                           unsigned window, JobSource& jobs)
    : device_(std::move(device)),
      controller_(std::make_unique<Controller>(*device_, options)),
      jobs_(jobs),
      slots_(number, *device_, *controller_, std::max(window, 1U), jobs) {
    thread_ = std::jthread([this](const std::stop_token& stop) { run(stop); });
}

void DeviceWorker::stop() {
    if (!thread_.joinable()) return;
    thread_.request_stop();
    wake();
    thread_.join();
}

DeviceWorker::~DeviceWorker() {
    stop();
    slots_.forget_domains();
}

void DeviceWorker::run(const std::stop_token& stop) {
    while (!stop.stop_requested()) {
        slots_.make_up_for_tasks_that_let_others_in();
        for (const auto& slot : slots_.all()) look_at(*slot);
        report_idleness();
        wait();
    }
}

void DeviceWorker::look_at(LaunchSlot& slot) {
    slot.advance();
    slot.set_engine_aside();
    // A task that waits for memory waits for other tasks to end. No task starts before it.
    if (slot.is_free() && !retired() && !slots_.is_short_of_memory() && slots_.have_room())
        start_a_task(slot);
    slot.tend();
}

/// What was transferred to this device comes first: it waits for nothing else.
void DeviceWorker::start_a_task(LaunchSlot& slot) {
    const auto& slots = slots_.all();
    auto jobs = jobs_.by_turn();
    // If a task of a job lets other jobs in, another task of that job would do the same, and so on without
    // end.
    std::erase_if(jobs, [&](const auto& job) {
        return std::ranges::any_of(
            slots, [&](const auto& other) { return other->job() == job && other->lets_others_in(); });
    });
    for (const auto& job : jobs)
        if (const auto work_range = job->transfers().next_transferred(slots_.number()))
            return start(slot, job, *work_range, true);
    for (const auto& job : jobs) {
        // A launch that takes more tasks of the job gets them.
        if (std::ranges::any_of(slots, [&](const auto& other) { return other->wants_tasks_of(*job); }))
            return;
        if (const auto range = job->next(slots_.number())) return start(slot, job, *range, false);
    }
}

void DeviceWorker::start(LaunchSlot& slot, const std::shared_ptr<JobExecution>& job,
                         const WorkRange& work_range, bool is_transferred) {
    if (std::exchange(told_idle_, false)) report_idleness(false); // at once: to begin may take long
    for (const auto& other : slots_.all())
        if (other->is_injecting() && other->job() != job) other->make_way();
    slot.start(job, work_range, is_transferred);
}

/// Other devices transfer work to devices that have none in any job.
void DeviceWorker::report_idleness() {
    const bool idle = !retired() && slots_.are_all_free();
    if (idle || told_idle_) report_idleness(idle);
    if (idle && !told_idle_ && !jobs_.running().empty()) slots_.stay_awake_for(awake_for_exchange);
    told_idle_ = idle;
}

void DeviceWorker::report_idleness(bool idle) {
    bool wakes = false;
    for (const auto& job : jobs_.running()) wakes = job->transfers().idle(slots_.number(), idle) || wakes;
    if (wakes) jobs_.wake_all();
}

void DeviceWorker::wait() {
    AutoResetSignal& signal = *slots_.signal();
    const auto& slots = slots_.all();
    const auto now = Clock::now();
    if (std::ranges::any_of(slots, [](const auto& slot) { return slot->is_hurried(); }))
        std::this_thread::yield(); // a sleep takes longer than what the launch has to do
    else if (std::ranges::any_of(slots, [](const auto& slot) { return slot->is_injecting(); }))
        signal.wait_for(look_period); // a launch that consumes seeds sends no signal
    else if (now < slots_.awake_until())
        stay_awake();
    else if (const auto next = looks_again()) // no signal says that time has passed
        signal.wait_for(std::chrono::ceil<std::chrono::microseconds>(*next - now));
    else
        signal.wait();
}

/// Polls launches and the signal alone, because a round of the loop takes the locks of jobs. It ends after a
/// while, because a policy that refused the device may want it later.
void DeviceWorker::stay_awake() {
    Clock::time_point end = std::min(slots_.awake_until(), Clock::now() + between_rounds);
    if (const auto next = asks_again()) end = std::min(end, *next);
    const auto can_advance = [](const auto& slot) { return slot->can_advance(); };
    while (Clock::now() < end && std::ranges::none_of(slots_.all(), can_advance))
        if (slots_.signal()->is_set_within(glance)) return;
}

/// When this device may get work without any event, or when a launch may be asked to pause once more.
std::optional<DeviceWorker::Clock::time_point> DeviceWorker::looks_again() const {
    std::optional<Clock::time_point> first = asks_again();
    for (const auto& slot : slots_.all())
        if (const auto when = slot->asks_again()) first = std::min(first.value_or(*when), *when);
    return first;
}

/// When this device joins a job as a standby device, or because others are late.
std::optional<DeviceWorker::Clock::time_point> DeviceWorker::asks_again() const {
    std::optional<Clock::time_point> first;
    for (const auto& job : jobs_.running())
        if (const auto when = job->forecast().asks_again(slots_.number()))
            first = std::min(first.value_or(*when), *when);
    return first;
}

} // namespace headrace
