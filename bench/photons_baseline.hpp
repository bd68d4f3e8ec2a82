// bench/photons_baseline.hpp - headrace-fluorescence's steps as a plain CUDA program: one thread a packet,
// with all that it emits, and one launch. No part of the library is on the way but the steps themselves.
#pragma once
#include "fluorescence/layout.h"

#include <cstdint>
#include <span>
#include <vector>

namespace bench {

struct PlainPhotons {
    double seconds;                    ///< of the launch, by CUDA's events
    std::vector<std::uint64_t> totals; ///< as fluorescence::Scores has them
};

[[nodiscard]] PlainPhotons plain_photons(std::span<const fluorescence::Layer> layers,
                                         const fluorescence::Tissue& tissue, std::uint64_t packets);

} // namespace bench
