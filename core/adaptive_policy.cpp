// core/adaptive_policy.cpp - see adaptive_policy.hpp.
#include <headrace/core/adaptive_policy.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

namespace headrace {
namespace {

constexpr double parts_of_share = 3;      // a device gets one of them at a time
constexpr double parts_of_slow = 12;      // of a device whose last task others would wait for long
constexpr double slow = 0.25;             // of the best capability
constexpr double worth_it = 2;            // tasks' costs that a device must save the others
constexpr double most_tasks = 128;        // of a device, about, where others could do its last ones
constexpr double least_tasks = 4;         // where they could not
constexpr double moving_parts = 8;        // of the job, where tasks have data of their own
constexpr double first_part = 1.0 / 4096; // of the job, for who was never measured
constexpr double known_part = 1.0 / 4;    // of the share, for who was measured in another job
constexpr double growth = 4;              // from there on, over what it has finished
constexpr double hardly = 1.0 / 40;       // of the best capability: not worth the trouble

/// Who those are that share the job. Of those whose speed is certain some do hardly anything beside the best:
/// they do not count, unless together they do more than that.
class Sharers {
public:
    explicit Sharers(const Progress& progress) {
        for (const DeviceProgress& one : progress.devices)
            if (one.certain) hardly_ = std::max(hardly_, hardly * one.capability);
        double together = 0;
        for (const DeviceProgress& one : progress.devices)
            if (does_hardly_anything(one)) together += one.capability;
        if (together > hardly_) hardly_ = 0;
    }
    [[nodiscard]] bool include(const DeviceProgress& device) const {
        return device.capability > 0 && !does_hardly_anything(device);
    }

private:
    [[nodiscard]] bool does_hardly_anything(const DeviceProgress& device) const {
        return device.certain && device.capability < hardly_;
    }

    double hardly_ = 0;
};

/// When all devices but one are through with what they have and what remains, shared so that they end
/// together. Who has more in flight than that takes longer and is left out.
double common_end(const Progress& progress, const Sharers& sharers, std::optional<std::size_t> without) {
    const auto counts = [&](std::size_t i) { return i != without && sharers.include(progress.devices[i]); };
    const auto busy_until = [&](std::size_t i) {
        return static_cast<double>(progress.devices[i].in_flight) / progress.devices[i].capability;
    };
    double end = std::numeric_limits<double>::infinity(), last = 0;
    do { // each round leaves out somebody more, or is the last
        last = end;
        double work = static_cast<double>(progress.remaining), capability = 0;
        for (std::size_t i = 0; i < progress.devices.size(); ++i) {
            if (!counts(i) || busy_until(i) > last) continue;
            work += static_cast<double>(progress.devices[i].in_flight);
            capability += progress.devices[i].capability;
        }
        end = work / capability;
    } while (end < last);
    return end;
}

} // namespace

std::uint64_t AdaptivePolicy::next(std::size_t device, const Progress& progress) {
    const DeviceProgress& mine = progress.devices[device];
    const Sharers sharers(progress);
    if (progress.remaining == 0 || !sharers.include(mine)) return 0;
    const auto remaining = static_cast<double>(progress.remaining),
               total = static_cast<double>(progress.total);
    const auto in_flight = static_cast<double>(mine.in_flight);
    const double least = std::min(static_cast<double>(std::max<std::uint64_t>(mine.least, 1)), remaining);
    double sum = 0, best = 0;
    std::size_t first_of_best = device;
    for (std::size_t i = 0; i < progress.devices.size(); ++i) {
        const DeviceProgress& one = progress.devices[i];
        if (!sharers.include(one)) continue;
        sum += one.capability;
        if (one.capability > best) first_of_best = i;
        best = std::max(best, one.capability);
    }
    const bool alone = sum == mine.capability;
    const double end_without_me =
        alone ? std::numeric_limits<double>::infinity() : common_end(progress, sharers, device);
    const auto delays = [&](double units) { return (in_flight + units) / mine.capability > end_without_me; };
    const double end = common_end(progress, sharers, {});
    // Not worth beginning with; but who has begun takes a rest that others may be busy for longer than they
    // say. Who may be faster than that, or beside who may be slower, has to be tried.
    const bool begins = mine.finished == 0 && mine.in_flight == 0;
    const bool is_certain = mine.certain && progress.devices[first_of_best].certain;
    const bool saves_too_little = begins && is_certain && device != first_of_best &&
                                  end_without_me - end < worth_it * progress.task_seconds;
    if (delays(least) || saves_too_little) return 0;

    const double share = std::max(0.0, end * mine.capability - in_flight);
    // Who does nearly all of it needs no others to be even with.
    const double others = (sum - mine.capability) / sum;
    const double parts =
        mine.capability < slow * best ? parts_of_slow : std::min(2 + 2 * others, parts_of_share);
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
        wanted = std::min(wanted, mine.finished > 0 ? growth * finished : share * known_part);
    }
    // Fewer than it has lanes take it as long.
    wanted = std::max(wanted, std::min(share, static_cast<double>(mine.full)));
    wanted = std::clamp(std::floor(wanted), least, remaining);
    // A rest that fills no lane group is not left over.
    if (remaining - wanted < least && !delays(remaining)) return progress.remaining;
    return std::min(static_cast<std::uint64_t>(wanted), progress.remaining);
}

bool AdaptivePolicy::takes_over(std::size_t device, const Progress& progress) const {
    return Sharers(progress).include(progress.devices[device]);
}

} // namespace headrace
