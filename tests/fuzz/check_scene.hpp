// tests/fuzz/check_scene.hpp - what must hold of every scene that a reader lets pass.
#pragma once
#include "scene_readers.hpp"

#include <cmath>
#include <cstdlib>

namespace headrace::fuzz {

inline void check_scene(const path_tracer::Scene& scene) {
    const auto is_near = [](const path_tracer::Point& corner) {
        return std::abs(corner.x) <= path_tracer::farthest_coordinate &&
               std::abs(corner.y) <= path_tracer::farthest_coordinate &&
               std::abs(corner.z) <= path_tracer::farthest_coordinate;
    };
    for (const path_tracer::SceneTriangle& triangle : scene.triangles)
        if (!is_near(triangle.a) || !is_near(triangle.b) || !is_near(triangle.c) ||
            triangle.material >= scene.materials.size() ||
            !(triangle.normals == path_tracer::SceneTriangle::none ||
              triangle.normals < scene.normals.size()) ||
            !(triangle.colours == path_tracer::SceneTriangle::none ||
              triangle.colours < scene.colours.size()))
            std::abort();
    for (const auto& colours : scene.colours)
        for (const path_tracer::Rgb& colour : colours)
            for (const float part : {colour.r, colour.g, colour.b})
                if (!(part >= 0 && part <= 1)) std::abort();
    for (const path_tracer::SurfaceDescription& surface : scene.materials)
        if (path_tracer::fault_of(surface)) std::abort();
}

} // namespace headrace::fuzz
