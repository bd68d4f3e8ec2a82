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
              triangle.colours < scene.colours.size()) ||
            !(triangle.places == path_tracer::SceneTriangle::none || triangle.places < scene.places.size()))
            std::abort();
    for (const path_tracer::SceneTriangle& triangle : scene.triangles)
        for (const auto* use : scene.materials[triangle.material].textures.all())
            if (*use && (triangle.places == path_tracer::SceneTriangle::none ||
                         triangle.places + (*use)->set >= scene.places.size() ||
                         (*use)->image >= scene.images.size()))
                std::abort();
    for (const auto& places : scene.places)
        for (const path_tracer::TexturePoint& place : places)
            if (!(std::abs(place.u) <= 1e10f && std::abs(place.v) <= 1e10f)) std::abort();
    for (const path_tracer::TextureImage& image : scene.images)
        if (image.texels.empty() || image.texels.size() != std::size_t{image.width} * image.height)
            std::abort();
    for (const auto& colours : scene.colours)
        for (const auto& [colour, opacity] : colours)
            for (const float part : {colour.r, colour.g, colour.b, opacity})
                if (!(part >= 0 && part <= 1)) std::abort();
    for (const path_tracer::SurfaceDescription& surface : scene.materials)
        if (path_tracer::fault_of(surface)) std::abort();
}

} // namespace headrace::fuzz
