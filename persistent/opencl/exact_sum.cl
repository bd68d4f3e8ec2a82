// persistent/opencl/exact_sum.cl - additions to exact sums in OpenCL C. exact_words.hpp explains these sums.
//
//     void hr_exact_add_float(__global ulong* words, ulong stride, ulong i, float term)
//     void hr_exact_add_double(__global ulong* words, ulong stride, ulong i, double term)
// They add to element i of planes of words that are `stride` apart. A kernel gets Sum<ExactSum<T>>'s origin
// and stride.
//     void hr_exact_add_float_range(words, stride, i, term, int least, int most)
//     void hr_exact_add_double_range(words, stride, i, term, int least, int most)
// They do the same for sums of ExponentRange<least, most>.

// Special bits, as in exact_words.hpp.
#define HR_POSITIVE_INFINITY 1ul
#define HR_NEGATIVE_INFINITY 2ul
#define HR_NOT_A_NUMBER 4ul
#define HR_OUT_OF_RANGE 8ul

#define HR_EXACT_RADIX 56

typedef struct {
    ulong magnitude; // value = +-magnitude * 2^(least exponent + shift)
    uint shift;
    bool is_negative;
    ulong special; // not 0: infinite, or NaN
} HrExactTerm;

HR_FUNCTION HrExactTerm hr_exact_term(ulong bits, uint fraction_bits, uint size) {
    const uint exponent_mask = (1u << (size - 1 - fraction_bits)) - 1;
    const uint exponent = (uint)(bits >> fraction_bits) & exponent_mask;
    HrExactTerm term;
    term.magnitude = bits & ((1ul << fraction_bits) - 1);
    term.shift = 0;
    term.is_negative = bits >> (size - 1) != 0;
    term.special = 0;
    if (exponent == exponent_mask) {
        term.special = term.magnitude != 0 ? HR_NOT_A_NUMBER
                       : term.is_negative  ? HR_NEGATIVE_INFINITY
                                           : HR_POSITIVE_INFINITY;
    } else if (exponent != 0) {
        term.magnitude |= 1ul << fraction_bits;
        term.shift = exponent - 1;
    }
    return term;
}

HR_FUNCTION ulong hr_exact_carry(ulong before, ulong piece, uint radix) {
    const ulong after = before + piece;
    if ((long)((before ^ after) & (piece ^ after)) >= 0) return 0;
    const ulong carry = radix == 64 ? 1ul : 1ul << (64 - radix);
    return (long)piece < 0 ? 0ul - carry : carry;
}

HR_FUNCTION void hr_exact_set(__global ulong* at, ulong bits) {
    if ((hr_atomic_load_ulong(at) & bits) != bits) hr_atomic_or_ulong(at, bits);
}

HR_FUNCTION void hr_exact_propagate(__global ulong* sum, ulong stride, uint limbs, uint limb, ulong piece) {
    for (; piece != 0; ++limb) {
        if (limb == limbs) {
            hr_exact_set(sum + limbs * stride, HR_OUT_OF_RANGE);
            return;
        }
        piece = hr_exact_carry(hr_atomic_add_ulong(sum + limb * stride, piece), piece, HR_EXACT_RADIX);
    }
}

HR_FUNCTION void hr_exact_add(__global ulong* sum, ulong stride, HrExactTerm term, uint fraction_bits,
                              uint limbs) {
    if (term.special != 0) {
        hr_exact_set(sum + limbs * stride, term.special);
        return;
    }
    if (term.magnitude == 0) return;
    const uint limb = term.shift / HR_EXACT_RADIX, shift = term.shift % HR_EXACT_RADIX;
    ulong low = term.magnitude << shift, high = 0;
    if (shift + fraction_bits + 1 > 63) {
        low &= (1ul << HR_EXACT_RADIX) - 1;
        high = term.magnitude >> (HR_EXACT_RADIX - shift);
    }
    if (term.is_negative) {
        low = 0ul - low;
        high = 0ul - high;
    }
    ulong low_before = 0, high_before = 0;
    if (low != 0) low_before = hr_atomic_add_ulong(sum + limb * stride, low);
    if (high != 0) high_before = hr_atomic_add_ulong(sum + (limb + 1) * stride, high);
    hr_exact_propagate(sum, stride, limbs, limb + 1, hr_exact_carry(low_before, low, HR_EXACT_RADIX));
    hr_exact_propagate(sum, stride, limbs, limb + 2, hr_exact_carry(high_before, high, HR_EXACT_RADIX));
}

HR_FUNCTION void hr_exact_add_range(__global ulong* sum, ulong stride, HrExactTerm term, int shift,
                                    int value_bits) {
    if (term.special != 0) {
        hr_exact_set(sum + stride, term.special);
        return;
    }
    const ulong magnitude = term.magnitude;
    if (magnitude == 0) return;
    const int width = 64 - (int)clz(magnitude);
    if (shift + width > value_bits ||
        (shift < 0 && (shift <= -64 || (magnitude & ((1ul << -shift) - 1)) != 0))) {
        hr_exact_set(sum + stride, HR_OUT_OF_RANGE);
        return;
    }
    ulong low = shift >= 64 ? 0 : shift >= 0 ? magnitude << shift : magnitude >> -shift;
    ulong high = shift >= 64 ? magnitude << (shift - 64) : shift > 0 ? magnitude >> (64 - shift) : 0;
    if (term.is_negative) {
        high = 0ul - high - (low != 0 ? 1 : 0);
        low = 0ul - low;
    }
    high += low >> 63;
    if (low != 0) high += hr_exact_carry(hr_atomic_add_ulong(sum, low), low, 64);
    if (high == 0) return;
    const ulong piece = high << 4;
    if (hr_exact_carry(hr_atomic_add_ulong(sum + stride, piece), piece, 64) != 0)
        hr_exact_set(sum + stride, HR_OUT_OF_RANGE);
}

HR_FUNCTION void hr_exact_add_float(__global ulong* words, ulong stride, ulong i, float term) {
    hr_exact_add(words + i, stride, hr_exact_term(as_uint(term), 23, 32), 23, 6);
}
HR_FUNCTION void hr_exact_add_float_range(__global ulong* words, ulong stride, ulong i, float term, int least,
                                          int most) {
    const HrExactTerm parts = hr_exact_term(as_uint(term), 23, 32);
    hr_exact_add_range(words + i, stride, parts, (int)parts.shift - (least + 149), most - least + 1);
}
#if defined(cl_khr_fp64) || defined(__opencl_c_fp64)
HR_FUNCTION void hr_exact_add_double(__global ulong* words, ulong stride, ulong i, double term) {
    hr_exact_add(words + i, stride, hr_exact_term(as_ulong(term), 52, 64), 52, 39);
}
HR_FUNCTION void hr_exact_add_double_range(__global ulong* words, ulong stride, ulong i, double term,
                                           int least, int most) {
    const HrExactTerm parts = hr_exact_term(as_ulong(term), 52, 64);
    hr_exact_add_range(words + i, stride, parts, (int)parts.shift - (least + 1074), most - least + 1);
}
#endif
