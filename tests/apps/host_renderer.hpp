// tests/apps/host_renderer.hpp - the kernels in a plain loop: no engine, no device, nothing in parallel.
#pragma once
#include "path_tracer.kernels.hpp"
#include "prepared_scene.hpp"

#include <vector>

namespace path_tracer::test {

/// Borrows the arrays.
[[nodiscard]] SceneView view_of(const PreparedScene& scene);

/// A frame of a small picture with what tests mostly want: no roulette, no shadow rays, black sky.
[[nodiscard]] Frame small_frame(const PreparedScene& scene, const CameraPose& pose, uint32_t width,
                                uint32_t height);

/// With or without corners, as the frame says.
[[nodiscard]] VertexResult trace_vertex(const SceneView& scene, const Frame& frame, const PathVertex& vertex);

/// Sums over all samples, pixel by pixel.
[[nodiscard]] std::vector<Rgb> sum_with_consumer(const PreparedScene& scene, const Frame& frame,
                                                 uint32_t samples);
[[nodiscard]] std::vector<Rgb> sum_with_producer(const PreparedScene& scene, const Frame& frame,
                                                 uint32_t samples);

/// Mean of r over the picture, and the standard error of that mean as the samples show it.
struct Estimate {
    double mean, standard_error;
};
[[nodiscard]] Estimate estimate(const PreparedScene& scene, const Frame& frame, uint32_t samples);

} // namespace path_tracer::test
