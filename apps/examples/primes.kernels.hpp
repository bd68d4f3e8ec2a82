// apps/examples/primes.kernels.hpp - a number is a resumable unit: divisions, then squarings if it needs
// them.
#pragma once
#include <headrace/kernel.hpp>

struct Number {
    std::uint32_t n; ///< odd, at least 3
};

/// Small divisors, then Miller and Rabin's test. The witnesses 2, 7 and 61 are enough for 32 bits (Jaeschke,
/// "On strong pseudoprimes to several bases", 1993). Many numbers need one step, a prime about a hundred.
struct Test {
    struct State {
        std::uint32_t n, divisor, witness, bit, power; ///< power: the witness to the upper bits of n - 1
        bool is_prime;
    };
    static constexpr unsigned phase_percent[] = {0, 50}; ///< squarings once half of the lanes wait for one
};

struct CountPrimes {
    using Units = headrace::Kinds<headrace::ResumableKind<Number, 0, Test>>;
    headrace::Sum<std::uint64_t> primes;

    HEADRACE_KERNEL Test::State begin(auto&, Number number) const { return {number.n, 3, 2, 32, 1, true}; }
    HEADRACE_KERNEL headrace::Phase step(headrace::Constant<0>, auto&, Test::State& test) const {
        if (test.divisor * test.divisor > test.n) return headrace::Phase::done;
        test.is_prime = test.n % test.divisor != 0;
        test.divisor += 2;
        return !test.is_prime ? headrace::Phase::done : headrace::Phase{test.divisor > 61 ? 1u : 0u};
    }
    HEADRACE_KERNEL headrace::Phase step(headrace::Constant<1>, auto&, Test::State& test) const {
        const std::uint64_t n = test.n, root = test.power, square = root * root % n;
        test.is_prime = square != 1 || root == 1 || root == n - 1; // modulo a prime, 1 has two roots
        const bool is_set = ((n - 1) >> --test.bit & 1) != 0;
        test.power = static_cast<std::uint32_t>(is_set ? square * test.witness % n : square);
        if (test.is_prime && test.bit > 0) return headrace::Phase{1};
        test.is_prime = test.is_prime && test.power == 1;
        if (!test.is_prime || test.witness == 61) return headrace::Phase::done;
        test = {test.n, test.divisor, test.witness == 2 ? 7u : 61u, 32, 1, true};
        return headrace::Phase{1};
    }
    HEADRACE_KERNEL void finish(auto&, Test::State& test) const { primes.add(0, test.is_prime ? 1 : 0); }
};

struct OddNumbers {
    HEADRACE_KERNEL Number operator()(std::uint64_t i) const {
        return {static_cast<std::uint32_t>(2 * i + 3)};
    }
};
