// domains/execution/device_slots.cpp - see device_slots.hpp.
#include <headrace/core/detail/submission.hpp>
#include <headrace/core/log.hpp>
#include <headrace/internal/domains/device_slots.hpp>
#include <headrace/internal/domains/launch_slot.hpp>

#include <algorithm>
#include <utility>

namespace headrace {
namespace {

constexpr std::chrono::milliseconds pause_of_gpu{20}; // where others may want something: each costs a launch
constexpr std::chrono::milliseconds pause_of_cpu{5};  // slow devices keep others waiting longer

} // namespace

DeviceSlots::DeviceSlots(std::size_t number, Device& device, Controller& controller, std::size_t window,
                         JobSource& jobs)
    : number_(number), device_(device), controller_(controller), window_(window), jobs_(jobs) {
    while (slots_.size() < window_) add();
}

DeviceSlots::~DeviceSlots() = default;

void DeviceSlots::add() { slots_.push_back(std::make_unique<LaunchSlot>(*this)); }

std::size_t DeviceSlots::tasks_at_work() const {
    return static_cast<std::size_t>(std::ranges::count_if(
        slots_, [](const auto& slot) { return !slot->is_free() && !slot->lets_others_in(); }));
}

bool DeviceSlots::are_all_free() const {
    return std::ranges::all_of(slots_, [](const auto& slot) { return slot->is_free(); });
}

void DeviceSlots::make_up_for_tasks_that_let_others_in() {
    const auto is_beside = [](const auto& slot) { return !slot->is_free() && slot->lets_others_in(); };
    const auto beside = static_cast<std::size_t>(std::ranges::count_if(slots_, is_beside));
    while (slots_.size() < window_ + beside) add();
}

void DeviceSlots::stay_awake_for(Clock::duration time) {
    if (device_.info().kind != DeviceKind::cpu) awake_until_ = Clock::now() + time;
}

bool DeviceSlots::is_short_of_memory() const {
    return std::ranges::any_of(slots_, [](const auto& slot) { return slot->waits_for_memory(); });
}

bool DeviceSlots::free_unused_queues() {
    return std::ranges::any_of(slots_, [](const auto& slot) { return slot->free_unused_queues(); });
}

void DeviceSlots::want_no_more_tasks() {
    for (const auto& slot : slots_) slot->want_no_more_tasks();
}

/// Where others may soon have nothing to do, launches pause more often, so that what they have not begun can
/// be transferred; where another job has work here, so that its launches come between; and when standby
/// devices are to join. But short jobs, which are usually over by then, have no launch more than without
/// standby devices.
std::chrono::nanoseconds DeviceSlots::launch_time(const JobExecution& job) const {
    const auto usual = job.job().tuning().launch_time;
    const bool is_cpu = device_.info().kind == DeviceKind::cpu;
    if (usual == EngineOptions{}.launch_time && have_work_of_another(job))
        return is_cpu ? pause_of_cpu : pause_of_gpu;
    if (const auto standby = job.forecast().standby_steps_in()) {
        const auto patience = std::chrono::nanoseconds(*standby - Clock::now());
        return std::clamp(patience, std::min<std::chrono::nanoseconds>(pause_of_gpu, usual), usual);
    }
    if (usual != EngineOptions{}.launch_time || !job.forecast().others_may_take_over(number_)) return usual;
    if (is_cpu) return pause_of_cpu; // which tells how far it is
    // A launch is asked to pause for its seeds alone (LaunchSlot::ask_to_pause). Units that spring from seeds
    // can be transferred only when a launch pauses by itself. That a job is shared by ranks tells nothing of
    // this: units move between devices of one process, too.
    const bool is_asked = device_.info().fine_grained_host_coherence && !job.job().shares_units();
    return is_asked || job.forecast().wants(number_) ? usual : pause_of_gpu;
}

/// Of one that has this device in turns with the job, or before it.
bool DeviceSlots::have_work_of_another(const JobExecution& job) const {
    const int mine = job.job().priority();
    const auto is_another = [&](const JobExecution& other) {
        return &other != &job && other.job().priority() >= mine;
    };
    const auto jobs = jobs_.running();
    return std::ranges::any_of(
               slots_, [&](const auto& slot) { return !slot->is_free() && is_another(*slot->job()); }) ||
           std::ranges::any_of(jobs, [&](const auto& other) {
               return is_another(*other) && other->forecast().wants(number_);
           });
}

bool DeviceSlots::have_none_for_next() const {
    if (have_room()) return false;
    for (const auto& job : jobs_.by_turn())
        if (job->forecast().wants(number_))
            return std::ranges::none_of(slots_, [&](const auto& slot) { return slot->job() == job; });
    return false;
}

bool DeviceSlots::another_is_more_urgent(const JobExecution& job) const {
    const int mine = job.job().priority();
    const auto jobs = jobs_.running();
    return std::ranges::any_of(jobs, [&](const auto& other) {
        return other->job().priority() > mine && other->forecast().wants(number_);
    });
}

void DeviceSlots::note(const std::shared_ptr<DomainData>& domain) {
    const auto is_it = [&](const auto& known) {
        return !known.owner_before(domain) && !domain.owner_before(known);
    };
    if (std::ranges::any_of(domains_, is_it)) return;
    std::erase_if(domains_, [](const auto& known) { return known.expired(); });
    domains_.push_back(domain);
}

void DeviceSlots::forget_domains() {
    join_private_replicas();
    bring_replicas_to_host();
}

void DeviceSlots::join_private_replicas() {
    for (const auto& weak : domains_) {
        const auto domain = weak.lock();
        if (domain) try {
                domain->forget(controller_);
            } catch (...) {
                const ErrorPtr error = current_error();
                domain->drop_replica(controller_, error); // or it would look for the controller later
                log_error(std::string("sums are lost with their device: ") + error->what());
            }
    }
}

/// Of domains that outlive the runtime. What cannot be copied is lost: later readers get the error.
void DeviceSlots::bring_replicas_to_host() {
    const Error lack{ErrorKind::out_of_memory, "the runtime ends"};
    ErrorPtr error;
    while (!error) try { // it throws when nothing is left
            controller_.evict(lack, {}).wait();
        } catch (...) {
            error = current_error();
        }
    for (const auto& weak : domains_) {
        const auto domain = weak.lock();
        if (!domain) continue;
        Storage& storage = domain->storage();
        const std::vector<Tile> before = unwritten_parts(storage.tile());
        controller_.release(storage);
        for (const Tile& now : unwritten_parts(storage.tile())) {
            const auto has_it = [&](const Tile& part) {
                return part.begin() <= now.begin() && now.end() <= part.end();
            };
            if (std::ranges::none_of(before, has_it)) mark_failed(now, error);
        }
    }
}

ErrorPtr DeviceSlots::retired() const {
    const std::scoped_lock lock(mutex_);
    return retired_;
}

void DeviceSlots::retire(const ErrorPtr& error) {
    {
        const std::scoped_lock lock(mutex_);
        retired_ = error;
    }
    log_error("device " + device_.info().id + " is used no more: " + error->what());
    end_launches(error);
    // Sums that this device holds are gone with it. Jobs that are still running compute theirs again, so none
    // of them may end in between.
    const auto jobs = jobs_.unfinished();
    for (const auto& job : jobs) job->hold_for(number_);
    for (const auto& weak : domains_)
        if (const auto domain = weak.lock()) domain->drop_replica(controller_, error);
    std::vector<std::pair<std::shared_ptr<JobExecution>, std::vector<WorkRange>>> lost;
    for (const auto& slot : slots_)
        if (!slot->is_free()) {
            auto job = slot->job();
            lost.emplace_back(std::move(job), slot->lose_tasks());
        }
    for (const auto& job : jobs) {
        std::vector<WorkRange> work_ranges;
        for (const auto& [of, some] : lost)
            if (of == job) work_ranges.insert(work_ranges.end(), some.begin(), some.end());
        job->retire(number_, error, work_ranges);
    }
    jobs_.wake_all(); // for what they have to do again
}

/// Nothing may be freed under a launch that has not noticed the loss. It may wait for what another launch of
/// this device has promised, perhaps through another device, and that launch may have ended.
void DeviceSlots::end_launches(const ErrorPtr& error) {
    std::vector<LaunchSlot*> left;
    for (const auto& slot : slots_) {
        slot->ask_to_end();
        if (!slot->is_free()) left.push_back(slot.get());
    }
    while (!left.empty()) {
        std::erase_if(left, [&](LaunchSlot* slot) {
            if (slot->has_launch_under_way()) return false;
            slot->fail_tasks(error);
            return true;
        });
        if (!left.empty()) left.front()->wait_for_launch(std::chrono::milliseconds(1));
    }
}

} // namespace headrace
