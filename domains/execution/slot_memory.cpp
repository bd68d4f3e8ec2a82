// domains/execution/slot_memory.cpp - tasks on a device that is full: see launch_slot.hpp.
#include "execution/footprint.hpp"
#include <headrace/internal/domains/launch_slot.hpp>

#include <utility>

namespace headrace {

/// Frees memory for the launch, which lacks some. Returns if it may try again, if it waits for memory, or if
/// its task has gone to another memory. Throws if there is no way.
void LaunchSlot::make_memory(const Error& lack) {
    const bool begins = state_.is<LaunchState::Preparing>();
    if (slots_.free_unused_queues()) return;
    Event freed;
    try {
        const Task& task = *held_.first().task;
        freed =
            slots_.controller().evict(lack, data_of(job_->job(), task.range(), submission_.is_in_windows()));
    } catch (const Error&) {
        if (begins && (submission_.makes_do_with_less(held_.first()) || goes_elsewhere() ||
                       submission_.goes_unchecked()))
            return;
        throw; // it says what is needed
    }
    if (freed.done()) return freed.wait();
    // Paused tasks keep their data: two of them could wait for each other.
    if (!begins && slots_.is_short_of_memory()) throw Error(lack);
    LaunchState::WaitingForMemory waiting{.freed = std::move(freed)};
    if (!begins) waiting.paused = std::move(*state_.as<LaunchState::Paused>());
    state_.enter(std::move(waiting));
    slots_.want_no_more_tasks();
}

/// A job that is stopped meanwhile does not get on.
void LaunchSlot::continue_with_memory() {
    LaunchState::WaitingForMemory waited = std::move(*state_.as<LaunchState::WaitingForMemory>());
    if (waited.paused)
        state_.enter(*std::move(waited.paused));
    else
        state_.enter(LaunchState::Preparing{});
    try {
        waited.freed.wait(); // throws why a replica could not be brought to the host
        if (job_->stopping()) throw Error{ErrorKind::cancelled, "the job was stopped"};
    } catch (...) {
        return fail(current_error());
    }
    go();
}

void LaunchSlot::want_no_more_tasks() noexcept {
    if (auto* const injecting = state_.as<LaunchState::Injecting>()) injecting->wanting = false;
    if (auto* const waiting = state_.as<LaunchState::WaitingForMemory>())
        if (waiting->paused && waiting->paused->injecting) waiting->paused->injecting->wanting = false;
}

/// A task that has not begun goes back, for the job goes on in another memory.
bool LaunchSlot::goes_elsewhere() {
    if (!job_->leave_memory(slots_.number(), held_.first().work_range)) return false;
    engine_.drop(); // the job will not need it here
    submission_.wait_for_replicas();
    clear();
    slots_.jobs().wake_all();
    return true;
}

} // namespace headrace
