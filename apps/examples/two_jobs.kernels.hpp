// apps/examples/two_jobs.kernels.hpp - the kernels of two jobs: the first writes what the second reads.
#pragma once
#include <headrace/kernel.hpp>

/// The steps of the Collatz sequence of index + 1, until it reaches 1.
HEADRACE_KERNEL inline std::uint32_t collatz_steps(std::uint64_t index) {
    std::uint32_t steps = 0;
    for (std::uint64_t n = index + 1; n != 1; n = n % 2 != 0 ? 3 * n + 1 : n / 2) ++steps;
    return steps;
}

struct CountSteps {
    headrace::View<std::uint32_t> steps;
    HEADRACE_KERNEL void operator()(auto&, std::uint64_t i) const { steps[i] = collatz_steps(i); }
};

/// How many numbers take how many steps.
struct CountNumbers {
    headrace::View<const std::uint32_t> steps;
    headrace::Sum<std::uint64_t> numbers;
    HEADRACE_KERNEL void operator()(auto&, std::uint64_t i) const { numbers.add(steps[i], 1); }
};
