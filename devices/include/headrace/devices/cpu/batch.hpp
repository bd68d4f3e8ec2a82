// devices/cpu/batch.hpp - numbers of several lanes in one vector register, for code that a CPU runs with
// AVX2 or AVX-512.
//
// Code is written once, as a template or with `auto`, and takes a float or a Batch<float, 8> alike. Instead
// of an `if` or a `?:` on a lane's numbers it has choose(condition, a, b), and instead of a cast
// float_of(), uint_of() or int_of(). Single numbers have these functions too: shared_c.h.
//
//     auto root_of(auto x) { return choose(x > 0.0f, sqrt(x), 0.0f); } // of a float, or of a batch
//
//     headrace::run_with_vectors([&](auto width) {
//         root_of(headrace::Batch<float, decltype(width)::value>::load(from)).store(to);
//     });
//
// A lane's result has the same bits as a single number's, whatever the width: +, -, *, / and sqrt round once,
// fma rounds once, and conversions are those of C++. For this, compile with -ffp-contract=off, and without
// -ffast-math. Otherwise, the compiler fuses some multiplications and additions, in each width others.
//
// For g++ on x86-64 that optimises: HEADRACE_HAS_BATCHES is defined there. Elsewhere, this
// header has only what the two have that it includes.
#pragma once

#include <headrace/devices/cpu/instructions.hpp>
#include <headrace/devices/kernels/shared_c.h>

#if defined(__x86_64__) && defined(__GNUC__) && defined(__OPTIMIZE__) && !defined(__NO_INLINE__) &&          \
    !defined(__clang__) && !defined(__CUDACC__) && !defined(__HIPCC__)
    #define HEADRACE_HAS_BATCHES 1

    #include <immintrin.h>

    #include <concepts>
    #include <cstddef>
    #include <cstdint>
    #include <cstring>
    #include <type_traits>

    /// Marks functions that take batches. They become part of the function that is compiled for the
    /// instructions; compiled alone, they would be for any processor.
    #define HEADRACE_BATCH_CODE [[gnu::always_inline]] inline

    // It says that functions that return vectors may be called in several ways. Those of this header become
    // part of their callers.
    #pragma GCC diagnostic push
    #pragma GCC diagnostic ignored "-Wpsabi"

namespace headrace {

template <class T, unsigned Lanes>
class Batch;

namespace detail {
template <class T, unsigned Lanes>
struct VectorOf {
    typedef T type __attribute__((vector_size(sizeof(T) * Lanes)));
};
template <class T, unsigned Lanes>
using Vector = typename VectorOf<T, Lanes>::type;

/// True if C++ computes with a T and a U as if the U were a T.
template <class T, class U>
concept ActsAs = std::same_as<U, T> ||(std::same_as<T, float>&& std::integral<U>) ||
                 (std::same_as<T, std::uint32_t> && std::same_as<U, int>);
} // namespace detail

/// A condition for each lane.
///
/// It and Batch are copied by functions, so that a function that the compiler does not inline gets them in
/// memory: in registers, it would expect them where a processor without these vectors has them.
template <unsigned Lanes>
class BatchMask {
    static_assert(Lanes == 8 || Lanes == 16, "a batch has 8 lanes (AVX2) or 16 (AVX-512)");

public:
    /// AVX2 has conditions in vectors, all bits of a lane set or none; AVX-512 has registers for them.
    using Raw = std::conditional_t<Lanes == 16, std::uint16_t, detail::Vector<std::int32_t, 8>>;

