// tests/apps/model_writer.hpp - glTF put together from shapes, materials and textures.
#pragma once
#include "apps/gltf_writer.hpp"
#include "apps/png_builder.hpp"

#include <array>
#include <cmath>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace path_tracer::test {

/// Vertices and triangles, which run counter-clockwise as seen from outside.
struct Shape {
    std::vector<double> places{}, normals{}, textures{}, colours{}; ///< all but places may be empty
    std::vector<double> indices{};

    void add_vertex(double x, double y, double z) { places.insert(places.end(), {x, y, z}); }
    [[nodiscard]] std::size_t count() const { return places.size() / 3; }
    /// All vertices at one point of a texture.
    Shape& at_texture(double u, double v) {
        for (std::size_t i = 0; i < count(); ++i) textures.insert(textures.end(), {u, v});
        return *this;
    }
};

/// From (x0, y0) to (x1, y1), seen from +z, with u to the right and v down, from 0 to 1.
inline Shape rectangle(double x0, double y0, double x1, double y1, double z = 0) {
    return {.places = {x0, y0, z, x1, y0, z, x1, y1, z, x0, y1, z},
            .textures = {0, 1, 1, 1, 1, 0, 0, 0},
            .indices = {0, 1, 2, 0, 2, 3}};
}

inline Shape box(double half) {
    const BoxParts parts(static_cast<float>(half));
    return {.places = {parts.corners.begin(), parts.corners.end()},
            .indices = {parts.indices.begin(), parts.indices.end()}};
}

/// An octahedron, each side of it divided so many times, blown up to radius 1; with normals.
inline Shape ball(int divisions) {
    Shape shape{.places = {1, 0, 0, -1, 0, 0, 0, 1, 0, 0, -1, 0, 0, 0, 1, 0, 0, -1},
                .indices = {0, 2, 4, 2, 1, 4, 1, 3, 4, 3, 0, 4, 2, 0, 5, 1, 2, 5, 3, 1, 5, 0, 3, 5}};
    for (int i = 0; i < divisions; ++i) {
        std::map<std::pair<double, double>, double> middles;
        const auto middle = [&](double a, double b) {
            const auto [found, is_new] = middles.emplace(std::minmax(a, b), shape.count());
            if (!is_new) return found->second;
            std::array<double, 3> sum{};
            for (std::size_t axis = 0; axis < 3; ++axis)
                sum[axis] = shape.places[3 * static_cast<std::size_t>(a) + axis] +
                            shape.places[3 * static_cast<std::size_t>(b) + axis];
            const double size = std::hypot(sum[0], sum[1], sum[2]);
            shape.add_vertex(sum[0] / size, sum[1] / size, sum[2] / size);
            return found->second;
        };
        std::vector<double> finer;
        for (std::size_t t = 0; t < shape.indices.size(); t += 3) {
            const double a = shape.indices[t], b = shape.indices[t + 1], c = shape.indices[t + 2];
            const double ab = middle(a, b), bc = middle(b, c), ca = middle(c, a);
            finer.insert(finer.end(), {a, ab, ca, ab, b, bc, ca, bc, c, ab, bc, ca});
        }
        shape.indices = finer;
    }
    shape.normals = shape.places;
    return shape;
}

class ModelWriter {
public:
    using Json = nlohmann::json;

    std::size_t material(const Json& material) { return push("materials", material); }
    /// A texture of 8-bit red, green, blue and opacity, row by row from the top. Samplers have glTF's
    /// numbers.
    std::size_t texture(std::uint32_t width, std::uint32_t height, const std::vector<std::uint16_t>& samples,
                        const Json& sampler) {
        const std::string png =
            png_of({.width = width, .height = height, .kind = PNG_COLOR_TYPE_RGBA, .samples = samples});
        const std::size_t image = push("images", {{"uri", "data:image/png;base64," + base64(png)}});
        return push("textures", {{"source", image}, {"sampler", push("samplers", sampler)}});
    }
    std::size_t mesh(const Shape& shape, std::size_t material) {
        Json attributes = {{"POSITION", writer_.add({"VEC3", 3, Numbers::f32, false, shape.places})}};
        const auto add = [&](const char* name, const char* type, std::size_t width,
                             const std::vector<double>& numbers) {
            if (!numbers.empty()) attributes[name] = writer_.add({type, width, Numbers::f32, false, numbers});
        };
        add("NORMAL", "VEC3", 3, shape.normals);
        add("TEXCOORD_0", "VEC2", 2, shape.textures);
        add("COLOR_0", "VEC4", 4, shape.colours);
        const std::size_t indices = writer_.add({"SCALAR", 1, Numbers::u16, false, shape.indices});
        return push(
            "meshes",
            {{"primitives", {{{"attributes", attributes}, {"indices", indices}, {"material", material}}}}});
    }
    /// In the scene. `more`: translation, scale and so on
    void node(std::size_t mesh, Json more = Json::object()) {
        more["mesh"] = mesh;
        roots_.push_back(push("nodes", more));
    }
    void shown(const Shape& shape, std::size_t material, Json more = Json::object()) {
        node(mesh(shape, material), std::move(more));
    }
    void light(const Json& light, Json more) {
        Json& lights = writer_.json["extensions"]["KHR_lights_punctual"]["lights"];
        lights.push_back(light);
        more["extensions"]["KHR_lights_punctual"]["light"] = lights.size() - 1;
        roots_.push_back(push("nodes", more));
    }
    std::size_t numbers(const char* type, std::size_t width, const std::vector<double>& raw) {
        return writer_.add({type, width, Numbers::f32, false, raw});
    }
    std::size_t push(const char* list, const Json& json) {
        writer_.json[list].push_back(json);
        return writer_.json[list].size() - 1;
    }
    [[nodiscard]] std::string text() {
        writer_.json["scene"] = 0;
        writer_.json["scenes"] = {{{"nodes", roots_}}};
        return writer_.text();
    }

private:
    GltfWriter writer_;
    std::vector<std::size_t> roots_;
};

} // namespace path_tracer::test
