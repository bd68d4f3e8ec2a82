// core/scheduling/recipients.cpp - see recipients.hpp.
#include <headrace/internal/core/recipients.hpp>

#include <algorithm>
#include <cmath>
#include <utility>

namespace headrace {
namespace {

/// Of a sum of shares: a recipient whose share is a unit, but for this, gets it.
constexpr double share_rounding = 1e-9;

} // namespace

Recipients::Recipients(std::vector<One> all, double donor) : all_(std::move(all)) {
    for (const One& one : all_) donor += one.share;
    for (One& one : all_) one.share /= donor;
}

Recipients Recipients::that_pay(std::uint64_t left) const {
    std::vector<One> some = all_;
    const auto pays = [](const One& one) { return one.share / static_cast<double>(one.least); };
    for (double rest = 1; !some.empty();) { // of the donor and those that are left
        const auto worst = std::ranges::min_element(some, {}, pays);
        if (pays(*worst) * static_cast<double>(left) >= rest - share_rounding) break;
        rest -= worst->share;
        some.erase(worst);
    }
    const double donor = 1 - share();
    return {std::move(some), donor};
}

double Recipients::share() const {
    double total = 0;
    for (const One& one : all_) total += one.share;
    return total;
}

std::uint64_t Recipients::kept(std::uint64_t left) const {
    return static_cast<std::uint64_t>(std::ceil((1 - share() - share_rounding) * static_cast<double>(left)));
}

std::uint64_t Recipients::least() const {
    std::uint64_t least = 0;
    for (const One& one : all_) least += one.least;
    return least;
}

std::vector<std::pair<std::size_t, IndexRange>> Recipients::cut(IndexRange rest, std::uint64_t left,
                                                                const Division& division) const {
    std::vector<std::pair<std::size_t, IndexRange>> parts;
    for (const One& one : all_) {
        if (rest.empty()) break;
        const bool is_last = &one == &all_.back();
        const auto wanted = static_cast<std::uint64_t>(one.share * static_cast<double>(left));
        const IndexRange part{rest.begin, is_last ? rest.end : rest.begin + division.split(rest, wanted)};
        parts.emplace_back(one.participant, part);
        rest.begin = part.end;
    }
    return parts;
}

std::vector<std::pair<std::size_t, std::uint64_t>> Recipients::deal(std::uint64_t units) const {
    std::vector<std::pair<std::size_t, std::uint64_t>> parts;
    // Each ends where the sum of the shares so far does: few units go to as many recipients.
    const double all = static_cast<double>(units) / share();
    double sum = 0;
    std::uint64_t dealt = 0;
    for (const One& one : all_) {
        sum += one.share;
        const bool is_last = &one == &all_.back();
        const std::uint64_t end =
            is_last ? units : std::clamp(static_cast<std::uint64_t>(std::round(sum * all)), dealt, units);
        if (end > dealt) parts.emplace_back(one.participant, end - dealt);
        dealt = end;
    }
    return parts;
}

} // namespace headrace