    BatchMask() = default;
    HEADRACE_BATCH_CODE BatchMask(const BatchMask& other) : raw_(other.raw_) {}
    HEADRACE_BATCH_CODE BatchMask& operator=(const BatchMask& other) {
        raw_ = other.raw_;
        return *this;
    }
    /// The same for each lane.
    template <std::same_as<bool> Condition>
    HEADRACE_BATCH_CODE BatchMask(Condition all) {
        if constexpr (Lanes == 16)
            raw_ = all ? 0xffff : 0;
        else
            raw_ = Raw{} - (all ? 1 : 0);
    }
    HEADRACE_BATCH_CODE static BatchMask of(const Raw& raw) {
        BatchMask mask;
        mask.raw_ = raw;
        return mask;
    }
    [[nodiscard]] HEADRACE_BATCH_CODE const Raw& raw() const { return raw_; }

    /// A bit for each lane.
    [[nodiscard]] HEADRACE_BATCH_CODE std::uint32_t bits() const {
        if constexpr (Lanes == 16)
            return raw_;
        else
            return static_cast<std::uint32_t>(__builtin_ia32_movmskps256((__v8sf)raw_));
    }
    [[nodiscard]] HEADRACE_BATCH_CODE bool any() const { return bits() != 0; }
    /// The lanes whose bits are set.
    [[nodiscard]] HEADRACE_BATCH_CODE static BatchMask of_bits(std::uint32_t bits) {
        if constexpr (Lanes == 16) {
            return of(static_cast<Raw>(bits));
        } else {
            const Raw each = {1, 2, 4, 8, 16, 32, 64, 128};
            return of(((Raw{} + static_cast<std::int32_t>(bits)) & each) == each);
        }
    }

    HEADRACE_BATCH_CODE friend BatchMask operator&(const BatchMask& a, const BatchMask& b) {
        return of(static_cast<Raw>(a.raw_ & b.raw_));
    }
    HEADRACE_BATCH_CODE friend BatchMask operator|(const BatchMask& a, const BatchMask& b) {
        return of(static_cast<Raw>(a.raw_ | b.raw_));
    }
    HEADRACE_BATCH_CODE friend BatchMask operator!(const BatchMask& a) {
        return of(static_cast<Raw>(~a.raw_));
    }

private:
    Raw raw_;
};

/// A float, an int32_t or a uint32_t for each lane.
template <class T, unsigned Lanes>
class Batch {
    static_assert(std::is_same_v<T, float> || std::is_same_v<T, std::int32_t> ||
                      std::is_same_v<T, std::uint32_t>,
                  "a batch is of float, std::int32_t or std::uint32_t");

public:
    static constexpr unsigned lanes = Lanes;
    using Raw = detail::Vector<T, Lanes>;
    using Mask = BatchMask<Lanes>;

    Batch() = default; ///< not initialised
    HEADRACE_BATCH_CODE Batch(const Batch& other) : raw_(other.raw_) {}
    HEADRACE_BATCH_CODE Batch& operator=(const Batch& other) {
        raw_ = other.raw_;
        return *this;
    }
    /// The same in each lane. Not of a type with which a single T would become something else: a double
    /// beside a float, say.
    template <class U>
    requires detail::ActsAs<T, U> HEADRACE_BATCH_CODE Batch(U number) {
        const T value = static_cast<T>(number);
        // Built-ins, because g++ fills other vectors lane by lane, before it knows the instructions.
        if constexpr (std::is_same_v<T, float> && Lanes == 16)
            raw_ = (Raw)__builtin_ia32_broadcastss512(__v4sf{value}, __v16sf{}, -1);
        else if constexpr (std::is_same_v<T, float>)
            raw_ = (Raw)__builtin_ia32_vbroadcastss_ps256(__v4sf{value});
        else if constexpr (Lanes == 16)
            raw_ = (Raw)__builtin_ia32_pbroadcastd512_gpr_mask(static_cast<int>(value), __v16si{}, -1);
        else
            raw_ = (Raw)__builtin_ia32_pbroadcastd256(__v4si{static_cast<int>(value)});
    }
    HEADRACE_BATCH_CODE static Batch of(const Raw& raw) {
        Batch batch;
        batch.raw_ = raw;
        return batch;
    }
    [[nodiscard]] HEADRACE_BATCH_CODE const Raw& raw() const { return raw_; }

