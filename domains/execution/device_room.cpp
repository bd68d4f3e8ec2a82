// domains/execution/device_room.cpp - tasks on a device that is full: see device_worker.hpp.
#include "execution/device_place.hpp"
#include "execution/footprint.hpp"

#include <algorithm>
#include <utility>

namespace headrace {

/// Takes the step, as often as the device is full and something can be freed at once; else the place waits
/// for what makes room, in which case it is taken again. A job that is stopped meanwhile does not get on.
void DeviceWorker::with_room(Place& place, Step step) {
    try {
        if (std::exchange(place.waits_to, nullptr)) {
            place.event.wait(); // throws why an image could not be brought to the host
            if (place.job->stopping()) throw Error{ErrorKind::cancelled, "the job was stopped"};
        }
        for (;;) try {
                (this->*step)(place);
                return watch(place);
            } catch (const Error& error) {
                if (error.kind() != ErrorKind::out_of_memory || error.device() != device_->info().id) throw;
                try {
                    place.event = make_room(place, error);
                } catch (const Error&) {
                    if (step == &DeviceWorker::begin && makes_do_with_less(place)) continue;
                    if (step == &DeviceWorker::begin && goes_elsewhere(place)) return;
                    throw;
                }
                if (place.event.done()) {
                    place.event.wait();
                    continue;
                }
                // Parked tasks keep their data: two of them could wait for each other.
                if (step == &DeviceWorker::resume && is_short_of_room()) throw;
                place.waits_to = step;
                for (const auto& other : places_) other->wanting = false;
                return watch(place);
            }
    } catch (...) {
        fail(place, current_error());
    }
}

/// As Controller::make_room, for a task that has begun or is to begin. Queues that no task uses go first.
Event DeviceWorker::make_room(const Place& place, const Error& lack) {
    for (const auto& other : places_) {
        if (!other->kept && (other->job || !other->engine)) continue;
        other->kept.reset();
        if (!other->job) {
            other->engine.reset();
            other->engine_job.reset();
        }
        return {};
    }
    const Task& task = *place.held.front().task;
    return controller_->make_room(lack, data_of(place.job->job(), task.range(), place.in_windows));
}

/// A task that is to begin needs less than it did.
bool DeviceWorker::makes_do_with_less(Place& place) {
    if (place.in_windows) return halve(place);
    return place.in_windows = can_use_windows(place.job->job(), device_->info());
}

/// A task that has not begun goes back, for the job goes on in another memory.
bool DeviceWorker::goes_elsewhere(Place& place) {
    if (!place.job->leave_memory(number_, place.held.front().portion)) return false;
    place.engine.reset(); // which the job will not need here
    place.forget_launch();
    place.job.reset();
    colleagues_.wake_all();
    return true;
}

/// A task that is not begun with goes back in part, as its job may be cut. False if that is not possible.
bool DeviceWorker::halve(Place& place) {
    Held& first = place.held.front();
    const IndexRange range = first.portion.range;
    if (first.portion.units) return false;
    const std::uint64_t cut = place.job->make_way(number_, range, range.begin + range.size() / 2);
    if (cut == range.end) return false;
    first = hold(*place.job, IndexRange{range.begin, cut});
    colleagues_.wake_all(); // others may have the rest
    return true;
}

bool DeviceWorker::is_short_of_room() const {
    return std::ranges::any_of(places_, [](const auto& place) { return place->waits_to != nullptr; });
}

} // namespace headrace
