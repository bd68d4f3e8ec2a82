// domains/execution/paused_work.cpp - see paused_work.hpp.
#include "execution/paused_work.hpp"
#include "execution/task_metrics.hpp"

#include <algorithm>
#include <utility>

namespace headrace {
namespace {

constexpr std::chrono::milliseconds telling_time{2}; // in which a producer's groups have worked off a claim

} // namespace

bool PausedWork::would_be_taken(std::uint64_t claimed, Duration busy) const {
    const auto [begin, end] = task_.range;
    const auto done = static_cast<double>(std::max<std::uint64_t>(claimed - begin, 1));
    const double seconds =
        std::chrono::duration<double>(busy).count() * static_cast<double>(end - claimed) / done;
    return job_.transfers().would_take(device_, end - claimed, engine_.shape().lanes, seconds);
}

void PausedWork::report_progress(bool is_shared) const {
    const auto busy = sum(engine_.launch_times());
    job_.ran(device_, task_, busy);
    if (is_shared || task_.units) return;
    const SeedRange unclaimed = engine_.unclaimed();
    const std::uint64_t upto = unclaimed.empty() ? task_.range.end : unclaimed.next;
    if (engine_.shape().kinds == 0) // a consumer's seeds are done or not begun with, as units remain
        job_.paused(device_, task_, task_.range.size() - engine_.remaining(), busy);
    else if (busy < telling_time) // all groups have claimed some, and have done hardly anything
        job_.begun(device_, task_, upto - task_.range.begin);
    else
        job_.paused(device_, task_, upto - task_.range.begin, busy);
}

bool PausedWork::transfer_seeds() {
    const SeedRange unclaimed = engine_.unclaimed();
    if (unclaimed.empty()) return false;
    const std::uint64_t cut = job_.transfers().make_way(device_, task_.range, unclaimed.next);
    if (cut == task_.range.end) return false;
    engine_.give_back(cut);
    task_.range.end = cut;
    return true;
}

/// Seeds that no lane group has claimed are as good as a range that no device has.
bool PausedWork::share_seeds() {
    const SeedRange unclaimed = engine_.unclaimed();
    if (unclaimed.empty() || !would_be_taken(unclaimed.next, sum(engine_.launch_times()))) return false;
    const std::uint64_t cut =
        job_.transfers().give_back(device_, task_.range, unclaimed.next, engine_.shape().lanes);
    if (cut == task_.range.end) return false;
    engine_.give_back(cut);
    task_.range.end = cut;
    return true;
}

/// How many units spring from a unit is not known. In the time of another launch, a recipient that got too
/// much can transfer some back.
bool PausedWork::share_units(std::chrono::nanoseconds launch_time) {
    if (sum(engine_.launch_times()) < launch_time) return false;
    const std::uint64_t left = engine_.remaining();
    if (left == 0) return false; // it paused when all it has left was injected a moment ago
    const ScheduleState::Demand demand = job_.transfers().demand(device_, engine_.shape().lanes, left);
    if (demand.share == 0) return false;
    UnitBatch units = engine_.transfer(demand.share, demand.least, demand.most_bytes);
    if (units.size() == 0) return false;
    job_.transfers().transfer(device_, std::move(units));
    return true;
}

} // namespace headrace