    /// From `Lanes` values on end, at any address.
    [[nodiscard]] HEADRACE_BATCH_CODE static Batch load(const void* from) {
        Batch batch;
        std::memcpy(&batch.raw_, from, sizeof(Raw));
        return batch;
    }
    HEADRACE_BATCH_CODE void store(void* to) const { std::memcpy(to, &raw_, sizeof(Raw)); }
    /// from[indices[lane]] for each lane, also where it is not needed: indices must be good.
    [[nodiscard]] HEADRACE_BATCH_CODE static Batch gather(const T* from,
                                                          const Batch<std::uint32_t, Lanes>& indices) {
        alignas(64) T values[Lanes];
        for (unsigned lane = 0; lane < Lanes; ++lane) values[lane] = from[indices[lane]];
        return load(values);
    }
    [[nodiscard]] HEADRACE_BATCH_CODE T operator[](unsigned lane) const { return raw_[lane]; }

    /// Each lane converted, as by static_cast.
    template <class U>
    [[nodiscard]] HEADRACE_BATCH_CODE Batch<U, Lanes> as() const {
        return Batch<U, Lanes>::of(
            __builtin_convertvector(raw_, typename Batch<U, Lanes>::Raw)); // floats: cut towards 0
    }
    /// Each lane's bits as another type.
    template <class U>
    [[nodiscard]] HEADRACE_BATCH_CODE Batch<U, Lanes> bits_as() const {
        return Batch<U, Lanes>::of((typename Batch<U, Lanes>::Raw)raw_);
    }

    HEADRACE_BATCH_CODE friend Batch operator+(const Batch& a, const Batch& b) { return of(a.raw_ + b.raw_); }
    HEADRACE_BATCH_CODE friend Batch operator-(const Batch& a, const Batch& b) { return of(a.raw_ - b.raw_); }
    HEADRACE_BATCH_CODE friend Batch operator*(const Batch& a, const Batch& b) { return of(a.raw_ * b.raw_); }
    HEADRACE_BATCH_CODE friend Batch operator/(const Batch& a, const Batch& b) {
        static_assert(std::is_same_v<T, float>, "processors divide no vectors of whole numbers");
        return of(a.raw_ / b.raw_);
    }
    HEADRACE_BATCH_CODE friend Batch operator&(const Batch& a, const Batch& b) { return of(a.raw_ & b.raw_); }
    HEADRACE_BATCH_CODE friend Batch operator|(const Batch& a, const Batch& b) { return of(a.raw_ | b.raw_); }
    HEADRACE_BATCH_CODE friend Batch operator^(const Batch& a, const Batch& b) { return of(a.raw_ ^ b.raw_); }
    HEADRACE_BATCH_CODE friend Batch operator<<(const Batch& a, int bits) { return of(a.raw_ << bits); }
    HEADRACE_BATCH_CODE friend Batch operator>>(const Batch& a, int bits) { return of(a.raw_ >> bits); }
    HEADRACE_BATCH_CODE friend Batch operator~(const Batch& a) { return of(~a.raw_); }
    HEADRACE_BATCH_CODE friend Batch operator-(const Batch& a) { return of(-a.raw_); }
    HEADRACE_BATCH_CODE Batch& operator+=(const Batch& b) { return *this = *this + b; }
    HEADRACE_BATCH_CODE Batch& operator-=(const Batch& b) { return *this = *this - b; }
    HEADRACE_BATCH_CODE Batch& operator*=(const Batch& b) { return *this = *this * b; }

