// tests/apps/reference_scene.cpp - see reference_scene.hpp.
#include "apps/reference_scene.hpp"

#include <algorithm>
#include <limits>

namespace path_tracer::test {
namespace {

/// The texel's number, for one that may be beyond the edges.
std::size_t wrapped(double number, std::size_t count, ReferenceTexture::Wrap wrap) {
    const auto size = static_cast<double>(count);
    switch (wrap) {
    case ReferenceTexture::Wrap::keeps_edge:
        number = std::clamp(number, 0.0, size - 1);
        break;
    case ReferenceTexture::Wrap::repeats:
        number -= size * std::floor(number / size);
        break;
    case ReferenceTexture::Wrap::mirrors:
        number -= 2 * size * std::floor(number / (2 * size));
        if (number >= size) number = 2 * size - 1 - number;
        break;
    }
    return static_cast<std::size_t>(number);
}

Vector vector_of(Point a) { return {a.x, a.y, a.z}; }
Vector vector_of(Rgb a) { return {double{a.r}, double{a.g}, double{a.b}}; }

} // namespace

ReferenceTexture::Texel ReferenceTexture::at(double u, double v) const {
    const double column = (map[0] * u + map[1] * v + map[2]) * static_cast<double>(width);
    const double row = (map[3] * u + map[4] * v + map[5]) * static_cast<double>(height);
    const auto texel = [&](double x, double y) {
        return texels[wrapped(y, height, wrap_v) * width + wrapped(x, width, wrap_u)];
    };
    if (is_nearest) return texel(std::floor(column), std::floor(row));
    const double left = std::floor(column - 0.5), upper = std::floor(row - 0.5);
    const double right_share = column - 0.5 - left, lower_share = row - 0.5 - upper;
    const Texel a = texel(left, upper), b = texel(left + 1, upper), c = texel(left, upper + 1),
                d = texel(left + 1, upper + 1);
    Texel sum{};
    for (std::size_t i = 0; i < sum.size(); ++i)
        sum[i] = (1 - lower_share) * ((1 - right_share) * a[i] + right_share * b[i]) +
                 lower_share * ((1 - right_share) * c[i] + right_share * d[i]);
    return sum;
}

void ReferenceScene::close_group() {
    constexpr double infinity = std::numeric_limits<double>::infinity();
    const std::size_t first = groups.empty() ? 0 : groups.back().first + groups.back().count;
    ReferenceGroup group{first, triangles.size() - first, {infinity, infinity, infinity}, {}};
    group.hi = -1 * group.lo;
    for (std::size_t i = first; i < triangles.size(); ++i)
        for (const ReferenceCorner& corner : triangles[i].corners) {
            const Vector at = corner.place;
            group.lo = {std::min(group.lo.x, at.x), std::min(group.lo.y, at.y), std::min(group.lo.z, at.z)};
            group.hi = {std::max(group.hi.x, at.x), std::max(group.hi.y, at.y), std::max(group.hi.z, at.z)};
        }
    if (group.count > 0) groups.push_back(group);
}

ReferenceScene reference_scene_of(const Scene& scene) {
    ReferenceScene result;
    for (const SurfaceDescription& surface : scene.materials) {
        ReferenceMaterial material;
        material.base = vector_of(surface.base);
        material.mirror = vector_of(surface.mirror);
        material.transmission = double{surface.transmitted};
        material.ior = double{surface.ior};
        material.is_thin = surface.is_thin;
        material.emission = vector_of(surface.emission);
        result.materials.push_back(material);
    }
    for (const SceneTriangle& triangle : scene.triangles) {
        ReferenceTriangle& plain = result.triangles.emplace_back();
        plain.corners[0].place = vector_of(triangle.a);
        plain.corners[1].place = vector_of(triangle.b);
        plain.corners[2].place = vector_of(triangle.c);
        plain.material = triangle.material;
    }
    result.close_group();
    return result;
}

} // namespace path_tracer::test
