// domains/detail/exact_words.hpp - the arithmetic of exact sums on 64-bit words. Compiled for every
// technology. The public interface is exact_sum.hpp. The same additions in OpenCL C are in
// persistent/opencl/exact_sum.cl.
//
// A sum is an integer. Its unit is the smallest positive number of its type, or of the declared range. Signed
// words ("limbs") hold parts of it: limb l counts units of 2^(radix * l). A limb has more than `radix` bits,
// so a sum has many representations and most additions need no carry.
//
// An addition adds a piece to a limb with one atomic operation, which wraps around at 64 bits and returns the
// old value. So exactly one lane knows that its piece made the limb wrap. That lane adds the lost amount,
// 2^(64 - radix), to the next limb. The words together are then exact, in any order of additions.
#pragma once
#include <headrace/persistent/atomics.hpp>

#include <cstdint>
#include <type_traits>

namespace headrace::detail {

/// The special values that a sum has received. NaN, or infinities of both signs, make it NaN.
enum SpecialBits : std::uint64_t {
    positive_infinity = 1,
    negative_infinity = 2,
    not_a_number = 4,
    out_of_range = 8, ///< a term or a partial sum did not fit
    all_special = 15,
};

/// Numbers of type T as integers, in units of the smallest positive number, 2^least.
template <class T>
struct FloatFormat;
template <>
struct FloatFormat<float> {
    static constexpr int fraction_bits = 23, least = -149, most = 127; ///< exponents
};
template <>
struct FloatFormat<double> {
    static constexpr int fraction_bits = 52, least = -1074, most = 1023;
};

/// value = +-magnitude * 2^(least + shift). If the value is infinite or NaN, `special` is not 0 instead.
template <class T>
struct Decomposed {
    using Format = FloatFormat<T>;

    std::uint64_t magnitude = 0;
    unsigned shift = 0;
    bool is_negative = false;
    std::uint64_t special = 0;

    HEADRACE_HOST_DEVICE explicit Decomposed(T value) {
        constexpr unsigned fraction_bits = Format::fraction_bits,
                           exponent_mask = (1u << (8 * sizeof(T) - 1 - fraction_bits)) - 1;
        const std::uint64_t bits = to_word(value);
        const auto exponent = static_cast<unsigned>(bits >> fraction_bits) & exponent_mask;
        is_negative = bits >> (8 * sizeof(T) - 1) != 0;
        magnitude = bits & ((std::uint64_t{1} << fraction_bits) - 1);
        if (exponent == exponent_mask) {
            special = magnitude != 0 ? not_a_number : is_negative ? negative_infinity : positive_infinity;
        } else if (exponent != 0) {
            magnitude |= std::uint64_t{1} << fraction_bits;
            shift = exponent - 1;
        }
    }
};

/// Number of bits of `word` up to its highest set bit; 0 for 0.
HEADRACE_HOST_DEVICE inline unsigned bit_width(std::uint64_t word) {
    unsigned width = word != 0 ? 1 : 0;
    for (unsigned step = 32; step > 0; step /= 2)
        if (word >> step != 0) {
            word >>= step;
            width += step;
        }
    return width;
}

/// The nearest T; a tie goes to the even one. `top` holds the highest 64 bits of a magnitude; its first bit
/// is set and has the weight 2^(least + position). `rest`: a lower bit is set.
template <class T>
HEADRACE_HOST_DEVICE inline T rounded(bool is_negative, std::uint64_t top, unsigned position, bool rest) {
    using Format = FloatFormat<T>;
    constexpr unsigned fraction_bits = Format::fraction_bits, dropped = 63 - fraction_bits;
    constexpr std::uint64_t half = std::uint64_t{1} << (dropped - 1);
    constexpr Word<T> infinity = static_cast<Word<T>>(Format::most - Format::least - int{fraction_bits} + 2)
                                 << fraction_bits;
    Word<T> bits = 0;
    if (position <= fraction_bits) { // subnormal or equally fine: no lower bits are set
        bits = static_cast<Word<T>>(top >> (63 - position));
    } else if (position > static_cast<unsigned>(Format::most - Format::least)) {
        bits = infinity;
    } else {
        std::uint64_t kept = top >> dropped;
        const std::uint64_t lost = top & (2 * half - 1);
        if (lost > half || (lost == half && (rest || kept % 2 != 0))) ++kept;
        // The first bit of `kept` adds 1 to the exponent. So does a carry out of `kept`, up to infinity.
        bits = (static_cast<Word<T>>(position - fraction_bits) << fraction_bits) + static_cast<Word<T>>(kept);
    }
    const T magnitude = from_word<T>(bits);
    return is_negative ? -magnitude : magnitude;
}

/// The amount lost when `piece` wrapped a limb, in units of the next limb; 0 if it did not wrap.
HEADRACE_HOST_DEVICE inline std::uint64_t carry_of(std::uint64_t before, std::uint64_t piece,
                                                   unsigned radix) {
    const std::uint64_t after = before + piece;
    if (static_cast<std::int64_t>((before ^ after) & (piece ^ after)) >= 0) return 0;
    // As a product: for a radix of 64 a shift would be by 64 bits.
    const std::uint64_t carry = radix == 64 ? 1 : std::uint64_t{1} << (64 - radix);
    return static_cast<std::int64_t>(piece) < 0 ? 0 - carry : carry;
}

/// Words of one sum, `stride` apart. Nothing else changes them meanwhile.
struct OwnWords {
    std::uint64_t* first;
    std::uint64_t stride = 1;

