// apps/path_tracer/path.hpp - path.h as C++ writes it, with references.
#pragma once
#include "scene_view.hpp"
#include "vector_math.hpp"

#include <type_traits>

#include "path.h" // needs the scene view

#include "first_hit.h"

namespace path_tracer {

/// What one vertex gives to its pixel, and whether there is a next one.
struct VertexResult {
    Rgb radiance;
    bool goes_on;
    PathVertex next;
};

/// Where all pixels have samples.
HEADRACE_HOST_DEVICE inline PathVertex begin_path(const Frame& frame, uint64_t index) {
    return begin_path(&frame, headrace::View<const uint32_t>{}, index);
}
/// What the next three know of: all that a scene may have.
using AnyScene = std::integral_constant<int, SHADING_ALL>;

HEADRACE_HOST_DEVICE inline Ray ray_of(const SceneView& scene, const Frame& frame, const PathVertex& vertex) {
    return ray_of(PATH_TRACER_HAS_INSTANCES(AnyScene::value), &scene, &frame, &vertex);
}
HEADRACE_HOST_DEVICE inline Hit nearest_hit(const SceneView& scene, const Ray& ray) {
    return nearest_hit(AnyScene{}, &scene, &ray);
}
HEADRACE_HOST_DEVICE inline bool is_blocked(const SceneView& scene, const Ray& ray, float limit) {
    return is_blocked(AnyScene{}, &scene, &ray, limit);
}
template <int shading>
HEADRACE_HOST_DEVICE inline VertexResult trace_vertex(const SceneView& scene, const Frame& frame,
                                                      const PathVertex& vertex) {
    VertexResult result;
    result.goes_on = trace_vertex(std::integral_constant<int, shading>{}, &scene, &frame, &vertex,
                                  &result.radiance, &result.next);
    return result;
}

} // namespace path_tracer
