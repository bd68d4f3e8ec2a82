// apps/path_tracer/prepared_scene.cpp - see prepared_scene.hpp.
#include "prepared_scene.hpp"
#include "bvh.hpp"
#include "vector_math.hpp"

#include <algorithm>
#include <cmath>

namespace path_tracer {
namespace {

double area(const Triangle& triangle) {
    const Float3 n = cross(triangle.b - triangle.a, triangle.c - triangle.a);
    return 0.5 * std::hypot(double{n.x}, double{n.y}, double{n.z});
}

Material prepare_material(const SurfaceDescription& surface) {
    // How often a path takes each part: by how much light it sends on. Grey surfaces then have no variance
    // from it.
    const float glass = luminance(surface.glass), mirror = luminance(surface.mirror),
                diffuse = luminance(surface.diffuse);
    const float total = glass + mirror + diffuse;
    const auto chance = [total](float part) { return total > 0 ? part / total : 0; };
    const auto divided = [&](Rgb part, float weight) {
        return weight > 0 ? part * (1 / chance(weight)) : Rgb{0, 0, 0};
    };
    Material material{};
    material.glass_chance = chance(glass);
    // Exactly 1 together where nothing is diffuse, or rounding would now and then end a path at a mirror.
    material.mirror_chance = diffuse > 0 ? chance(mirror) : 1 - material.glass_chance;
    material.diffuse = divided(surface.diffuse, diffuse);
    material.mirror = divided(surface.mirror, mirror);
    material.glass = divided(surface.glass, glass);
    material.ior = surface.ior;
    material.emission = surface.emission;
    material.albedo = surface.diffuse;
    material.is_emitter = luminance(surface.emission) > 0 ? 1 : 0;
    return material;
}

/// Source  Vose, "A linear algorithm for generating random numbers with a given distribution", 1991
std::vector<Light> alias_table(const std::vector<uint32_t>& emitters, const std::vector<double>& weights,
                               double total) {
    const std::size_t count = emitters.size();
    std::vector<Light> table(count);
    std::vector<double> filled(count);
    std::vector<uint32_t> poor, rich;
    for (std::size_t i = 0; i < count; ++i) {
        table[i] = {emitters[i], 1, static_cast<uint32_t>(i)};
        filled[i] = weights[i] / total * static_cast<double>(count);
        (filled[i] < 1 ? poor : rich).push_back(static_cast<uint32_t>(i));
    }
    while (!poor.empty() && !rich.empty()) {
        const uint32_t low = poor.back(), high = rich.back();
        poor.pop_back();
        table[low].keep = static_cast<float>(filled[low]);
        table[low].alias = high;
        filled[high] -= 1 - filled[low];
        if (filled[high] < 1) {
            rich.pop_back();
            poor.push_back(high);
        }
    }
    return table; // what is left over differs from 1 by rounding only
}

} // namespace

PreparedScene prepare_scene(const Scene& scene) {
    PreparedScene prepared;
    float farthest = 0;
    for (const Triangle& triangle : scene.triangles)
        for (const Float3 corner : {triangle.a, triangle.b, triangle.c})
            for (const float value : {corner.x, corner.y, corner.z})
                farthest = std::max(farthest, std::abs(value));
    prepared.ray_offset = farthest * 0x1p-20f;
    Bvh bvh = build_bvh(scene.triangles, 2 * prepared.ray_offset);
    prepared.nodes = std::move(bvh.nodes);
    prepared.triangles.reserve(bvh.order.size());
    for (const uint32_t index : bvh.order) prepared.triangles.push_back(scene.triangles[index]);
    prepared.materials.reserve(scene.materials.size());
    for (const SurfaceDescription& surface : scene.materials)
        prepared.materials.push_back(prepare_material(surface));

    std::vector<uint32_t> emitters;
    std::vector<double> weights;
    double total = 0;
    std::vector<bool> seen(scene.triangles.size()); // a triangle may lie in several leaves
    for (std::size_t i = 0; i < prepared.triangles.size(); ++i) {
        if (seen[bvh.order[i]]) continue;
        seen[bvh.order[i]] = true;
        const Triangle& triangle = prepared.triangles[i];
        const Material& material = prepared.materials[triangle.material];
        const double weight = area(triangle) * luminance(material.emission);
        if (!(weight > 0)) continue;
        emitters.push_back(static_cast<uint32_t>(i));
        weights.push_back(weight);
        total += weight;
    }
    for (Material& material : prepared.materials)
        if (material.is_emitter != 0)
            material.inverse_density = static_cast<float>(total / luminance(material.emission));
    prepared.light_count = static_cast<uint32_t>(emitters.size());
    prepared.lights = emitters.empty() ? std::vector<Light>(1) : alias_table(emitters, weights, total);
    return prepared;
}

} // namespace path_tracer
