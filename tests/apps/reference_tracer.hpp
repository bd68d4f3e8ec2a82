// tests/apps/reference_tracer.hpp - the same physics by other means: double precision, no hierarchy, other
// random numbers, no shadow rays. Nothing is shared with the kernels but the scene's description.
#pragma once
#include "scene.hpp"

#include <optional>
#include <random>

namespace path_tracer::test {

struct Vector {
    double x, y, z;
};

struct ReferenceHit {
    double distance;
    std::size_t triangle;
    double margin; ///< distance to the nearest edge in barycentric terms: 0 on it
};

/// The nearest triangle by solving for each: distance, barycentric coordinates (Cramer's rule).
[[nodiscard]] std::optional<ReferenceHit> reference_hit(const Scene& scene, Vector origin, Vector direction);

/// Mean radiance (r) of the picture, by paths whose emission is found by hitting it, and its standard error.
struct ReferenceEstimate {
    double mean, standard_error;
};
[[nodiscard]] ReferenceEstimate reference_estimate(const Scene& scene, const CameraPose& pose, double aspect,
                                                   double sky, int max_depth, int paths,
                                                   std::mt19937_64& random);

} // namespace path_tracer::test
