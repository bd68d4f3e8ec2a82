// apps/barnes_hut/bodies.hpp - masses in space: what is simulated.
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

namespace barnes_hut {

struct Vector {
    double x = 0, y = 0, z = 0;
    friend bool operator==(const Vector&, const Vector&) = default;
};

/// In the order of the input.
struct Bodies {
    std::vector<Vector> places, velocities;
    std::vector<double> masses;           ///< 0 or more
    std::vector<std::uint64_t> ids = {};  ///< as the input numbers them; or none
    std::vector<std::uint8_t> types = {}; ///< GADGET's, 0 to 5; or none
    double time = 0;                      ///< when they were so, in the input
    [[nodiscard]] std::size_t size() const { return masses.size(); }
};

/// What they do to each other, in the same order.
struct Field {
    std::vector<Vector> accelerations;
    std::vector<double> potentials; ///< empty unless asked for
};

/// Plummer's sphere in equilibrium: total mass 1, a = 3 pi / 16, so that E = -G/4 and 2 K / |W| = 1 but for
/// the outermost 0.1 %, which are cut off. The centre of mass rests in the origin. `gravity`: G
/// Source  S. J. Aarseth, M. Henon, R. Wielen, "A comparison of numerical methods for the study of star
///         cluster dynamics", A&A 37, 1974
[[nodiscard]] Bodies plummer_sphere(std::size_t count, std::uint64_t seed, double gravity = 1);

} // namespace barnes_hut
