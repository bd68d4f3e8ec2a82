// persistent/unit_batch.hpp - work units outside all queues, on the host: one engine transfers them to
// another.
#pragma once
#include <headrace/core/export.hpp>

#include <cstdint>
#include <vector>

namespace headrace {

/// The words of a Range (kernel.hpp). Word w is `first[w * stride]`.
class RangeWords {
public:
    RangeWords(std::uint32_t* first, std::uint64_t stride) : first_(first), stride_(stride) {}

    [[nodiscard]] std::uint64_t size() const { return read(end_word) - read(begin_word); }
    void keep_last(std::uint64_t indices) { write(begin_word, read(end_word) - indices); }
    void drop_last(std::uint64_t indices) { write(end_word, read(end_word) - indices); }

private:
    static constexpr std::uint64_t begin_word = 0, end_word = 2;
    [[nodiscard]] std::uint64_t read(std::uint64_t word) const {
        return first_[word * stride_] | std::uint64_t{first_[(word + 1) * stride_]} << 32;
    }
    void write(std::uint64_t word, std::uint64_t value) {
        first_[word * stride_] = static_cast<std::uint32_t>(value);
        first_[(word + 1) * stride_] = static_cast<std::uint32_t>(value >> 32);
    }

    std::uint32_t* first_;
    std::uint64_t stride_;
};

/// Returns how many indices to take of each range: `count` in all, which is at most the sum of `sizes`. Takes
/// whole ranges, spread evenly over the list, and a part of one range.
[[nodiscard]] std::vector<std::uint64_t> deal_ranges(const std::vector<std::uint64_t>& sizes,
                                                     std::uint64_t count);

/// Work units of one kernel as words, kind by kind and unit by unit. A batch has no lane groups, so engines
/// of any width can exchange batches.
///
/// Threads: one at a time.
class HEADRACE_EXPORT UnitBatch {
public:
    /// `ranges`: one bit per kind, set if the kind is a RangeKind.
    UnitBatch(std::uint32_t kinds, std::uint32_t unit_words, std::uint32_t ranges = 0)
        : unit_words_(unit_words), ranges_(ranges), words_(kinds) {}

    [[nodiscard]] std::uint32_t kinds() const noexcept { return static_cast<std::uint32_t>(words_.size()); }
    [[nodiscard]] std::uint32_t unit_words() const noexcept { return unit_words_; } ///< of the largest kind
    [[nodiscard]] std::uint32_t ranges() const noexcept { return ranges_; }
    /// Number of units. A range counts as many units as it has indices.
    [[nodiscard]] std::uint64_t size() const;
    [[nodiscard]] std::uint64_t size(std::uint32_t kind) const;
    /// Number of stored units. A range is stored as one unit.
    [[nodiscard]] std::uint64_t stored() const;
    [[nodiscard]] std::uint64_t stored(std::uint32_t kind) const { return words_[kind].size() / unit_words_; }
    [[nodiscard]] std::uint64_t bytes() const { return stored() * unit_words_ * sizeof(std::uint32_t); }

    /// Adds a unit. Its word w is `first[w * stride]`.
    void add(std::uint32_t kind, const std::uint32_t* first, std::uint64_t stride);
    /// Moves the last `indices` of a range into the batch. Word w of the range is `first[w * stride]`.
    void add_end_of(std::uint32_t kind, std::uint32_t* first, std::uint64_t stride, std::uint64_t indices);
    /// The words of one unit, without gaps.
    [[nodiscard]] const std::uint32_t* unit(std::uint32_t kind, std::uint64_t number) const {
        return words_[kind].data() + number * unit_words_;
    }
    /// Takes `count` of the `size()` units out, spread evenly over the batch, because neighbours are alike.
    /// So both parts get units of each kind and age.
    [[nodiscard]] UnitBatch split(std::uint64_t count);

private:
    [[nodiscard]] bool is_range(std::uint32_t kind) const { return (ranges_ >> kind & 1) != 0; }
    [[nodiscard]] std::uint64_t size_of(std::uint32_t kind, std::uint64_t number) const;

    std::uint32_t unit_words_, ranges_;
    std::vector<std::vector<std::uint32_t>> words_; ///< one vector per kind
};

} // namespace headrace