    HEADRACE_BATCH_CODE friend Mask operator==(const Batch& a, const Batch& b) {
        if constexpr (Lanes == 16)
            return a.template compared<_CMP_EQ_OQ, _MM_CMPINT_EQ>(b);
        else
            return Mask::of(a.raw_ == b.raw_);
    }
    HEADRACE_BATCH_CODE friend Mask operator!=(const Batch& a, const Batch& b) {
        if constexpr (Lanes == 16)
            return a.template compared<_CMP_NEQ_UQ, _MM_CMPINT_NE>(b);
        else
            return Mask::of(a.raw_ != b.raw_);
    }
    HEADRACE_BATCH_CODE friend Mask operator<(const Batch& a, const Batch& b) {
        if constexpr (Lanes == 16)
            return a.template compared<_CMP_LT_OQ, _MM_CMPINT_LT>(b);
        else
            return Mask::of(a.raw_ < b.raw_);
    }
    HEADRACE_BATCH_CODE friend Mask operator<=(const Batch& a, const Batch& b) {
        if constexpr (Lanes == 16)
            return a.template compared<_CMP_LE_OQ, _MM_CMPINT_LE>(b);
        else
            return Mask::of(a.raw_ <= b.raw_);
    }
    HEADRACE_BATCH_CODE friend Mask operator>(const Batch& a, const Batch& b) { return b < a; }
    HEADRACE_BATCH_CODE friend Mask operator>=(const Batch& a, const Batch& b) { return b <= a; }

    /// For each lane: `a` if the condition holds, else `b`. Both are computed.
    HEADRACE_BATCH_CODE friend Batch choose(const Mask& condition, const Batch& a, const Batch& b) {
        if constexpr (Lanes == 8)
            return of(condition.raw() ? a.raw_ : b.raw_);
        else if constexpr (std::is_same_v<T, float>)
            return of(
                (Raw)__builtin_ia32_blendmps_512_mask((__v16sf)b.raw_, (__v16sf)a.raw_, condition.raw()));
        else
            return of(
                (Raw)__builtin_ia32_blendmd_512_mask((__v16si)b.raw_, (__v16si)a.raw_, condition.raw()));
    }
    /// The smaller one; if one is not a number, the other.
    HEADRACE_BATCH_CODE friend Batch fmin(const Batch& a, const Batch& b) {
        return choose((a < b) | (b != b), a, b);
    }
    /// The larger one; if one is not a number, the other.
    HEADRACE_BATCH_CODE friend Batch fmax(const Batch& a, const Batch& b) {
        return choose((b < a) | (b != b), a, b);
    }

    // ---- float

    HEADRACE_BATCH_CODE friend Batch sqrt(const Batch& a) {
        static_assert(std::is_same_v<T, float>);
        if constexpr (Lanes == 8)
            return of((Raw)__builtin_ia32_sqrtps256((__v8sf)a.raw_));
        else
            return of((Raw)__builtin_ia32_sqrtps512_mask((__v16sf)a.raw_, (__v16sf)a.raw_, -1,
                                                         _MM_FROUND_CUR_DIRECTION));
    }
    HEADRACE_BATCH_CODE friend Batch fabs(const Batch& a) {
        return (a.template bits_as<std::uint32_t>() & 0x7fffffffu).template bits_as<float>();
    }
    /// a * b + c, rounded once.
    HEADRACE_BATCH_CODE friend Batch fma(const Batch& a, const Batch& b, const Batch& c) {
        static_assert(std::is_same_v<T, float>);
        if constexpr (Lanes == 8)
            return of((Raw)__builtin_ia32_vfmaddps256((__v8sf)a.raw_, (__v8sf)b.raw_, (__v8sf)c.raw_));
        else
            return of((Raw)__builtin_ia32_vfmaddps512_mask((__v16sf)a.raw_, (__v16sf)b.raw_, (__v16sf)c.raw_,
                                                           -1, _MM_FROUND_CUR_DIRECTION));
    }

private:
    /// Comparison number `Floats` of floats, or `Whole` of whole numbers.
    template <int Floats, int Whole>
    HEADRACE_BATCH_CODE Mask compared(const Batch& b) const {
        if constexpr (std::is_same_v<T, float>)
            return Mask::of(__builtin_ia32_cmpps512_mask((__v16sf)raw_, (__v16sf)b.raw_, Floats, -1,
                                                         _MM_FROUND_CUR_DIRECTION));
        else if constexpr (std::is_same_v<T, std::uint32_t>)
            return Mask::of(__builtin_ia32_ucmpd512_mask((__v16si)raw_, (__v16si)b.raw_, Whole, -1));
        else
            return Mask::of(__builtin_ia32_cmpd512_mask((__v16si)raw_, (__v16si)b.raw_, Whole, -1));
    }

