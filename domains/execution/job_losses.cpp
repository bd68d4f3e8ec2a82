// domains/execution/job_losses.cpp - the continuation of a job when a device is lost or full: see
// job_execution.hpp.
#include <headrace/internal/domains/job_execution.hpp>

#include <algorithm>
#include <map>
#include <utility>

namespace headrace {

void JobExecution::hold_for(std::size_t device) {
    const std::scoped_lock lock(mutex_);
    if (Share* share = share_of(device)) share->is_leaving = true;
}

void JobExecution::retire(std::size_t device, const ErrorPtr& error, const std::vector<Portion>& in_flight) {
    std::unique_lock lock(mutex_);
    Running& run = running();
    Share* share = share_of(device);
    if (!share) return;
    share->is_leaving = false;
    if (ended_) return;
    for (const Portion& portion : in_flight) take_back(device, portion);
    if (!share->retired) {
        share->retired = true;
        run.rates.lost(place_of(*share));
        share->loss = error;
    }
    for (const Portion& portion : in_flight) put_back(portion);
    for (const Portion& portion : std::exchange(share->gifts, {})) put_back(portion);
    const bool has_worked = !(share->done.empty() && in_flight.empty());
    if (const std::uint64_t given = share->counters.units_given; given > 0) {
        // If its tasks ran again, they would create these units a second time.
        if (!stop_reason_)
            stop_reason_ = std::make_shared<const Error>(
                Error(error->kind(), error->message() +
                                         "; what it did cannot be computed again, since it had given " +
                                         std::to_string(given) + " work units of it to other devices")
                    .on_device(share->participant.info->id)
                    .in_job(job_.name())
                    .in_task(error->task())
                    .with_code(error->native_code()));
    } else if (!is_repeatable() && has_worked) {
        if (!stop_reason_) stop_reason_ = error;
    } else {
        for (Share& one : run.shares) { // results of others in another memory were fetched, and are lost too
            if (&one != share && !(run.has_moved && has_worked)) continue;
            for (const Portion& portion : std::exchange(one.done, {})) {
                put_back(portion);
                run.finished -= portion.work_units();
            }
            one.counters.work_units = one.counters.units_received = 0;
        }
        if (has_worked) run.has_moved = false;
    }
    if (!stop_reason_ && std::ranges::none_of(run.shares, [&](const Share& one) { return can_work(one); }) &&
        !go_to_next_memory())
        stop_reason_ = error;
    settle_if_ended(std::move(lock));
}

/// Chooses the memory with the devices that are fastest together. False: there is none.
bool JobExecution::go_to_next_memory() {
    Running& run = running();
    if (!run.memory) return false;
    std::map<std::size_t, double> capabilities; // by memory
    for (const Share& share : run.shares)
        if (!share.retired && !share.is_full)
            capabilities[share.participant.memory] += std::max(run.rates.capability(place_of(share)), 0.0);
    if (capabilities.empty()) return false;
    run.memory =
        std::ranges::max_element(capabilities, {}, &decltype(capabilities)::value_type::second)->first;
    for (Share& share : run.shares)
        if (share.participant.memory == *run.memory) share.is_spared = false;
    ask_again();
    return true;
}

bool JobExecution::leave_memory(std::size_t device, const Portion& portion) {
    const std::scoped_lock lock(mutex_);
    Running& run = running();
    if (!run.memory || stop_reason_) return false;
    const std::size_t left = share_of(device)->participant.memory;
    const bool has_another = std::ranges::any_of(run.shares, [&](const Share& one) {
        return !one.retired && !one.is_full && one.participant.memory != left;
    });
    if (!has_another) return false;
    take_back(device, portion);
    put_back(portion);
    for (Share& one : run.shares)
        if (one.participant.memory == left) one.is_full = true;
    // Tasks in flight end there.
    run.has_moved = run.has_moved || run.finished > 0 || !run.in_flight.empty();
    return *run.memory != left || go_to_next_memory();
}

Access JobExecution::access_of(const Job::Use& use) const {
    if (!use.is_of_one_image()) return use.access;
    const std::scoped_lock lock(mutex_);
    return running().has_moved ? Access::update : use.access;
}

} // namespace headrace
