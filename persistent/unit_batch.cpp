// persistent/unit_batch.cpp - see unit_batch.hpp.
#include <headrace/persistent/unit_batch.hpp>

#include <headrace/core/error.hpp>

#include <utility>

namespace headrace {

std::uint64_t UnitBatch::size() const {
    std::uint64_t units = 0;
    for (std::uint32_t kind = 0; kind < kinds(); ++kind) units += size(kind);
    return units;
}

void UnitBatch::add(std::uint32_t kind, const std::uint32_t* first, std::uint64_t stride) {
    for (std::uint32_t word = 0; word < unit_words_; ++word) words_[kind].push_back(first[word * stride]);
}

UnitBatch UnitBatch::split(std::uint64_t count) {
    const std::uint64_t all = size();
    HEADRACE_ASSERT(count <= all);
    UnitBatch taken(kinds(), unit_words_), left(kinds(), unit_words_);
    std::uint64_t credit = 0; // of `taken`, in parts of a unit
    for (std::uint32_t kind = 0; kind < kinds(); ++kind)
        for (std::uint64_t number = 0; number < size(kind); ++number) {
            credit += count;
            const bool takes = credit >= all;
            if (takes) credit -= all;
            (takes ? taken : left).add(kind, unit(kind, number), 1);
        }
    *this = std::move(left);
    return taken;
}

} // namespace headrace
