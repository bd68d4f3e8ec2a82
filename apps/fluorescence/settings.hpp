// apps/fluorescence/settings.hpp - how a problem is simulated.
#pragma once
#include <cstdint>

namespace fluorescence {

enum class KernelChoice : std::uint8_t { consumer, producer };
enum class GridChoice : std::uint8_t { rz, xyz };

struct Settings {
    KernelChoice kernel = KernelChoice::producer;
    GridChoice grid = GridChoice::rz;
    std::uint64_t photons = 1'000'000; ///< packets
    std::uint64_t seed = 1;
    double emission_weight = 0.1; ///< of a fluorescent packet, at least; smaller: more of them, less noise
    std::uint32_t most_steps =
        1u << 29;         ///< where nothing absorbs, some packets never end: see Totals::cut_off
    bool fluence = false; ///< by the ways of packets
};

} // namespace fluorescence
