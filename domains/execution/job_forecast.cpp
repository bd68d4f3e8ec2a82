// domains/execution/job_forecast.cpp - see job_forecast.hpp.
#include <headrace/internal/domains/job_forecast.hpp>

namespace headrace {
namespace {

/// A device that a policy refused because others would end sooner asks again so often. No event says that
/// the others are late.
constexpr std::chrono::milliseconds patience_with_others{5};

} // namespace

bool JobForecast::wants(std::size_t device) const {
    const std::scoped_lock lock(state_.mutex);
    const auto place = state_.participants.participant_of(device);
    if (!state_.life.is_running() || !place) return false;
    const RunningJob& run = state_.running();
    return run.schedule.state().wants(*place, run.account.now());
}

bool JobForecast::others_may_take_over(std::size_t device) const {
    // Without the lock. Ranks take units alone: the schedule knows if this job's units may be transferred.
    if (!state_.participants.are_several() && !state_.scheduling().shared) return false;
    const std::scoped_lock lock(state_.mutex);
    const auto place = state_.participants.participant_of(device);
    if (!place) return true; // all of them are others
    const RunningJob& run = state_.running();
    return state_.ask([&] { return run.schedule.state().others_may_take_over(*place, run.account.now()); },
                      false);
}

std::optional<double> JobForecast::expected_seconds(std::size_t device, const WorkRange& work_range) const {
    const std::scoped_lock lock(state_.mutex);
    const auto place = state_.participants.participant_of(device);
    if (!place) return std::nullopt;
    return state_.running().schedule.state().expected_seconds(*place, work_of(work_range));
}

std::optional<JobForecast::Clock::time_point> JobForecast::standby_steps_in() const {
    const std::scoped_lock lock(state_.mutex);
    if (!state_.life.has_started() || state_.life.has_ended()) return std::nullopt;
    const RunningJob& run = state_.running();
    if (!run.schedule.state().standby_waits(run.account.now())) return std::nullopt;
    const std::chrono::duration<double> patience(run.schedule.state().standby_steps_in());
    return run.account.begun() + std::chrono::duration_cast<Clock::duration>(patience);
}

std::optional<JobForecast::Clock::time_point> JobForecast::asks_again(std::size_t device) const {
    const auto place = state_.participants.participant_of(device);
    if (!place) return std::nullopt;
    if (!state_.participants[*place].standby.empty())
        if (const auto steps_in = standby_steps_in()) return steps_in;
    const std::scoped_lock lock(state_.mutex);
    if (!state_.life.is_running() || !state_.running().schedule.state().waits_for_others(*place))
        return std::nullopt;
    return Clock::now() + patience_with_others;
}

double JobForecast::charged_seconds() const {
    const std::scoped_lock lock(state_.mutex);
    return state_.running().schedule.state().tasks.charged();
}

} // namespace headrace
