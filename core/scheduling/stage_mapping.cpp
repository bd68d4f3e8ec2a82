// core/scheduling/stage_mapping.cpp - see stage_mapping.hpp.
#include <headrace/core/error.hpp>
#include <headrace/core/stage_mapping.hpp>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>
#include <optional>

namespace headrace {
namespace {

constexpr double impossible = std::numeric_limits<double>::infinity();
constexpr std::size_t most_devices = 10;
constexpr double sum_rounding = 1e-12; // relative difference between sums in another order

/// Seconds of pieces [begin, end) on a device. Sums piece by piece: differences of prefix sums would fail,
/// because a piece that the device cannot do is infinite.
double seconds_of(const StreamCosts& costs, std::size_t device, std::size_t begin, std::size_t end) {
    const auto first = costs.seconds[device].begin();
    return std::accumulate(first + static_cast<std::ptrdiff_t>(begin),
                           first + static_cast<std::ptrdiff_t>(end), 0.0);
}

void check(const StreamCosts& costs) {
    const auto refuse = [](const char* why) { throw Error{ErrorKind::invalid_argument, why}; };
    if (costs.seconds.empty() || costs.seconds.front().empty())
        refuse("a stream needs a device and a piece of work at least");
    const std::size_t pieces = costs.seconds.front().size();
    for (const auto& device : costs.seconds) {
        if (device.size() != pieces) refuse("every device needs a time for every piece of the stream");
        for (const double seconds : device)
            if (std::isnan(seconds) || seconds < 0) refuse("a piece of a stream takes a time that is none");
    }
}

/// The search, for one criterion at a time. A function `join` combines the costs of the parts of a way.
class Search {
public:
    explicit Search(const StreamCosts& costs) : costs_(costs), pieces_(costs.seconds.front().size()) {
        devices_.resize(costs.seconds.size());
        std::iota(devices_.begin(), devices_.end(), 0);
        if (devices_.size() > most_devices) {
            std::ranges::stable_sort(
                devices_, {}, [&](std::size_t device) { return seconds_of(costs_, device, 0, pieces_); });
            devices_.resize(most_devices);
            std::ranges::sort(devices_);
        }
        for (const std::size_t from : devices_)
            for (const std::size_t to : devices_)
                for (std::size_t piece = 0; piece < pieces_; ++piece)
                    transfers_.push_back(
                        from != to && piece > 0 && costs_.transfer ? costs_.transfer(from, to, piece) : 0);
    }

    /// The shortest period.
    double period() {
        limit_ = impossible;
        run(impossible, [](double way, double part, double transfer) {
            return std::max({way, part, transfer});
        });
        return best_.cost;
    }
    /// The mapping with the least latency and at most this period; nothing if every latency is above `most`.
    std::optional<StageMapping> mapping(double period, double most = impossible) {
        limit_ = period;
        run(most, [](double way, double part, double transfer) { return way + part + transfer; });
        if (best_.set == 0) return std::nullopt;
        return mapping_of(best_);
    }

private:
    /// A way for a set of devices, with a given last device, to do the first pieces.
    struct Way {
        double cost = impossible;
        std::uint32_t begin = 0;  ///< of the last device's part
        std::uint32_t before = 0; ///< the device before it, if begin > 0
    };
    struct End {
        double cost = impossible;
        std::uint32_t set = 0, last = 0;
    };

    /// The best way of a set with this last device, for the pieces before `end`.
    Way& way(std::uint32_t set, std::size_t last, std::size_t end) {
        return ways_[(set * devices_.size() + last) * (pieces_ + 1) + end];
    }
    [[nodiscard]] double transfer(std::size_t from, std::size_t to, std::size_t piece) const {
        return transfers_[(from * devices_.size() + to) * pieces_ + piece];
    }

    template <class Join>
    void run(double most, const Join& join) {
        ways_.assign((std::size_t{1} << devices_.size()) * devices_.size() * (pieces_ + 1), {});
        best_ = {most};
        rest_.assign(pieces_ + 1, 0);
        for (std::size_t piece = pieces_; piece-- > 0;) {
            double least = impossible;
            for (const std::size_t device : devices_) least = std::min(least, costs_.seconds[device][piece]);
            rest_[piece] = join(rest_[piece + 1], least * (1 - sum_rounding), 0);
        }
        for (std::uint32_t set = 1; set < 1U << devices_.size(); ++set) // subsets come first
            for (std::size_t last = 0; last < devices_.size(); ++last)
                if ((set >> last & 1) != 0) extend(set, last, join);
    }

    /// For each piece: the best way of the other devices up to it, with the transfer to this device.
    template <class Join>
    void arrive(std::uint32_t others, std::size_t last, const Join& join) {
        arrivals_.assign(pieces_, {});
        for (std::size_t before = 0; before < devices_.size(); ++before) {
            if ((others >> before & 1) == 0) continue;
            for (std::size_t piece = 1; piece < pieces_; ++piece) {
                const double moved = transfer(before, last, piece);
                if (moved > limit_) continue;
                const double cost = join(way(others, before, piece).cost, 0, moved);
                if (cost < arrivals_[piece].cost)
                    arrivals_[piece] = {cost, static_cast<std::uint32_t>(piece),
                                        static_cast<std::uint32_t>(before)};
            }
        }
    }