    Raw raw_;
};

template <unsigned Lanes, class T>
requires std::is_arithmetic_v<T>
[[nodiscard]] HEADRACE_BATCH_CODE Batch<T, Lanes> choose(const BatchMask<Lanes>& condition, T a, T b) {
    return choose(condition, Batch<T, Lanes>(a), Batch<T, Lanes>(b));
}

/// All 64 bits of a product, as two words.
template <unsigned Lanes>
struct BatchProduct {
    Batch<std::uint32_t, Lanes> upper, lower;
};
template <unsigned Lanes>
[[nodiscard]] HEADRACE_BATCH_CODE BatchProduct<Lanes> product_of(const Batch<std::uint32_t, Lanes>& a,
                                                                 const Batch<std::uint32_t, Lanes>& b) {
    // Processors multiply lanes 0, 2, 4 ... to 64 bits.
    using Raw = typename Batch<std::uint32_t, Lanes>::Raw;
    using Wide = detail::Vector<std::uint64_t, Lanes / 2>;
    const Wide odd_a = (Wide)a.raw() >> 32, odd_b = (Wide)b.raw() >> 32;
    Wide even, odd;
    if constexpr (Lanes == 8) {
        even = (Wide)__builtin_ia32_pmuludq256((__v8si)a.raw(), (__v8si)b.raw());
        odd = (Wide)__builtin_ia32_pmuludq256((__v8si)odd_a, (__v8si)odd_b);
    } else {
        const __v8di none = {};
        even = (Wide)__builtin_ia32_pmuludq512_mask((__v16si)a.raw(), (__v16si)b.raw(), none, -1);
        odd = (Wide)__builtin_ia32_pmuludq512_mask((__v16si)odd_a, (__v16si)odd_b, none, -1);
    }
    const Wide lower = even >> 32;
    Raw upper;
    if constexpr (Lanes == 8)
        upper = (Raw)__builtin_ia32_pblendd256((__v8si)lower, (__v8si)odd, 0xaa);
    else
        upper = (Raw)__builtin_ia32_blendmd_512_mask((__v16si)lower, (__v16si)odd, 0xaaaa);
    return {Batch<std::uint32_t, Lanes>::of(upper), a * b};
}

// As shared_c.h has them for single numbers.
template <unsigned Lanes>
[[nodiscard]] HEADRACE_BATCH_CODE BatchProduct<Lanes> product_of(const Batch<std::uint32_t, Lanes>& a,
                                                                 std::uint32_t b) {
    return product_of(a, Batch<std::uint32_t, Lanes>(b));
}
template <unsigned Lanes>
[[nodiscard]] HEADRACE_BATCH_CODE Batch<std::uint32_t, Lanes> upper_of(const BatchProduct<Lanes>& product) {
    return product.upper;
}
template <unsigned Lanes>
[[nodiscard]] HEADRACE_BATCH_CODE Batch<std::uint32_t, Lanes> lower_of(const BatchProduct<Lanes>& product) {
    return product.lower;
}
template <class T, unsigned Lanes>
[[nodiscard]] HEADRACE_BATCH_CODE Batch<float, Lanes> float_of(const Batch<T, Lanes>& a) {
    return a.template as<float>();
}
template <class T, unsigned Lanes>
[[nodiscard]] HEADRACE_BATCH_CODE Batch<std::uint32_t, Lanes> uint_of(const Batch<T, Lanes>& a) {
    return a.template as<std::uint32_t>();
}
template <class T, unsigned Lanes>
[[nodiscard]] HEADRACE_BATCH_CODE Batch<std::int32_t, Lanes> int_of(const Batch<T, Lanes>& a) {
    return a.template as<std::int32_t>();
}
template <unsigned Lanes>
[[nodiscard]] HEADRACE_BATCH_CODE Batch<std::uint32_t, Lanes> as_uint(const Batch<float, Lanes>& a) {
    return a.template bits_as<std::uint32_t>();
}
template <unsigned Lanes>
[[nodiscard]] HEADRACE_BATCH_CODE Batch<float, Lanes> as_float(const Batch<std::uint32_t, Lanes>& a) {
    return a.template bits_as<float>();
}

/// One T for each lane, with the words of all lanes beside each other: a batch for each member. For a T of
/// members of 32 bits. Members are named by their place: offsetof(T, member).
template <class T, unsigned Lanes>
class BatchColumns {
    static_assert(std::is_trivially_copyable_v<T> && sizeof(T) % 4 == 0);

public:
    HEADRACE_BATCH_CODE void put(unsigned lane, const T& value) {
        std::uint32_t words[sizeof(T) / 4];
        std::memcpy(words, &value, sizeof(T));
        for (std::size_t word = 0; word < sizeof(T) / 4; ++word) words_[word][lane] = alone(words[word]);
    }
    [[nodiscard]] HEADRACE_BATCH_CODE T get(unsigned lane) const {
        std::uint32_t words[sizeof(T) / 4];
        for (std::size_t word = 0; word < sizeof(T) / 4; ++word) words[word] = alone(words_[word][lane]);
        T value;
        std::memcpy(&value, words, sizeof(T));
        return value;
    }
    /// The member of all lanes at `offset`, a multiple of 4.
    template <class U>
    [[nodiscard]] HEADRACE_BATCH_CODE Batch<U, Lanes> load(std::size_t offset) const {
        return Batch<U, Lanes>::load(words_[offset / 4]);
    }
    template <class U>
    HEADRACE_BATCH_CODE void store(std::size_t offset, const Batch<U, Lanes>& values) {
        values.store(words_[offset / 4]);
    }

private:
    /// Keeps the compiler from loading whole columns for a word of each.
    HEADRACE_BATCH_CODE static std::uint32_t alone(std::uint32_t word) {
        asm("" : "+r"(word));
        return word;
    }

