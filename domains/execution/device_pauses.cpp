// domains/execution/device_pauses.cpp - launches pause, and what they have not begun may go to others: see
// device_worker.hpp.
#include "execution/device_place.hpp"

#include <algorithm>
#include <utility>

namespace headrace {
namespace {

constexpr std::chrono::milliseconds pause_of_gpu{20}; // where others may want something: each costs a launch
constexpr std::chrono::milliseconds pause_of_cpu{5};  // slow devices keep others waiting longer
constexpr std::chrono::milliseconds pause_in_vain{2}; // after one that was asked for
constexpr std::chrono::milliseconds telling_time{2};  // in which a producer's groups have worked off a claim

} // namespace

/// A launch that runs, if others have nothing to do and it has what they would take, or the job is to end.
void DeviceWorker::ask_to_pause(Place& place) {
    if (!place.job || !place.engine || place.asked_to_pause || place.waits_to || place.event.done() ||
        !place.engine->hears_host())
        return;
    const auto now = Clock::now();
    const auto has_some = [&] {
        const Portion& portion = place.held.front().portion;
        // What was fed does not come back.
        if (portion.units || place.fed > 0 || now < place.asked_again) return false;
        const auto [begin, end] = portion.range;
        return would_be_taken(place, std::clamp(place.engine->consumed(), begin, end),
                              now - place.begun_with);
    };
    if (!place.job->stopping() && !has_some()) return;
    place.engine->request_park();
    place.asked_to_pause = true;
    stay_awake_for(awake_for_exchange);
}

/// Of seeds that the place's task has not begun with, those from `claimed` on, after so long.
bool DeviceWorker::would_be_taken(const Place& place, std::uint64_t claimed, Clock::duration after) const {
    const auto [begin, end] = place.held.front().portion.range;
    const auto done = static_cast<double>(std::max<std::uint64_t>(claimed - begin, 1));
    const double seconds =
        std::chrono::duration<double>(after).count() * static_cast<double>(end - claimed) / done;
    return place.job->would_take(number_, end - claimed, place.engine->shape().lanes, seconds);
}

/// A launch that has parked.
void DeviceWorker::resume(Place& place) {
    place.event = place.engine->resume();
    for (const Held& one : place.held) place.job->launched(number_, one.portion, place.engine->remaining());
}

/// How far it is, by the seeds that lane groups have claimed. What was fed is told as it is begun with.
void DeviceWorker::tell_of_pause(Place& place) {
    const Portion& portion = place.held.front().portion;
    const auto busy = sum(place.engine->launch_times());
    place.job->ran(number_, portion, busy);
    if (place.held.size() > 1 || portion.units || place.fed > 0) return;
    const SeedRange unclaimed = place.engine->unclaimed();
    const std::uint64_t upto = unclaimed.empty() ? portion.range.end : unclaimed.next;
    if (place.engine->shape().kinds == 0) // a consumer's seeds are done or not begun with, as units remain
        place.job->paused(number_, portion, portion.range.size() - place.engine->remaining(), busy);
    else if (busy < telling_time) // all have claimed some, and done hardly anything
        place.job->begun(number_, portion, upto - portion.range.begin);
    else
        place.job->paused(number_, portion, upto - portion.range.begin, busy);
}

/// A parked launch has the time to give others some of what it has not begun: seeds, or else units.
void DeviceWorker::share_work(Place& place) {
    const auto busy = sum(place.engine->launch_times());
    if (give_seeds(place, busy) || give_units(place, busy))
        colleagues_.wake_all();
    else if (place.asked_to_pause)
        place.asked_again = Clock::now() + pause_in_vain;
}

/// Seeds that no lane group has claimed are as good as a range that no device has.
bool DeviceWorker::give_seeds(Place& place, Clock::duration busy) {
    Engine& engine = *place.engine;
    const SeedRange unclaimed = engine.unclaimed();
    if (unclaimed.empty() || !would_be_taken(place, unclaimed.next, busy)) return false;
    IndexRange& range = place.held.front().portion.range;
    const std::uint64_t cut = place.job->give_back(number_, range, unclaimed.next, engine.shape().lanes);
    if (cut == range.end) return false;
    engine.give_back(cut);
    range.end = cut;
    return true;
}

/// How many units spring from a unit is not known. A task that has taken the time of one launch is expected
/// to take another one. In that time a recipient that got too much can transfer some back.
bool DeviceWorker::give_units(Place& place, Clock::duration busy) {
    Engine& engine = *place.engine;
    if (engine.shape().kinds == 0) return false; // a consumer has seeds alone, and these are begun with
    if (busy < launch_time(*place.job)) return false;
    const std::uint64_t left = engine.remaining();
    if (left == 0) return false; // it parked when all it has left is what it was fed a moment ago
    const Schedule::Demand appetite = place.job->appetite(number_, engine.shape().lanes, left);
    if (appetite.share == 0) return false;
    UnitBatch units = engine.give(appetite.share, appetite.least, appetite.most_bytes);
    if (units.size() == 0) return false;
    place.job->give(number_, std::move(units));
    return true;
}

/// What no lane group of a parked launch has begun with waits until it is this job's turn again. False if
/// there is nothing of that kind.
bool DeviceWorker::give_up_seeds(Place& place) {
    const SeedRange unclaimed = place.engine->unclaimed();
    if (unclaimed.empty()) return false;
    IndexRange& range = place.held.front().portion.range;
    const std::uint64_t cut = place.job->make_way(number_, range, unclaimed.next);
    if (cut == range.end) return false;
    place.engine->give_back(cut);
    range.end = cut;
    colleagues_.wake_all(); // idle devices may take these
    return true;
}

/// Where others may soon have nothing to do, launches pause more often, for what they have not begun to be
/// given away; where another job has work here, for its launches to come between; and when those in reserve
/// are to step in, but short jobs, which are over by then as a rule, have no launch more than without a
/// reserve.
std::chrono::nanoseconds DeviceWorker::launch_time(const JobExecution& job) const {
    const auto usual = job.job().tuning().launch_time;
    const bool is_cpu = device_->info().kind == DeviceKind::cpu;
    if (usual == EngineOptions{}.launch_time && has_work_of_another(job))
        return is_cpu ? pause_of_cpu : pause_of_gpu;
    if (const auto reserve = job.reserve_steps_in()) {
        const auto patience = std::chrono::nanoseconds(*reserve - Clock::now());
        return std::clamp(patience, std::min<std::chrono::nanoseconds>(pause_of_gpu, usual), usual);
    }
    if (usual != EngineOptions{}.launch_time || !job.others_may_take_over(number_)) return usual;
    if (is_cpu) return pause_of_cpu; // which tells how far it is
    const bool is_asked = device_->info().hears_host && !job.job().shares_units(); // of seeds alone
    return is_asked || job.wants(number_) ? usual : pause_of_gpu;
}

/// Of one that has this device in turns with the job, or before it.
bool DeviceWorker::has_work_of_another(const JobExecution& job) const {
    const int mine = job.job().priority();
    const auto is_another = [&](const JobExecution& other) {
        return &other != &job && other.job().priority() >= mine;
    };
    const auto jobs = colleagues_.running();
    return std::ranges::any_of(places_,
                               [&](const auto& place) { return place->job && is_another(*place->job); }) ||
           std::ranges::any_of(
               jobs, [&](const auto& other) { return is_another(*other) && other->wants(number_); });
}

/// It is the turn of a job that has no place, and long tasks have them all.
bool DeviceWorker::has_no_place_for_next() const {
    if (tasks_at_work() < window_) return false;
    for (const auto& job : colleagues_.by_turn())
        if (job->wants(number_))
            return std::ranges::none_of(places_, [&](const auto& place) { return place->job == job; });
    return false;
}

/// A job of higher priority has work for this device.
bool DeviceWorker::another_is_more_urgent(const Place& place) const {
    const int mine = place.job->job().priority();
    const auto jobs = colleagues_.running();
    return std::ranges::any_of(
        jobs, [&](const auto& job) { return job->job().priority() > mine && job->wants(number_); });
}

} // namespace headrace
