// persistent/engine/unit_batch.cpp - see unit_batch.hpp.
#include <headrace/persistent/unit_batch.hpp>

#include <headrace/core/error.hpp>

#include <algorithm>
#include <numeric>
#include <utility>

namespace headrace {

std::vector<std::uint64_t> deal_ranges(const std::vector<std::uint64_t>& sizes, std::uint64_t count) {
    std::vector<std::uint64_t> taken(sizes.size());
    const std::uint64_t all = std::accumulate(sizes.begin(), sizes.end(), std::uint64_t{0});
    HEADRACE_ASSERT(count <= all);
    std::uint64_t left = count;
    double credit = 0;
    for (std::size_t i = 0; i < sizes.size(); ++i) {
        const auto size = static_cast<double>(sizes[i]);
        credit += size * static_cast<double>(count) / static_cast<double>(all);
        if (credit < size || left < sizes[i]) continue;
        credit -= size;
        left -= taken[i] = sizes[i];
    }
    // Apart from rounding, the rest fits into the longest of the other ranges.
    while (left > 0) {
        std::size_t longest = 0;
        for (std::size_t i = 1; i < sizes.size(); ++i)
            if (sizes[i] - taken[i] > sizes[longest] - taken[longest]) longest = i;
        const std::uint64_t more = std::min(left, sizes[longest] - taken[longest]);
        taken[longest] += more;
        left -= more;
    }
    return taken;
}

std::uint64_t UnitBatch::size_of(std::uint32_t kind, std::uint64_t number) const {
    if (!is_range(kind)) return 1;
    std::uint32_t indices[4];
    std::copy_n(unit(kind, number), 4, indices);
    return RangeWords(indices, 1).size();
}

std::uint64_t UnitBatch::size(std::uint32_t kind) const {
    if (!is_range(kind)) return stored(kind);
    std::uint64_t units = 0;
    for (std::uint64_t number = 0; number < stored(kind); ++number) units += size_of(kind, number);
    return units;
}

std::uint64_t UnitBatch::size() const {
    std::uint64_t units = 0;
    for (std::uint32_t kind = 0; kind < kinds(); ++kind) units += size(kind);
    return units;
}

std::uint64_t UnitBatch::stored() const {
    std::uint64_t units = 0;
    for (std::uint32_t kind = 0; kind < kinds(); ++kind) units += stored(kind);
    return units;
}

void UnitBatch::add(std::uint32_t kind, const std::uint32_t* first, std::uint64_t stride) {
    for (std::uint32_t word = 0; word < unit_words_; ++word) words_[kind].push_back(first[word * stride]);
}

void UnitBatch::add_end_of(std::uint32_t kind, std::uint32_t* first, std::uint64_t stride,
                           std::uint64_t indices) {
    HEADRACE_ASSERT(is_range(kind));
    add(kind, first, stride);
    RangeWords(words_[kind].data() + words_[kind].size() - unit_words_, 1).keep_last(indices);
    RangeWords(first, stride).drop_last(indices);
}

UnitBatch UnitBatch::split(std::uint64_t count) {
    std::uint64_t plain = 0;
    std::vector<std::uint64_t> sizes; // of the ranges, kind by kind
    for (std::uint32_t kind = 0; kind < kinds(); ++kind)
        for (std::uint64_t number = 0; number < stored(kind); ++number)
            if (is_range(kind))
                sizes.push_back(size_of(kind, number));
            else
                ++plain;
    const std::uint64_t in_ranges = std::accumulate(sizes.begin(), sizes.end(), std::uint64_t{0});
    const std::uint64_t all = plain + in_ranges;
    HEADRACE_ASSERT(count <= all);
    // Ranges may be so long that this needs doubles. Plain units are in memory.
    const std::uint64_t of_plain =
        in_ranges == 0
            ? count
            : std::clamp(static_cast<std::uint64_t>(static_cast<double>(plain) / static_cast<double>(all) *
                                                    static_cast<double>(count)),
                         count - std::min(count, in_ranges), std::min(count, plain));
    const std::vector<std::uint64_t> of_ranges = deal_ranges(sizes, count - of_plain);

    UnitBatch taken(kinds(), unit_words_, ranges_), left(kinds(), unit_words_, ranges_);
    std::uint64_t credit = 0; // of `taken`, in 1/`plain` of a unit
    std::size_t range = 0;
    for (std::uint32_t kind = 0; kind < kinds(); ++kind)
        for (std::uint64_t number = 0; number < stored(kind); ++number) {
            std::uint32_t* const words = words_[kind].data() + number * unit_words_;
            bool takes = false;
            if (is_range(kind)) {
                const std::uint64_t size = sizes[range], part = of_ranges[range];
                ++range;
                takes = part == size;
                if (!takes && part > 0) taken.add_end_of(kind, words, 1, part);
            } else {
                credit += of_plain;
                takes = credit >= plain;
                if (takes) credit -= plain;
            }
            (takes ? taken : left).add(kind, words, 1);
        }
    *this = std::move(left);
    return taken;
}

} // namespace headrace
