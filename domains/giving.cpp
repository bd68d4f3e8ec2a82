// domains/giving.cpp - who of a job's devices gets what another one has not begun: see job_execution.hpp.
#include <headrace/domains/job_execution.hpp>

#include <algorithm>
#include <utility>

namespace headrace {
namespace {

/// Given units are kept until their job ends, for the case that their device is lost. A job that gives so
/// much has been at it for long, and goes on without.
constexpr Bytes most_given = Bytes{256} << 20;

/// Nobody gives all that it has, though its capability be unknown.
constexpr double least_capability = 1e-3;

/// What fills a lane group; on a processor, whose lanes take turns, anything.
std::uint64_t worth_giving(const DeviceInfo& device) {
    return device.kind == DeviceKind::cpu ? 1 : std::max(1U, device.lane_group);
}

} // namespace

std::optional<Portion> JobExecution::next_given(std::size_t device) {
    const std::scoped_lock lock(mutex_);
    Share* share = share_of(device);
    if (!started_ || stop_reason_ || !share || share->retired) return std::nullopt;
    const bool has_gift = !share->gifts.empty();
    if (!has_gift && (loose_units_.empty() || !takes_units(*share))) return std::nullopt;
    std::vector<Portion>& given = has_gift ? share->gifts : loose_units_;
    const Portion portion = std::move(given.back());
    given.pop_back();
    return give_out(*share, portion);
}

void JobExecution::idle(std::size_t device, bool is_idle) {
    const std::scoped_lock lock(mutex_);
    if (Share* share = share_of(device)) share->idle = is_idle;
}

std::vector<JobExecution::Hungry> JobExecution::hungry(std::size_t giver, Gift gift) const {
    const std::scoped_lock lock(mutex_);
    if (stop_reason_ || !left_.empty() || !returned_.empty() || !loose_units_.empty()) return {};
    if (gift == Gift::units && (!job_.shares_units() || given_bytes_ > most_given)) return {};
    double all = 0;
    std::vector<Hungry> hungry;
    for (std::size_t i = 0; i < shares_.size(); ++i) {
        const Share& share = shares_[i];
        const bool waits = share.idle && !share.retired && share.gifts.empty() &&
                           (gift == Gift::seeds || takes_units(share));
        if (share.who.device == giver)
            all += std::max(capability_[i], least_capability);
        else if (waits && capability_[i] > 0)
            hungry.push_back({share.who.device, capability_[i], worth_giving(*share.who.info)});
    }
    for (const Hungry& one : hungry) all += one.share;
    for (Hungry& one : hungry) one.share /= all;
    return hungry;
}

void JobExecution::give_back(std::size_t giver, IndexRange task, IndexRange part, std::size_t to) {
    const std::scoped_lock lock(mutex_);
    TaskInFlight* const giving = in_flight(giver, task);
    HEADRACE_ASSERT(giving && task.begin <= part.begin && !part.empty());
    giving->portion.range.end = std::min(giving->portion.range.end, part.begin);
    share_of(giver)->figures.seeds_given += part.size();
    hand_to(*share_of(to), part);
}

void JobExecution::give(std::size_t giver, UnitBatch units, std::size_t to) {
    const std::scoped_lock lock(mutex_);
    share_of(giver)->figures.units_given += units.size();
    given_bytes_ += units.bytes();
    hand_to(*share_of(to), number(std::move(units)));
}

void JobExecution::hand_to(Share& share, const Portion& portion) {
    if (share.retired) // since it was hungry
        put_back(portion);
    else
        share.gifts.push_back(portion);
}

Portion JobExecution::keep(std::size_t device, const Portion& portion, std::uint64_t units) {
    const std::scoped_lock lock(mutex_);
    Share& share = *share_of(device);
    UnitBatch left = *portion.units;
    UnitBatch kept = left.split(units);
    take_back(device, portion);
    share.gifts.push_back(number(std::move(left)));
    return give_out(share, number(std::move(kept)));
}

bool JobExecution::takes_units(const Share& share) const {
    const KernelVariant* const variant = job_.variant(share.who.info->technology);
    return variant == nullptr || variant->bind; // a host function takes ranges alone
}

Portion JobExecution::number(UnitBatch units) {
    const std::uint64_t first = given_;
    given_ += units.size();
    return {{first, given_}, std::move(units)};
}

} // namespace headrace
