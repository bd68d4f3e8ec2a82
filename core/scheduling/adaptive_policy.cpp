// core/scheduling/adaptive_policy.cpp - see adaptive_policy.hpp.
#include "scheduling/adaptive_policy.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <vector>

namespace headrace {
namespace {

constexpr double parts_of_share = 3;       // one task gets one of these parts
constexpr double parts_if_certain = 2;     // if the capability is certain
constexpr double parts_if_returned = 1.15; // if also excess work comes back; the rest fills idle lanes
constexpr double parts_of_slow = 12;       // of a slow device: the others would wait long for its last task
constexpr double slow = 0.25;              // of the best capability
constexpr double worth_it = 2;             // a device must save the others the cost of so many tasks
constexpr double most_tasks = 128;         // of a device, roughly, if others could do its last ones
constexpr double least_tasks = 4;          // if others could not
constexpr double moving_parts = 8;         // of the job, if each task has its own data
constexpr double first_part = 1.0 / 4096;  // of the job, for a device that was never measured
constexpr double known_part = 1.0 / 4;     // of the share: measured in another job, but not certain
constexpr double growth = 4;               // of later tasks, over the finished work
constexpr double hardly = 1.0 / 40;        // of the best capability: too little to take part
constexpr double rounding = 1e-9;          // of a time

/// The devices that share the job. Omits standby devices, and devices that certainly contribute too little.
class Sharers {
public:
    explicit Sharers(const Progress& progress) : progress_(progress), shares_(progress.devices.size()) {
        for (std::size_t i = 0; i < shares_.size(); ++i)
            shares_[i] = device(i).capability > 0 && !device(i).on_standby;
        leave_out_those_who_do_hardly_anything();
        leave_out_those_who_save_too_little();
        for (std::size_t i = 0; i < shares_.size(); ++i)
            if (shares_[i]) capability_ += device(i).capability;
    }

    [[nodiscard]] bool include(std::size_t i) const { return shares_[i]; }
    [[nodiscard]] double capability() const { return capability_; }
    [[nodiscard]] double best_capability() const { return best() ? device(*best()).capability : 0; }

    /// The time at which all devices, or all but one, have done their work in flight and the remaining work,
    /// shared so that they end together. A device with more work in flight than that is left out.
    [[nodiscard]] double end(std::optional<std::size_t> without = {}) const {
        return std::max(end_of_parts(without), end_of_few_units(without));
    }
    /// When the device has done these units too. One unit takes a rank with several devices as long as one
    /// for each of them.
    [[nodiscard]] double end_of(std::size_t i, double units) const {
        return busy_until(i) + std::max<double>(units, device(i).devices) / device(i).capability;
    }

private:
    [[nodiscard]] const DeviceProgress& device(std::size_t i) const { return progress_.devices[i]; }
    [[nodiscard]] double busy_until(std::size_t i) const {
        return device(i).away + static_cast<double>(device(i).in_flight) / device(i).capability;
    }

    /// As if work units could be divided at will.
    [[nodiscard]] double end_of_parts(std::optional<std::size_t> without) const {
        double end = std::numeric_limits<double>::infinity(), last = 0;
        do { // each round leaves out one more device, or is the last one
            last = end;
            double work = static_cast<double>(progress_.remaining), capability = 0;
            for (std::size_t i = 0; i < shares_.size(); ++i) {
                if (!shares_[i] || i == without || busy_until(i) > last) continue;
                work += busy_until(i) * device(i).capability;
                capability += device(i).capability;
            }
            end = work / capability;
        } while (end < last);
        return end;
    }

    /// Of few units each is done whole, by one device: the first time at which as many can be done as remain.
    /// Zero: there are more units than devices.
    [[nodiscard]] double end_of_few_units(std::optional<std::size_t> without) const {
        const auto remaining = static_cast<double>(progress_.remaining);
        const auto takes_part = [&](std::size_t i) { return shares_[i] && i != without; };
        double devices = 0, late = std::numeric_limits<double>::infinity();
        for (std::size_t i = 0; i < shares_.size(); ++i) {
            if (shares_[i]) devices += device(i).devices;
            if (takes_part(i)) late = std::min(late, end_of(i, remaining)); // one device does all
        }
        if (remaining > devices || std::isinf(late)) return 0;
        const auto are_enough = [&](double time) {
            double done = 0;
            for (std::size_t i = 0; i < shares_.size(); ++i)
                if (takes_part(i) && time >= end_of(i, 1))
                    done += std::floor((time - busy_until(i)) * device(i).capability);
            return done >= remaining;
        };
        late *= 1 + rounding;
        for (double early = 0; late - early > rounding * late;) {
            const double middle = (early + late) / 2;
            (are_enough(middle) ? late : early) = middle;
        }
        return late;
    }

