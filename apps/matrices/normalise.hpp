// apps/matrices/normalise.hpp - what the host does with matrices: fill, normalise, sum up.
#pragma once
#include "matrices/host_threads.hpp"

#include <cstdint>
#include <span>
#include <string>

namespace matrices {

struct Normalisation {
    float least = 0, most = 0; ///< of the numbers as they were
    double norm = 0;           ///< what (x - least) / most was divided by: its 2-norm; 0: all were alike
    double sum = 0;            ///< of the normalised numbers
};

/// to = (from - least) / most / norm; all zeros if all numbers of `from` are alike. As long as each other,
/// and apart.
///
/// Errors       invalid_argument, which number of `name` is not finite
/// Determinism  the same numbers give the same result, on however many threads
/// Cost         two looks at `from`: the norm follows from sums taken along with least and most, relative to
///              one of the numbers so that nothing cancels, in double precision
Normalisation normalise(std::span<const float> from, std::span<float> to, HostThreads& threads,
                        const std::string& name = "the product");

/// Numbers uniform in [0, 1) x `factor`; number i depends on `seed`, `stream` and i alone.
void fill_uniform(std::span<float> to, std::uint64_t seed, std::uint64_t stream, float factor,
                  HostThreads& threads);

/// The sum, in double precision.
[[nodiscard]] double checksum(std::span<const float> numbers, HostThreads& threads);

} // namespace matrices