    HEADRACE_HOST_DEVICE std::uint64_t add(unsigned word, std::uint64_t piece) const {
        const std::uint64_t before = first[word * stride];
        first[word * stride] = before + piece;
        return before;
    }
    HEADRACE_HOST_DEVICE void set(unsigned word, std::uint64_t bits) const { first[word * stride] |= bits; }
};

/// The same, for words to which many lanes add at the same time.
struct SharedWords {
    std::uint64_t* first;
    std::uint64_t stride = 1;

    HEADRACE_HOST_DEVICE std::uint64_t add(unsigned word, std::uint64_t piece) const {
        return atomic_add(first[word * stride], piece);
    }
    HEADRACE_HOST_DEVICE void set(unsigned word, std::uint64_t bits) const {
        std::uint64_t& at = first[word * stride];
        if ((atomic_load(at) & bits) != bits) atomic_or(at, bits); // thousands may be infinite
    }
};

/// Sums of any numbers of type T: limbs, and one word of special bits.
template <class T>
struct FullRangeWords {
    using Format = FloatFormat<T>;
    static constexpr unsigned radix = 56;
    /// Bits of the largest magnitude, in units.
    static constexpr unsigned value_bits = Format::most - Format::least + 1;
    /// The last limb holds the carries of 2^63 of the largest numbers, one bit for its sign, and one for the
    /// part of the lower limbs beyond their radix.
    static constexpr unsigned limbs = (value_bits + 63 - 62 + radix - 1) / radix + 1;
    static constexpr unsigned words = limbs + 1;

    template <class Words>
    HEADRACE_HOST_DEVICE static void add(const Words& sum, T value) {
        const Decomposed<T> term(value);
        if (term.special != 0) return sum.set(limbs, term.special);
        if (term.magnitude == 0) return;
        constexpr std::uint64_t mask = (std::uint64_t{1} << radix) - 1;
        const unsigned limb = term.shift / radix, shift = term.shift % radix;
        const bool is_one = shift + Format::fraction_bits + 1 <= 63;
        std::uint64_t low = term.magnitude << shift, high = 0;
        if (!is_one) {
            low &= mask;
            high = term.magnitude >> (radix - shift);
        }
        const std::uint64_t sign = term.is_negative ? ~std::uint64_t{0} : 0;
        low = (low ^ sign) - sign; // negated without a branch: signs may be random
        high = (high ^ sign) - sign;
        // Both additions are issued before either old value is used.
        std::uint64_t low_before = 0, high_before = 0;
        if (low != 0) low_before = sum.add(limb, low);
        if (high != 0) high_before = sum.add(limb + 1, high);
        carry(sum, limb + 1, carry_of(low_before, low, radix));
        carry(sum, limb + 2, carry_of(high_before, high, radix));
    }

    /// Adds the sum in `other`. Word w of it is other[w * stride].
    template <class Words>
    HEADRACE_HOST_DEVICE static void merge(const Words& sum, const std::uint64_t* other,
                                           std::uint64_t stride) {
        for (unsigned limb = 0; limb < limbs; ++limb) carry(sum, limb, other[limb * stride]);
        if (other[limbs * stride] != 0) sum.set(limbs, other[limbs * stride]);
    }