    [[nodiscard]] std::optional<std::size_t> best() const {
        std::optional<std::size_t> best;
        for (std::size_t i = 0; i < shares_.size(); ++i)
            if (shares_[i] && (!best || device(i).capability > device(*best).capability)) best = i;
        return best;
    }

    /// Compared with the best certain device. Keeps them if together they do more than the limit.
    void leave_out_those_who_do_hardly_anything() {
        double least = 0, together = 0;
        for (std::size_t i = 0; i < shares_.size(); ++i)
            if (shares_[i] && device(i).certain) least = std::max(least, hardly * device(i).capability);
        const auto does_hardly_anything = [&](std::size_t i) {
            return shares_[i] && device(i).certain && device(i).capability < least;
        };
        for (std::size_t i = 0; i < shares_.size(); ++i)
            if (does_hardly_anything(i)) together += device(i).capability;
        if (together > least) return;
        for (std::size_t i = 0; i < shares_.size(); ++i)
            if (does_hardly_anything(i)) shares_[i] = false;
    }

    /// Leaves out only devices that have not begun. A device that has begun can take over work while the
    /// others are busy for longer than estimated. If the capability of a device, or of the best one, is not
    /// certain, the device must be tried.
    void leave_out_those_who_save_too_little() {
        const std::optional<std::size_t> best = this->best();
        // When no work remains, the others may still hold work that they have not begun and that in_flight
        // does not contain.
        if (!best || !device(*best).certain || progress_.remaining == 0) return;
        for (std::size_t i = 0; i < shares_.size(); ++i) {
            const bool begins = device(i).finished == 0 && device(i).in_flight == 0;
            if (!shares_[i] || i == *best || !begins || !device(i).certain) continue;
            if (end(i) - end() < worth_it * progress_.task_seconds) shares_[i] = false;
        }
    }

    const Progress& progress_;
    std::vector<bool> shares_;
    double capability_ = 0;
};

} // namespace

std::uint64_t AdaptivePolicy::next(std::size_t device, const Progress& progress) {
    const DeviceProgress& mine = progress.devices[device];
    if (progress.remaining == 0) return 0;
    const Sharers sharers(progress);
    if (!sharers.include(device)) return 0;
    const auto remaining = static_cast<double>(progress.remaining),
               total = static_cast<double>(progress.total);
    const auto in_flight = static_cast<double>(mine.in_flight);
    const double least = std::min(static_cast<double>(std::max<std::uint64_t>(mine.least, 1)), remaining);
    const double sum = sharers.capability(), best = sharers.best_capability();
    const bool alone = sum == mine.capability;
    const double end_without_me = alone ? std::numeric_limits<double>::infinity() : sharers.end(device);
    const auto delays = [&](double units) { return sharers.end_of(device, units) > end_without_me; };
    if (delays(least)) return 0;

    const double end = sharers.end();
    const double share = std::max(0.0, end * mine.capability - in_flight);
    // The part of the others. A device that does nearly all of the work need not match the ends of the
    // others.
    const double others = (sum - mine.capability) / sum;
    const double most_parts = !mine.certain     ? parts_of_share
                              : mine.gives_back ? parts_if_returned
                                                : parts_if_certain;
    const double parts = mine.capability < slow * best ? parts_of_slow : std::min(2 + 2 * others, most_parts);
    const double tasks = std::clamp(2 * others * most_tasks, least_tasks, most_tasks);
    double wanted = std::max(share / parts, total * (1 - others) / tasks);
    wanted = std::max(wanted, mine.capability * progress.task_seconds * worth_it);
    if (progress.moves_data) wanted = std::min(wanted, total / moving_parts);
    if (!alone && !mine.measured) {
        // A task that does not fill the lanes shows little of the device's speed.
        const double first = std::max(total * first_part, static_cast<double>(mine.full));
        wanted = std::min(wanted, first);
    } else if (!alone) {
        const auto finished = static_cast<double>(mine.finished);
        if (mine.finished > 0)
            wanted = std::min(wanted, growth * finished);
        else if (!mine.certain)
            wanted = std::min(wanted, share * known_part);
    }
    // Fewer work units than lanes take just as long.
    wanted = std::max(wanted, std::min(share, static_cast<double>(mine.full)));
    wanted = std::clamp(std::floor(wanted), least, remaining);
    // Leave no rest that is smaller than a lane group.
    if (remaining - wanted < least && !delays(remaining)) return progress.remaining;
    return std::min(static_cast<std::uint64_t>(wanted), progress.remaining);
}

bool AdaptivePolicy::takes_over(std::size_t device, const Progress& progress) const {
    return Sharers(progress).include(device);
}

} // namespace headrace
