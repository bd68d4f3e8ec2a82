// tests/domains/exact_reference.hpp - sums of floating-point numbers by long arithmetic, bit by bit: slow,
// and with nothing in common with the library's.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

namespace headrace::test {

/// A natural number: its bits in pieces of 32, lowest first.
class Natural {
public:
    void add_at(std::size_t bit, std::uint32_t amount) {
        std::uint64_t carry = std::uint64_t{amount} << (bit % 32);
        for (std::size_t i = bit / 32; carry != 0; ++i) {
            if (i >= pieces_.size()) pieces_.resize(i + 1);
            const std::uint64_t sum = std::uint64_t{pieces_[i]} + (carry & 0xffffffffu);
            pieces_[i] = static_cast<std::uint32_t>(sum);
            carry = (carry >> 32) + (sum >> 32);
        }
    }
    [[nodiscard]] bool bit(std::size_t at) const {
        return at / 32 < pieces_.size() && (pieces_[at / 32] >> (at % 32) & 1) != 0;
    }
    [[nodiscard]] std::size_t bits() const {
        for (std::size_t at = 32 * pieces_.size(); at > 0; --at)
            if (bit(at - 1)) return at;
        return 0;
    }
    [[nodiscard]] bool is_less_than(const Natural& other) const {
        for (std::size_t at = std::max(bits(), other.bits()); at > 0; --at)
            if (bit(at - 1) != other.bit(at - 1)) return other.bit(at - 1);
        return false;
    }
    /// `other` is not greater.
    [[nodiscard]] Natural less(const Natural& other) const {
        Natural difference;
        difference.pieces_.resize(pieces_.size());
        std::int64_t borrow = 0;
        for (std::size_t i = 0; i < pieces_.size(); ++i) {
            std::int64_t piece =
                std::int64_t{pieces_[i]} - (i < other.pieces_.size() ? other.pieces_[i] : 0) - borrow;
            borrow = piece < 0 ? 1 : 0;
            difference.pieces_[i] = static_cast<std::uint32_t>(piece + (borrow << 32));
        }
        return difference;
    }

private:
    std::vector<std::uint32_t> pieces_;
};

/// A sum of numbers of type T.
template <class T>
class ReferenceSum {
public:
    void add(T term) {
        if (std::isnan(term))
            is_nan_ = true;
        else if (std::isinf(term))
            (term < 0 ? has_negative_infinity_ : has_positive_infinity_) = true;
        else if (term != 0)
            add_finite(term);
    }
    /// The nearest T; to even.
    [[nodiscard]] T value() const {
        using Limits = std::numeric_limits<T>;
        if (is_nan_ || (has_positive_infinity_ && has_negative_infinity_)) return Limits::quiet_NaN();
        if (has_positive_infinity_) return Limits::infinity();
        if (has_negative_infinity_) return -Limits::infinity();
        const bool is_negative = positive_.is_less_than(negative_);
        const T magnitude = nearest(is_negative ? negative_.less(positive_) : positive_.less(negative_));
        return is_negative ? -magnitude : magnitude;
    }

private:
    static constexpr int least = std::numeric_limits<T>::min_exponent - std::numeric_limits<T>::digits;

    void add_finite(T term) {
        int exponent = 0;
        T fraction = std::frexp(std::fabs(term), &exponent); // in [1/2, 1)
        Natural& sum = term < 0 ? negative_ : positive_;
        for (--exponent; fraction != 0; --exponent) { // one bit after the other
            fraction *= 2;
            if (fraction >= 1) {
                sum.add_at(static_cast<std::size_t>(exponent - least), 1);
                fraction -= 1;
            }
        }
    }
    static T nearest(const Natural& sum) {
        const std::size_t bits = sum.bits(), digits = std::numeric_limits<T>::digits;
        const std::size_t lost = bits > digits ? bits - digits : 0;
        T kept = 0; // at most 2^digits, so without rounding
        for (std::size_t at = bits; at > lost; --at) kept = 2 * kept + (sum.bit(at - 1) ? 1 : 0);
        bool more_than_half = false;
        for (std::size_t at = 0; at + 1 < lost; ++at) more_than_half |= sum.bit(at);
        if (lost > 0 && sum.bit(lost - 1) && (more_than_half || sum.bit(lost))) kept += 1;
        return std::ldexp(kept, static_cast<int>(lost) + least);
    }

    bool is_nan_ = false, has_positive_infinity_ = false, has_negative_infinity_ = false;
    Natural positive_, negative_;
};

} // namespace headrace::test