    HEADRACE_HOST_DEVICE static std::uint64_t special(const std::uint64_t* sum, std::uint64_t stride) {
        return sum[limbs * stride];
    }

    /// The one representation with all limbs, except the last, in [0, 2^radix).
    HEADRACE_HOST_DEVICE static void normalise(const OwnWords& sum) {
        Digits digits;
        for (unsigned limb = 0; limb < limbs; ++limb) {
            std::uint64_t& word = sum.first[limb * sum.stride];
            word = digits.next(word, limb);
        }
    }

    /// The value of a sum without special bits.
    HEADRACE_HOST_DEVICE static T value(const std::uint64_t* sum, std::uint64_t stride) {
        Digits signed_digits;
        std::uint64_t last = 0;
        for (unsigned limb = 0; limb < limbs; ++limb) last = signed_digits.next(sum[limb * stride], limb);
        const bool is_negative = static_cast<std::int64_t>(last) < 0;

        // Visits the magnitude's digits from the lowest. Keeps the highest digit that is not 0, the two
        // digits below it, and whether any lower digit is not 0.
        Digits digits;
        std::uint64_t borrow = 0, below = 0, second_below = 0, top = 0, second = 0, third = 0;
        bool any = false, rest = false;
        unsigned top_limb = 0;
        for (unsigned limb = 0; limb < limbs; ++limb) {
            std::uint64_t digit = digits.next(sum[limb * stride], limb);
            if (is_negative) {
                digit = 0 - digit - borrow;
                borrow = static_cast<std::int64_t>(digit) < 0 ? 1 : 0;
                if (limb + 1 < limbs) digit &= (std::uint64_t{1} << radix) - 1;
            }
            if (digit != 0) {
                top = digit;
                second = below;
                third = second_below;
                rest = any;
                top_limb = limb;
            }
            any |= second_below != 0;
            second_below = below;
            below = digit;
        }
        if (top == 0) return 0;

        const unsigned width = bit_width(top); // less than 64
        const unsigned of_second = radix + width < 64 ? radix : 64 - width, of_third = 64 - width - of_second;
        std::uint64_t bits = top << (64 - width);
        bits |= second >> (radix - of_second) << of_third;
        bits |= of_third != 0 ? third >> (radix - of_third) : 0;
        const std::uint64_t second_rest = second & ((std::uint64_t{1} << (radix - of_second)) - 1),
                            third_rest = third & ((std::uint64_t{1} << (radix - of_third)) - 1);
        return rounded<T>(is_negative, bits, radix * top_limb + width - 1,
                          rest || second_rest != 0 || third_rest != 0);
    }

private:
    template <class Words>
    HEADRACE_HOST_DEVICE static void carry(const Words& sum, unsigned limb, std::uint64_t piece) {
        for (; piece != 0; ++limb) {
            if (limb == limbs) return sum.set(limbs, out_of_range); // more than 2^63 terms
            piece = carry_of(sum.add(limb, piece), piece, radix);
        }
    }

    /// Converts limbs, from the lowest on, to digits below 2^radix. The last one keeps the sign.
    struct Digits {
        std::uint64_t carried = 0; ///< two's complement; small

        HEADRACE_HOST_DEVICE std::uint64_t next(std::uint64_t limb, unsigned number) {
            constexpr std::uint64_t mask = (std::uint64_t{1} << radix) - 1;
            if (number + 1 == limbs) return limb + carried;
            const std::uint64_t low = (limb & mask) + carried;
            carried = arithmetic_shift(limb) + arithmetic_shift(low);
            return low & mask;
        }
        HEADRACE_HOST_DEVICE static std::uint64_t arithmetic_shift(std::uint64_t word) {
            return static_cast<std::uint64_t>(static_cast<std::int64_t>(word) >> radix);
        }
    };
};

/// Sums of multiples of 2^Least with magnitudes below 2^(Most + 1), in two words. The first is a limb of
/// radix 64. The second holds the special bits and, above them, the upper part of the sum.
template <class T, int Least, int Most>
struct DeclaredRangeWords {
    using Format = FloatFormat<T>;
    static constexpr unsigned words = 2;
    static constexpr unsigned special_bits = 4;
    static constexpr unsigned value_bits = Most - Least + 1;
    static constexpr unsigned sum_bits = 64 + 63 - special_bits; ///< without its sign
    static_assert(Least <= Most && Least >= Format::least && Most <= Format::most,
                  "a range of exponents lies within those of the type that is summed up");
    static_assert(value_bits < sum_bits, "a range of exponents has at most 122 bits");

