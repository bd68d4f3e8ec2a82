// persistent/detail/liq.hpp - the local inbox queue: a group's own units in its
// own memory, a deque for each kind, no atomics. A group takes the newest units
// from the top, which bounds memory. It shares the oldest units from the bottom.
#pragma once
#include <headrace/persistent/sync.hpp>
#include <headrace/persistent/units.hpp>

#include <bit>

namespace headrace {

/// Positions count modulo 2^32 and are uniform over the group. Units are interleaved in pieces of up to four
/// words. So lanes that access neighbouring positions access neighbouring pieces, each in one instruction.
/// The caller syncs between a write and a read.
template <std::uint32_t UnitWordCount, std::uint32_t KindCount>
class Liq {
    using Words = UnitWords<UnitWordCount>;
    static constexpr std::uint32_t piece_words = UnitWordCount % 4 == 0 ? 4 : UnitWordCount % 2 == 0 ? 2 : 1;
    static constexpr std::uint32_t pieces = UnitWordCount / piece_words;
    struct alignas(4 * piece_words) Piece {
        std::uint32_t word[piece_words];
    };

public:
    /// Borrows `words`, aligned for a piece. `capacity`: units of each kind, a power of two, or 0.
    HEADRACE_GROUP_CODE Liq(std::uint32_t* words, std::uint32_t capacity)
        : pieces_(reinterpret_cast<Piece*>(words)), capacity_(capacity) {}

    HEADRACE_GROUP_CODE std::uint32_t capacity() const { return capacity_; }
    HEADRACE_GROUP_CODE std::uint32_t top(std::uint32_t kind) const { return pick(top_, kind); }
    HEADRACE_GROUP_CODE std::uint32_t bottom(std::uint32_t kind) const { return pick(bottom_, kind); }
    HEADRACE_GROUP_CODE std::uint32_t size(std::uint32_t kind) const { return top(kind) - bottom(kind); }
    HEADRACE_GROUP_CODE std::uint32_t room(std::uint32_t kind) const { return capacity_ - size(kind); }

    /// Units of all kinds in `Set` together.
    template <std::uint32_t Set = ~0u>
    HEADRACE_GROUP_CODE std::uint32_t units() const {
        std::uint32_t units = 0;
        HEADRACE_UNROLL
        for (std::uint32_t kind = 0; kind < KindCount; ++kind)
            if ((Set >> kind & 1) != 0) units += top_[kind] - bottom_[kind];
        return units;
    }
    HEADRACE_GROUP_CODE bool empty() const { return units() == 0; }
    /// The kind with the most units, of the kinds in `Set`.
    template <std::uint32_t Set>
    HEADRACE_GROUP_CODE std::uint32_t fullest() const {
        constexpr std::uint32_t first = std::countr_zero(Set);
        std::uint32_t best = first, units = top_[first] - bottom_[first];
        HEADRACE_UNROLL
        for (std::uint32_t kind = first + 1; kind < KindCount; ++kind)
            if ((Set >> kind & 1) != 0 && top_[kind] - bottom_[kind] > units) {
                best = kind;
                units = top_[kind] - bottom_[kind];
            }
        return best;
    }

    HEADRACE_GROUP_CODE void add(std::uint32_t kind, std::uint32_t units) { move(top_, kind, units); }
    HEADRACE_GROUP_CODE void drop_newest(std::uint32_t kind, std::uint32_t units) {
        move(top_, kind, 0u - units);
    }
    HEADRACE_GROUP_CODE void drop_oldest(std::uint32_t kind, std::uint32_t units) {
        move(bottom_, kind, units);
    }

    HEADRACE_GROUP_CODE Words read(std::uint32_t kind, std::uint32_t position) const {
        const Piece* column = column_of(kind, position);
        Words unit;
        HEADRACE_UNROLL
        for (std::uint32_t p = 0; p < pieces; ++p) {
            const Piece piece = column[place_of(p)];
            HEADRACE_UNROLL
            for (std::uint32_t w = 0; w < piece_words; ++w) unit.word[p * piece_words + w] = piece.word[w];
        }
        return unit;
    }
    HEADRACE_GROUP_CODE void write(std::uint32_t kind, std::uint32_t position, const Words& unit) const {
        Piece* column = column_of(kind, position);
        HEADRACE_UNROLL
        for (std::uint32_t p = 0; p < pieces; ++p) {
            Piece piece;
            HEADRACE_UNROLL
            for (std::uint32_t w = 0; w < piece_words; ++w) piece.word[w] = unit.word[p * piece_words + w];
            column[place_of(p)] = piece;
        }
    }

private:
    /// Of a unit's piece, in its column. It has 32 bits, like all sizes of the queue.
    HEADRACE_GROUP_CODE std::uint32_t place_of(std::uint32_t piece) const { return piece * capacity_; }
    HEADRACE_GROUP_CODE Piece* column_of(std::uint32_t kind, std::uint32_t position) const {
        return pieces_ + kind * pieces * capacity_ + (position & (capacity_ - 1));
    }

    // Constant indices keep the positions in registers.
    static HEADRACE_GROUP_CODE std::uint32_t pick(const std::uint32_t (&of)[KindCount], std::uint32_t kind) {
        std::uint32_t position = of[0];
        HEADRACE_UNROLL
        for (std::uint32_t i = 1; i < KindCount; ++i)
            if (i == kind) position = of[i];
        return position;
    }
    static HEADRACE_GROUP_CODE void move(std::uint32_t (&of)[KindCount], std::uint32_t kind,
                                         std::uint32_t by) {
        HEADRACE_UNROLL
        for (std::uint32_t i = 0; i < KindCount; ++i)
            if (KindCount == 1 || i == kind) of[i] += by;
    }

    Piece* pieces_;
    std::uint32_t capacity_;
    std::uint32_t top_[KindCount] = {};
    std::uint32_t bottom_[KindCount] = {};
};

} // namespace headrace
