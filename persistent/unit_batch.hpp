// persistent/unit_batch.hpp - work units outside of all queues, on the host: what one engine gives and
// another takes.
#pragma once
#include <headrace/core/export.hpp>

#include <cstdint>
#include <vector>

namespace headrace {

/// Work units of one kernel as words, kind by kind and unit after unit. It knows nothing of lane groups, so
/// that engines of any width exchange them.
///
/// Threads: one at a time.
class HEADRACE_EXPORT UnitBatch {
public:
    UnitBatch(std::uint32_t kinds, std::uint32_t unit_words) : unit_words_(unit_words), words_(kinds) {}

    [[nodiscard]] std::uint32_t kinds() const noexcept { return static_cast<std::uint32_t>(words_.size()); }
    [[nodiscard]] std::uint32_t unit_words() const noexcept { return unit_words_; } ///< of the largest kind
    [[nodiscard]] std::uint64_t size(std::uint32_t kind) const { return words_[kind].size() / unit_words_; }
    [[nodiscard]] std::uint64_t size() const;
    [[nodiscard]] std::uint64_t bytes() const { return size() * unit_words_ * sizeof(std::uint32_t); }

    /// A unit whose word w is first[w * stride].
    void add(std::uint32_t kind, const std::uint32_t* first, std::uint64_t stride);
    /// Its words, one after the other.
    [[nodiscard]] const std::uint32_t* unit(std::uint32_t kind, std::uint64_t number) const {
        return words_[kind].data() + number * unit_words_;
    }
    /// Takes `count` units out, of the size() that there are. As evenly as cards are dealt: neighbours are
    /// alike, and units of one kind or age should not all go to one side.
    [[nodiscard]] UnitBatch split(std::uint64_t count);

private:
    std::uint32_t unit_words_;
    std::vector<std::vector<std::uint32_t>> words_; ///< by kind
};

} // namespace headrace
