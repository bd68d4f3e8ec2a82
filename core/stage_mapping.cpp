// core/stage_mapping.cpp - see stage_mapping.hpp.
#include <headrace/core/error.hpp>
#include <headrace/core/stage_mapping.hpp>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>

namespace headrace {
namespace {

constexpr double impossible = std::numeric_limits<double>::infinity();
constexpr std::size_t most_devices = 10;

/// Of pieces [begin, end) on a device. Sums are taken piece by piece, for one that cannot is infinite.
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

/// The search, for one criterion at a time: what a way costs is joined from its parts.
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
    }

    /// The shortest period.
    double period() {
        limit_ = impossible;
        run([](double way, double part, double transfer) { return std::max({way, part, transfer}); });
        return best_.cost;
    }
    /// The least latency of those with no longer period.
    StageMapping mapping(double period) {
        limit_ = period;
        run([](double way, double part, double transfer) { return way + part + transfer; });
        return mapping_of(best_);
    }

private:
    /// A way for a set of devices, the last of which is known, to do the first pieces.
    struct Way {
        double cost = impossible;
        std::uint32_t begin = 0;  ///< of the last device's part
        std::uint32_t before = 0; ///< the device before it, if begin > 0
    };
    struct End {
        double cost = impossible;
        std::uint32_t set = 0, last = 0;
    };

    /// Of a set's ways that end with a device and at a piece.
    Way& way(std::uint32_t set, std::size_t last, std::size_t end) {
        return ways_[(set * devices_.size() + last) * (pieces_ + 1) + end];
    }
    [[nodiscard]] double transfer(std::size_t from, std::size_t to, std::size_t piece) const {
        return costs_.transfer ? costs_.transfer(devices_[from], devices_[to], piece) : 0;
    }

    template <class Join>
    void run(const Join& join) {
        ways_.assign((std::size_t{1} << devices_.size()) * devices_.size() * (pieces_ + 1), {});
        best_ = {};
        for (std::uint32_t set = 1; set < 1U << devices_.size(); ++set) // subsets come before
            for (std::size_t last = 0; last < devices_.size(); ++last)
                if ((set >> last & 1) != 0) extend(set, last, join);
    }

    /// The last device's part grows from its end towards the stream's beginning.
    template <class Join>
    void extend(std::uint32_t set, std::size_t last, const Join& join) {
        const auto& seconds = costs_.seconds[devices_[last]];
        const std::uint32_t others = set & ~(1U << last);
        for (std::size_t end = 1; end <= pieces_; ++end) {
            Way& best = way(set, last, end);
            double part = 0;
            for (std::size_t begin = end; begin-- > 0;) {
                part += seconds[begin];
                const double alone = join(0, part, 0);
                if (part > limit_ || alone >= best.cost || alone > best_.cost) break;
                if (begin == 0) {
                    if (others == 0) best = {alone, 0, 0};
                    break;
                }
                for (std::size_t before = 0; before < devices_.size(); ++before) {
                    if ((others >> before & 1) == 0) continue;
                    const double way_there = way(others, before, begin).cost;
                    if (way_there >= best.cost) continue;
                    const double moved = transfer(before, last, begin);
                    if (moved > limit_) continue;
                    const double cost = join(way_there, part, moved);
                    if (cost < best.cost)
                        best = {cost, static_cast<std::uint32_t>(begin), static_cast<std::uint32_t>(before)};
                }
            }
            if (end == pieces_ && std::isfinite(best.cost) && is_better(best.cost, set))
                best_ = {best.cost, set, static_cast<std::uint32_t>(last)};
        }
    }

    /// Of equal ones, that with fewer devices.
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
    std::vector<std::size_t> devices_; ///< that are looked at
    std::vector<Way> ways_;
    double limit_ = impossible; ///< no part and no transfer takes longer
    End best_;
};

} // namespace

double StageMapping::seconds(std::size_t items) const {
    return items == 0 ? 0 : latency + static_cast<double>(items - 1) * period;
}

StageMapping map_stages(const StreamCosts& costs) {
    check(costs);
    Search search(costs);
    const double period = search.period();
    if (!std::isfinite(period))
        throw Error{ErrorKind::invalid_argument, "no devices can do all pieces of the stream, each one part"};
    // Sums in another order may differ by their rounding.
    return search.mapping(period * (1 + 1e-12));
}

StageMapping on_one_device(const StreamCosts& costs, std::size_t device) {
    check(costs);
    const std::size_t pieces = costs.seconds.at(device).size();
    const double seconds = seconds_of(costs, device, 0, pieces);
    return {{{device, 0, pieces, seconds, 0}}, seconds, seconds};
}

} // namespace headrace