    /// Finds the best ways with this last device. Its part grows from its end towards the first piece.
    template <class Join>
    void extend(std::uint32_t set, std::size_t last, const Join& join) {
        const auto& seconds = costs_.seconds[devices_[last]];
        const std::uint32_t others = set & ~(1U << last);
        arrive(others, last, join);
        for (std::size_t end = 1; end <= pieces_; ++end) {
            Way& best = way(set, last, end);
            double part = 0;
            for (std::size_t begin = end; begin-- > 0;) {
                part += seconds[begin];
                const double alone = join(0, part, 0);
                if (part > limit_ || alone >= best.cost || join(alone, rest_[end], 0) > best_.cost) break;
                if (begin == 0) {
                    if (others == 0) best = {alone, 0, 0};
                    break;
                }
                const double cost = join(arrivals_[begin].cost, part, 0);
                if (cost < best.cost && join(cost, rest_[end], 0) <= best_.cost)
                    best = {cost, arrivals_[begin].begin, arrivals_[begin].before};
            }
            if (end == pieces_ && std::isfinite(best.cost) && is_better(best.cost, set))
                best_ = {best.cost, set, static_cast<std::uint32_t>(last)};
        }
    }

    /// Of equal costs, fewer devices are better.
    [[nodiscard]] bool is_better(double cost, std::uint32_t set) const {
        return cost < best_.cost || (cost == best_.cost && std::popcount(set) < std::popcount(best_.set));
    }

    StageMapping mapping_of(End end) {
        StageMapping mapping;
        std::uint32_t set = end.set, last = end.last;
        for (std::size_t pieces = pieces_; pieces > 0;) {
            const Way here = way(set, last, pieces);
            const std::size_t device = devices_[last];
            const double moved = here.begin > 0 ? transfer(here.before, last, here.begin) : 0;
            mapping.parts.push_back(
                {device, here.begin, pieces, seconds_of(costs_, device, here.begin, pieces), moved});
            set &= ~(1U << last);
            last = here.before;
            pieces = here.begin;
        }
        std::ranges::reverse(mapping.parts);
        for (const StagePart& part : mapping.parts) {
            mapping.period = std::max({mapping.period, part.seconds, part.transfer_in});
            mapping.latency += part.seconds + part.transfer_in;
        }
        return mapping;
    }

    const StreamCosts& costs_;
    const std::size_t pieces_;
    std::vector<std::size_t> devices_; ///< the considered devices
    std::vector<double> transfers_;    ///< [from][to][piece], between these devices
    std::vector<Way> ways_, arrivals_;
    std::vector<double> rest_;  ///< [piece]: the least cost of this piece and all later ones
    double limit_ = impossible; ///< no part and no transfer takes longer
    End best_;
};

} // namespace

double StageMapping::seconds(std::size_t items) const {
    return items == 0 ? 0 : latency + static_cast<double>(items - 1) * period;
}

StageMapping map_stages(const StreamCosts& costs, std::optional<std::size_t> items) {
    check(costs);
    if (items == 0) throw Error{ErrorKind::invalid_argument, "a stream of no items has no mapping"};
    Search search(costs);
    const double period = search.period();
    if (!std::isfinite(period))
        throw Error{ErrorKind::invalid_argument, "no devices can do all pieces of the stream, each one part"};
    const double shortest = period * (1 + sum_rounding);
    StageMapping best = search.mapping(shortest).value();
    if (!items) return best;
    const auto later = static_cast<double>(*items - 1); // items after the first; each adds a period
    for (double limit = impossible; limit > shortest;) {
        const double known = best.seconds(*items) * (1 + sum_rounding);
        const std::optional<StageMapping> other = search.mapping(limit, known - later * period);
        if (!other) break;
        const double seconds = other->seconds(*items);
        const bool is_as_good = seconds <= known && other->parts.size() < best.parts.size();
        if (seconds < best.seconds(*items) * (1 - sum_rounding) || is_as_good) best = *other;
        // A mapping with a shorter period has at least this latency. The next limit is the longest period
        // that can still improve the time.
        const double left = later > 0 ? (best.seconds(*items) - other->latency) / later : 0;
        limit = std::min(left, other->period) * (1 - sum_rounding);
    }
    return best;
}

StageMapping on_one_device(const StreamCosts& costs, std::size_t device) {
    check(costs);
    const std::size_t pieces = costs.seconds.at(device).size();
    const double seconds = seconds_of(costs, device, 0, pieces);
    return {{{device, 0, pieces, seconds, 0}}, seconds, seconds};
}

double seconds_of_whole_items(const StreamCosts& costs, std::size_t items) {
    check(costs);
    std::vector<double> each;
    double items_per_second = 0;
    for (std::size_t device = 0; device < costs.seconds.size(); ++device) {
        each.push_back(seconds_of(costs, device, 0, costs.seconds[device].size()));
        items_per_second += 1 / each.back();
    }
    if (items == 0 || std::isinf(items_per_second)) return 0;
    if (items_per_second == 0) return impossible;
    // The time if items could be divided. Each device does its whole items in this time. Fewer items than
    // devices remain; they are assigned one by one.
    const double at_least = static_cast<double>(items) / items_per_second;
    std::vector<double> next_ends;
    std::size_t done = 0;
    double seconds = 0;
    for (const double one : each) {
        const double mine = std::floor(at_least / one);
        done += static_cast<std::size_t>(mine);
        next_ends.push_back((mine + 1) * one);
        if (mine > 0) seconds = std::max(seconds, mine * one);
    }
    for (; done < items; ++done) {
        const auto first = std::ranges::min_element(next_ends);
        seconds = std::max(seconds, *first);
        *first += each[static_cast<std::size_t>(first - next_ends.begin())];
    }
    return seconds;
}

} // namespace headrace
