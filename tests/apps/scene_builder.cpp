// tests/apps/scene_builder.cpp - see scene_builder.hpp.
#include "apps/scene_builder.hpp"
#include "scene_readers.hpp"
#include "vector_math.hpp"

#include <array>

namespace path_tracer::test {

SceneBuilder& SceneBuilder::material(const SurfaceDescription& surface) {
    scene_.materials.push_back(surface);
    return *this;
}

SceneBuilder& SceneBuilder::triangle(Point a, Point b, Point c) {
    scene_.triangles.push_back({a, b, c, static_cast<uint32_t>(scene_.materials.size() - 1)});
    return *this;
}

SceneBuilder& SceneBuilder::light(const PunctualLightDescription& light) {
    scene_.lights.push_back(light);
    return *this;
}

SceneBuilder& SceneBuilder::box(Float3 lo, Float3 hi) {
    const auto corner = [&](int i) {
        return wide({(i & 1 ? hi : lo).x, (i & 2 ? hi : lo).y, (i & 4 ? hi : lo).z});
    };
    constexpr std::array<std::array<int, 4>, 6> faces = {
        {{0, 4, 6, 2}, {1, 3, 7, 5}, {0, 1, 5, 4}, {2, 6, 7, 3}, {0, 2, 3, 1}, {4, 5, 7, 6}}};
    for (const auto& face : faces) {
        triangle(corner(face[0]), corner(face[1]), corner(face[2]));
        triangle(corner(face[0]), corner(face[2]), corner(face[3]));
    }
    return *this;
}

SceneBuilder& SceneBuilder::sphere(Float3 centre, float radius, int subdivisions) {
    const auto divide = [&](const auto& self, Float3 a, Float3 b, Float3 c, int left) -> void {
        if (left == 0) {
            triangle(wide(centre + a * radius), wide(centre + b * radius), wide(centre + c * radius));
            return;
        }
        // Symmetric in its two corners, so that neighbours get the same bits.
        const Float3 ab = normalised(a + b), bc = normalised(b + c), ca = normalised(c + a);
        self(self, a, ab, ca, left - 1);
        self(self, ab, b, bc, left - 1);
        self(self, ca, bc, c, left - 1);
        self(self, ab, bc, ca, left - 1);
    };
    for (const float x : {-1.0f, 1.0f})
        for (const float y : {-1.0f, 1.0f})
            for (const float z : {-1.0f, 1.0f}) {
                const Float3 a{x, 0, 0}, b{0, y, 0}, c{0, 0, z};
                if (x * y * z > 0)
                    divide(divide, a, b, c, subdivisions);
                else
                    divide(divide, a, c, b, subdivisions);
            }
    return *this;
}

SceneBuilder& SceneBuilder::soup(std::mt19937& random, int count, float extent, float size) {
    std::uniform_real_distribution<float> place(-extent, extent), shape(-size / 2, size / 2);
    for (int i = 0; i < count; ++i) {
        const Float3 centre{place(random), place(random), place(random)};
        const auto corner = [&] {
            return wide(centre + Float3{shape(random), shape(random), shape(random)});
        };
        const Point a = corner(), b = corner(), c = corner();
        triangle(a, b, c);
    }
    return *this;
}

SceneBuilder& SceneBuilder::normals(const std::function<Point(Point corner)>& normal_at) {
    scene_.normals.clear();
    for (SceneTriangle& triangle : scene_.triangles) {
        const Point a = triangle.a, b = triangle.b, c = triangle.c;
        triangle.normals = SceneTriangle::none;
        give_normals(scene_, triangle, cross(b - a, c - a), {normal_at(a), normal_at(b), normal_at(c)});
    }
    return *this;
}

SceneBuilder& SceneBuilder::colours(const std::function<Rgb(Point corner)>& colour_at) {
    scene_.colours.clear();
    for (SceneTriangle& triangle : scene_.triangles) {
        triangle.colours = static_cast<uint32_t>(scene_.colours.size());
        const auto at = [&](Point corner) { return CornerColour{colour_at(corner)}; };
        scene_.colours.push_back({at(triangle.a), at(triangle.b), at(triangle.c)});
    }
    return *this;
}

std::vector<Triangle> as_floats(const Scene& scene) {
    std::vector<Triangle> triangles;
    for (const SceneTriangle& triangle : scene.triangles)
        triangles.push_back({rounded(triangle.a), triangle.material, rounded(triangle.b),
                             static_cast<uint32_t>(triangles.size()), rounded(triangle.c), 0});
    return triangles;
}

} // namespace path_tracer::test
