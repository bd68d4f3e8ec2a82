// core/scheduling/adaptive_policy.cpp - see adaptive_policy.hpp.
#include "scheduling/adaptive_policy.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <vector>

namespace headrace {
namespace {

constexpr double parts_of_share = 3;       // a device gets one of them at a time
constexpr double parts_if_certain = 2;     // if its speed is certain
constexpr double parts_if_returned = 1.15; // and what was too much comes back; the rest fills idle lanes
constexpr double parts_of_slow = 12;       // of a device whose last task others would wait for long
constexpr double slow = 0.25;              // of the best capability
constexpr double worth_it = 2;             // tasks' costs that a device must save the others
constexpr double most_tasks = 128;         // of a device, about, where others could do its last ones
constexpr double least_tasks = 4;          // where they could not
constexpr double moving_parts = 8;         // of the job, where tasks have data of their own
constexpr double first_part = 1.0 / 4096;  // of the job, for who was never measured
constexpr double known_part = 1.0 / 4; // of the share, for who was measured in another job, not for certain
constexpr double growth = 4;           // from there on, over what it has finished
constexpr double hardly = 1.0 / 40;    // of the best capability: not worth the trouble

/// Those who share the job: not who is in reserve, nor, if that is certain, who is not worth the trouble.
class Sharers {
public:
    explicit Sharers(const Progress& progress) : progress_(progress), shares_(progress.devices.size()) {
        for (std::size_t i = 0; i < shares_.size(); ++i)
            shares_[i] = device(i).capability > 0 && !device(i).in_reserve;
        leave_out_those_who_do_hardly_anything();
        leave_out_those_who_save_too_little();
        for (std::size_t i = 0; i < shares_.size(); ++i)
            if (shares_[i]) capability_ += device(i).capability;
    }

    [[nodiscard]] bool include(std::size_t i) const { return shares_[i]; }
    [[nodiscard]] double capability() const { return capability_; }
    [[nodiscard]] double best_capability() const { return best() ? device(*best()).capability : 0; }

    /// When all, or all but one, are through with what they have and what remains, shared so that they end
    /// together. Who has more in flight than that takes longer and is left out.
    [[nodiscard]] double end(std::optional<std::size_t> without = {}) const {
        const auto busy_until = [&](std::size_t i) {
            return static_cast<double>(device(i).in_flight) / device(i).capability;
        };
        double end = std::numeric_limits<double>::infinity(), last = 0;
        do { // each round leaves out somebody more, or is the last
            last = end;
            double work = static_cast<double>(progress_.remaining), capability = 0;
            for (std::size_t i = 0; i < shares_.size(); ++i) {
                if (!shares_[i] || i == without || busy_until(i) > last) continue;
                work += static_cast<double>(device(i).in_flight);
                capability += device(i).capability;
            }
            end = work / capability;
        } while (end < last);
        return end;
    }

private:
    [[nodiscard]] const DeviceProgress& device(std::size_t i) const { return progress_.devices[i]; }

    [[nodiscard]] std::optional<std::size_t> best() const {
        std::optional<std::size_t> best;
        for (std::size_t i = 0; i < shares_.size(); ++i)
            if (shares_[i] && (!best || device(i).capability > device(*best).capability)) best = i;
        return best;
    }

    /// Beside the best whose speed is certain; unless together they do more than that.
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

    /// Not worth beginning with; but who has begun takes a rest that others may be busy for longer than they
    /// say. Who may be faster than that, or beside who may be slower, has to be tried.
    void leave_out_those_who_save_too_little() {
        const std::optional<std::size_t> best = this->best();
        // Once all is given out, what in_flight says is less than what others may have and not have begun.
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
    const auto delays = [&](double units) { return (in_flight + units) / mine.capability > end_without_me; };
    if (delays(least)) return 0;

    const double end = sharers.end();
    const double share = std::max(0.0, end * mine.capability - in_flight);
    // Who does nearly all of it needs no others to be even with.
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
        // What does not fill the lanes says little of what they can do.
        const double first = std::max(total * first_part, static_cast<double>(mine.full));
        wanted = std::min(wanted, first);
    } else if (!alone) {
        const auto finished = static_cast<double>(mine.finished);
        if (mine.finished > 0)
            wanted = std::min(wanted, growth * finished);
        else if (!mine.certain)
            wanted = std::min(wanted, share * known_part);
    }
    // Fewer than it has lanes take it as long.
    wanted = std::max(wanted, std::min(share, static_cast<double>(mine.full)));
    wanted = std::clamp(std::floor(wanted), least, remaining);
    // A rest that fills no lane group is not left over.
    if (remaining - wanted < least && !delays(remaining)) return progress.remaining;
    return std::min(static_cast<std::uint64_t>(wanted), progress.remaining);
}

bool AdaptivePolicy::takes_over(std::size_t device, const Progress& progress) const {
    return Sharers(progress).include(device);
}

} // namespace headrace
