// tests/apps/random_stacks.hpp - layered tissues made at random, far beyond what tissues are.
#pragma once
#include "problem.hpp"

#include <cstdint>

namespace fluorescence::test {

/// 1 to 8 layers; n 1 to 3; mua 0 to 1e7 and mus 0 to 1e5 per cm; g -1 to 1, many near 1; d 1e-8 to 1e3 cm.
/// Clear, totally reflecting and very thin layers at any depth. Where hardly anything is absorbed, mus d is
/// at most `thickest`: packets take its square of steps, and 1e4 is as much as one can wait for.
[[nodiscard]] Problem random_stack(std::uint64_t seed, double thickest);

} // namespace fluorescence::test
