// tests/apps/reference_tracer.hpp - the same physics by other means: double precision, no hierarchy but a box
// for each mesh, other random numbers, other ways to choose directions. Emission is found by hitting it, and
// shadow rays go to lights without extent alone. Nothing is shared with the kernels.
#pragma once
#include "apps/reference_scene.hpp"
#include "apps/reference_surface.hpp"

#include <optional>
#include <vector>

namespace path_tracer::test {

struct ReferenceHit {
    double distance;
    std::size_t triangle;
    double u, v;   ///< shares of the second and the third corner
    double margin; ///< distance to the nearest edge in barycentric terms: 0 on it
};

/// The nearest triangle by solving for each: distance, barycentric coordinates (Cramer's rule).
[[nodiscard]] std::optional<ReferenceHit> reference_hit(const ReferenceScene& scene, Vector origin,
                                                        Vector direction);

/// What is seen, and from where. +y is up in the picture.
struct ReferenceView {
    Vector eye, target;
    double vertical_fov_degrees = 45;
    double orthographic_height = 0; ///< above 0: parallel rays, and what is seen is so high
    std::size_t width = 0, height = 0;
    Vector sky{0, 0, 0};
    int max_depth = 8;
};

struct ReferencePixel {
    Vector mean{0, 0, 0}, standard_error{0, 0, 0};
};

/// From so many paths through one pixel.
[[nodiscard]] ReferencePixel reference_pixel(const ReferenceScene& scene, ReferenceAlbedos& albedos,
                                             const ReferenceView& view, std::size_t column, std::size_t row,
                                             int paths);
/// All of them, row by row from the top. Pixels do not depend on how many threads there are.
[[nodiscard]] std::vector<ReferencePixel> reference_picture(const ReferenceScene& scene,
                                                            const ReferenceView& view, int paths);

/// Mean radiance (red) of all of the picture, and its standard error.
struct ReferenceEstimate {
    double mean, standard_error;
};
[[nodiscard]] ReferenceEstimate reference_estimate(const ReferenceScene& scene, const ReferenceView& view,
                                                   int paths, ReferenceRandom& random);

} // namespace path_tracer::test
