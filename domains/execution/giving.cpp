// domains/execution/giving.cpp - which devices of a job receive work that another one has not begun: see
// job_execution.hpp.
#include <headrace/internal/domains/job_execution.hpp>

#include <algorithm>
#include <cmath>
#include <utility>

namespace headrace {
namespace {

/// Limit of transferred units. They are kept until their job ends, in case their device is lost. A job that
/// transfers more has run for long and goes on without transfers.
constexpr Bytes most_given = Bytes{256} << 20;

/// Seconds of work that the donor must save: a transfer costs the donor and the recipient a launch each.
constexpr double seconds_worth_giving = 0.25e-3;

/// A lower bound for the donor's capability, so that a donor with unknown capability keeps some work.
constexpr double least_capability = 1e-3;

/// Number of units that fill a lane group of the device. `lanes`: units that a group of the donor holds at a
/// time. One unit for group kernels (`lanes` 1), and on a processor, since its lanes take turns.
std::uint64_t worth_giving(const DeviceInfo& device, std::uint64_t lanes) {
    return lanes == 1 || device.kind == DeviceKind::cpu ? 1 : std::max(1U, device.lane_group);
}

} // namespace

std::optional<Portion> JobExecution::next_given(std::size_t device) {
    std::unique_lock lock(mutex_);
    Running& run = running();
    Share* share = share_of(device);
    if (!started_ || stop_reason_ || !share || !can_work(*share)) return std::nullopt;
    const bool has_gift = !share->gifts.empty();
    if (!has_gift && (run.loose_units.empty() || !takes_units(*share))) return std::nullopt;
    std::vector<Portion>& given = has_gift ? share->gifts : run.loose_units;
    const Portion portion = std::move(given.back());
    given.pop_back();
    if (!portion.units && !enter_parts(portion.range)) {
        settle_if_ended(std::move(lock));
        return std::nullopt;
    }
    return give_out(*share, portion);
}

bool JobExecution::idle(std::size_t device, bool is_idle) {
    const std::scoped_lock lock(mutex_);
    Running& run = running();
    Share* share = share_of(device);
    if (!share) return false;
    const bool was_idle = std::exchange(share->idle, is_idle);
    if (is_idle) return !was_idle && !run.in_flight.empty() && run.left.empty();
    if (share->gifts.empty()) return false;
    for (const Portion& portion : std::exchange(share->gifts, {})) put_back(portion);
    return true;
}

bool JobExecution::would_take(std::size_t giver, std::uint64_t seeds, std::uint64_t lanes,
                              double seconds) const {
    const std::scoped_lock lock(mutex_);
    Running& run = running();
    const double share = total_share(worth_it(hungry(giver, Gift::seeds, lanes), seeds));
    if (share == 0 || !run.rates.are_per_second()) return share > 0;
    const double known = static_cast<double>(seeds) / run.rates.capability(place_of(*share_of(giver)));
    return share * std::max(seconds, known) >= seconds_worth_giving;
}

std::vector<JobExecution::Hungry> JobExecution::hungry(std::size_t giver, Gift gift,
                                                       std::uint64_t lanes) const {
    Running& run = running();
    if (stop_reason_ || !run.left.empty() || !run.loose_units.empty()) return {};
    if (gift == Gift::units && (!job_.shares_units() || run.given_bytes >= most_given)) return {};
    // Another device that updates the donor's data has to wait until the donor has ended.
    if (gift == Gift::seeds && !is_repeatable()) return {};
    const std::vector<DeviceProgress> devices = device_progress();
    const Progress progress = this->progress(devices);
    double all = 0;
    std::vector<Hungry> hungry;
    for (std::size_t i = 0; i < run.shares.size(); ++i) {
        const Share& share = run.shares[i];
        const bool waits = share.idle && can_work(share) && share.gifts.empty() &&
                           (gift == Gift::seeds || takes_units(share));
        if (share.participant.device == giver)
            all += std::max(relative_capability(i), least_capability);
        else if (waits && run.rates.capability(i) > 0 && takes_over(i, progress))
            hungry.push_back({i, relative_capability(i), worth_giving(*share.participant.info, lanes)});
    }
    for (const Hungry& one : hungry) all += one.share;
    for (Hungry& one : hungry) one.share /= all;
    return hungry;
}

double JobExecution::total_share(const std::vector<Hungry>& hungry) {
    double total = 0;
    for (const Hungry& one : hungry) total += one.share;
    return total;
}

std::vector<JobExecution::Hungry> JobExecution::worth_it(std::vector<Hungry> hungry, std::uint64_t left) {
    std::erase_if(hungry, [left](const Hungry& one) {
        return one.share * static_cast<double>(left) < static_cast<double>(one.least);
    });
    return hungry;
}

bool JobExecution::others_may_take_over(std::size_t device) const {
    if (!several_devices_) return false;
    const std::scoped_lock lock(mutex_);
    const std::vector<DeviceProgress> devices = device_progress();
    const Progress progress = this->progress(devices);
    return std::ranges::any_of(running().shares, [&](const Share& share) {
        return share.participant.device != device && can_work(share) && takes_over(place_of(share), progress);
    });
}

std::uint64_t JobExecution::make_way(std::size_t device, IndexRange task, std::uint64_t unclaimed) {
    const std::scoped_lock lock(mutex_);
    Running& run = running();
    const std::uint64_t cut = task.begin + split(task, unclaimed - task.begin);
    if (cut >= task.end) return task.end;
    cut_off(device, task, cut);
    run.left.push_back({cut, task.end});
    run.has_returns = true;
    return cut;
}

bool JobExecution::has_returns() const {
    const std::scoped_lock lock(mutex_);
    return running().has_returns;
}

/// The donor's task is shorter from here on.
void JobExecution::cut_off(std::size_t giver, IndexRange task, std::uint64_t cut) {
    share_of(giver)->outstanding -= task.end - cut; // nothing had begun with it
    in_flight(giver, task)->portion.range.end = cut;
    for (auto& [use, parts] : running().written) parts.remove(task);
    static_cast<void>(enter_parts({task.begin, cut})); // if it fails, the job fails
}

JobExecution::Appetite JobExecution::appetite(std::size_t giver, std::uint64_t lanes,
                                              std::uint64_t left) const {
    const std::scoped_lock lock(mutex_);
    const std::vector<Hungry> hungry = worth_it(this->hungry(giver, Gift::units, lanes), left);
    Appetite appetite{.share = total_share(hungry),
                      .most = most_given - std::min(running().given_bytes, most_given)};
    for (const Hungry& one : hungry) appetite.least += one.least;
    return appetite;
}

std::uint64_t JobExecution::give_back(std::size_t giver, IndexRange task, std::uint64_t unclaimed,
                                      std::uint64_t lanes) {
    const std::scoped_lock lock(mutex_);
    const std::vector<Hungry> hungry =
        worth_it(this->hungry(giver, Gift::seeds, lanes), task.end - unclaimed);
    if (hungry.empty()) return task.end;
    const auto left = static_cast<double>(task.end - unclaimed);
    // Cuts where the job allows it: a range that begins with the kept units has the length of split().
    const auto kept = static_cast<std::uint64_t>(std::ceil((1 - total_share(hungry)) * left));
    const std::uint64_t cut = task.begin + split(task, unclaimed - task.begin + kept);
    if (cut <= unclaimed || cut >= task.end) return task.end; // the donor keeps some: its task has not ended
    IndexRange rest{cut, task.end};
    for (const Hungry& one : hungry) {
        if (rest.empty()) break;
        const bool is_last = &one == &hungry.back();
        const auto his = static_cast<std::uint64_t>(one.share * left);
        const IndexRange part{rest.begin, is_last ? rest.end : rest.begin + split(rest, his)};
        running().shares[one.place].gifts.emplace_back(part);
        rest.begin = part.end;
    }
    cut_off(giver, task, cut);
    share_of(giver)->counters.seeds_given += task.end - cut;
    return cut;
}

void JobExecution::give(std::size_t giver, UnitBatch units) {
    const std::scoped_lock lock(mutex_);
    Running& run = running();
    share_of(giver)->counters.units_given += units.size();
    run.given_bytes += units.bytes();
    const std::vector<Hungry> hungry = this->hungry(giver, Gift::units, 1); // `least` was checked before
    const double all = static_cast<double>(units.size()) / total_share(hungry);
    for (const Hungry& one : hungry) {
        const bool is_last = &one == &hungry.back();
        const auto his = is_last ? units.size() : static_cast<std::uint64_t>(one.share * all);
        if (his > 0) run.shares[one.place].gifts.push_back(number(units.split(std::min(his, units.size()))));
    }
    if (units.size() > 0) put_back(number(std::move(units))); // no device is idle any more
}

Portion JobExecution::keep(std::size_t device, const Portion& portion, std::uint64_t units) {
    const std::scoped_lock lock(mutex_);
    Share& share = *share_of(device);
    UnitBatch left = *portion.units;
    UnitBatch kept = left.split(units);
    take_back(device, portion);
    put_back(number(std::move(left)));
    return give_out(share, number(std::move(kept)));
}

bool JobExecution::takes_units(const Share& share) const {
    const KernelVariant* const variant = job_.variant(share.participant.info->technology);
    return variant == nullptr || variant->bind; // a host function takes only ranges
}

Portion JobExecution::number(UnitBatch units) {
    Running& run = running();
    const std::uint64_t first = run.given;
    run.given += units.size();
    return {{first, run.given}, std::move(units)};
}

} // namespace headrace