    template <class Words>
    HEADRACE_HOST_DEVICE static void add(const Words& sum, T value) {
        const Decomposed<T> term(value);
        if (term.special != 0) return sum.set(1, term.special);
        if (term.magnitude == 0) return;
        const int shift = static_cast<int>(term.shift) - (Least - Format::least);
        const std::uint64_t magnitude = term.magnitude;
        const int width = static_cast<int>(bit_width(magnitude));
        if (shift + width > static_cast<int>(value_bits) ||
            (shift < 0 && (shift <= -64 || (magnitude & ((std::uint64_t{1} << -shift) - 1)) != 0)))
            return sum.set(1, out_of_range);
        std::uint64_t low = shift >= 64 ? 0 : shift >= 0 ? magnitude << shift : magnitude >> -shift;
        std::uint64_t high = shift >= 64 ? magnitude << (shift - 64)
                             : shift > 0 ? magnitude >> (64 - shift)
                                         : 0;
        const std::uint64_t sign = term.is_negative ? ~std::uint64_t{0} : 0;
        low = (low ^ sign) - sign; // negated without a branch: signs may be random
        high = (high ^ sign) + (term.is_negative && low == 0 ? 1 : 0);
        high += low >> 63; // the first word is signed
        if (low != 0) high += carry_of(sum.add(0, low), low, 64);
        add_high(sum, high);
    }

    template <class Words>
    HEADRACE_HOST_DEVICE static void merge(const Words& sum, const std::uint64_t* other,
                                           std::uint64_t stride) {
        const std::uint64_t special = other[stride] & all_special;
        if (special != 0) sum.set(1, special);
        const std::uint64_t low = other[0];
        if (low != 0) add_high(sum, carry_of(sum.add(0, low), low, 64));
        add_high(sum, high_of(other[stride])); // separate: with the carry it might not fit its bits
    }

    HEADRACE_HOST_DEVICE static std::uint64_t special(const std::uint64_t* sum, std::uint64_t stride) {
        return sum[stride] & all_special;
    }

    /// In two words a sum has one representation. A sum that left the range is set to a fixed one.
    HEADRACE_HOST_DEVICE static void normalise(const OwnWords& sum) {
        std::uint64_t& last = sum.first[sum.stride];
        if ((last & out_of_range) == 0) return;
        sum.first[0] = 0;
        last = out_of_range;
    }

    HEADRACE_HOST_DEVICE static T value(const std::uint64_t* sum, std::uint64_t stride) {
        std::uint64_t low = sum[0], high = high_of(sum[stride]) - (low >> 63);
        const bool is_negative = static_cast<std::int64_t>(high) < 0;
        if (is_negative) {
            high = 0 - high - (low != 0 ? 1 : 0);
            low = 0 - low;
        }
        if ((low | high) == 0) return 0;
        const unsigned width = bit_width(high), low_width = bit_width(low);
        const unsigned position = (width != 0 ? 64 + width : low_width) - 1;
        const std::uint64_t bits = width == 0 ? low << (64 - low_width) : high << (64 - width) | low >> width;
        const bool rest = width != 0 && (low & ((std::uint64_t{1} << width) - 1)) != 0;
        return rounded<T>(is_negative, bits, position + static_cast<unsigned>(Least - Format::least), rest);
    }

private:
    template <class Words>
    HEADRACE_HOST_DEVICE static void add_high(const Words& sum, std::uint64_t high) {
        if (high == 0) return;
        const std::uint64_t piece = high << special_bits;
        if (carry_of(sum.add(1, piece), piece, 64) != 0) sum.set(1, out_of_range);
    }
    HEADRACE_HOST_DEVICE static std::uint64_t high_of(std::uint64_t word) {
        return static_cast<std::uint64_t>(static_cast<std::int64_t>(word) >> special_bits);
    }
};

} // namespace headrace::detail