    alignas(64) std::uint32_t words_[sizeof(T) / 4][Lanes];
};

namespace detail {
template <class F>
[[gnu::target("avx2,fma,bmi,bmi2,popcnt"), gnu::flatten]] void run_with_avx2(F& f) {
    f(std::integral_constant<unsigned, 8>{});
}
template <class F>
[[gnu::target("avx512f,avx512bw,avx512cd,avx512dq,avx512vl,avx2,fma,bmi,bmi2,popcnt"), gnu::flatten]] void
run_with_avx512(F& f) {
    f(std::integral_constant<unsigned, 16>{});
}
} // namespace detail

/// Lanes of the vectors in use; 0: none.
[[nodiscard]] inline unsigned vector_lanes() {
    switch (instructions_in_use()) {
    case Instructions::avx512:
        return 16;
    case Instructions::avx2:
        return 8;
    default:
        return 0;
    }
}

/// Calls f(width), compiled for the instructions in use: `width` is a constant, 8 or 16. All that f calls
/// becomes part of it. False, without a call, if the processor has neither.
template <class F>
HEADRACE_BATCH_CODE bool run_with_vectors(F&& f) {
    switch (vector_lanes()) {
    case 16:
        detail::run_with_avx512(f);
        return true;
    case 8:
        detail::run_with_avx2(f);
        return true;
    default:
        return false;
    }
}

} // namespace headrace

    #pragma GCC diagnostic pop

#endif
