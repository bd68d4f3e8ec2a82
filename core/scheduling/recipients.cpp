// core/scheduling/recipients.cpp - see recipients.hpp.
#include <headrace/internal/core/recipients.hpp>

#include <algorithm>
#include <utility>

namespace headrace {

Recipients::Recipients(std::vector<One> all, double donor) : all_(std::move(all)) {
    for (const One& one : all_) donor += one.share;
    for (One& one : all_) one.share /= donor;
}

Recipients Recipients::that_pay(std::uint64_t left) const {
    Recipients some;
    for (const One& one : all_)
        if (one.share * static_cast<double>(left) >= static_cast<double>(one.least)) some.all_.push_back(one);
    return some;
}

double Recipients::share() const {
    double total = 0;
    for (const One& one : all_) total += one.share;
    return total;
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
    const double all = static_cast<double>(units) / share();
    for (const One& one : all_) {
        const bool is_last = &one == &all_.back();
        const auto wanted = is_last ? units : std::min(static_cast<std::uint64_t>(one.share * all), units);
        if (wanted == 0) continue;
        parts.emplace_back(one.participant, wanted);
        units -= wanted;
    }
    return parts;
}

} // namespace headrace
