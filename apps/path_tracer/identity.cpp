// apps/path_tracer/identity.cpp - see identity.hpp.
#include "identity.hpp"
#include <headrace/domains/epochs.hpp>

#include "path_tracer.cl.hpp"
#include "path_tracer.kernels.hpp.hpp"

#include <bit>
#include <cstddef>
#include <span>
#include <string_view>
#include <type_traits>
#include <vector>

namespace path_tracer {
namespace {

/// Values one behind the other, without padding.
class Bytes {
public:
    template <class T>
    void add(const T& value) {
        static_assert(std::has_unique_object_representations_v<T> || std::is_floating_point_v<T>);
        const auto bytes = std::as_bytes(std::span(&value, 1));
        bytes_.insert(bytes_.end(), bytes.begin(), bytes.end());
    }
    void add(const Rgb& colour) {
        for (const float part : {colour.r, colour.g, colour.b}) add(part);
    }
    void add(const Point& point) {
        for (const double coordinate : {point.x, point.y, point.z}) add(coordinate);
    }
    void add(const TextureImage& image) {
        add(image.width);
        add(image.height);
        pictures_ += headrace::fingerprint(std::as_bytes(std::span(image.texels)));
    }
    void add(const SurfaceTextureUses& uses) {
        for (const auto* use : uses.all()) {
            add(use->has_value());
            if (*use) add(**use);
        }
        add(uses.normal_scale);
        add(uses.coat_normal_scale);
    }
    void add(const TextureUse& use) {
        add(use.image);
        for (const double number : use.transform) add(number);
        add(use.wrap_u);
        add(use.wrap_v);
        add(use.is_pixelated);
        add(use.set);
    }
    [[nodiscard]] std::string fingerprint() const { return headrace::fingerprint(bytes_) + pictures_; }

private:
    std::vector<std::byte> bytes_;
    std::string pictures_; ///< the fingerprint of each
};

std::string fingerprint_of(const Scene& scene) {
    Bytes bytes;
    for (const SceneTriangle& triangle : scene.triangles) {
        for (const Point& corner : {triangle.a, triangle.b, triangle.c}) bytes.add(corner);
        bytes.add(triangle.material);
        bytes.add(triangle.normals);
        bytes.add(triangle.colours);
        bytes.add(triangle.places);
    }
    for (const SceneMesh& mesh : scene.meshes) {
        bytes.add(mesh.first);
        bytes.add(mesh.count);
    }
    for (const auto& [mesh, place] : scene.instances) {
        bytes.add(mesh);
        for (const Point& column : place.columns) bytes.add(column);
        bytes.add(place.shift);
    }
    for (const auto& normals : scene.normals)
        for (const uint32_t normal : normals) bytes.add(normal);
    for (const auto& colours : scene.colours)
        for (const CornerColour& colour : colours) {
            bytes.add(colour.colour);
            bytes.add(colour.opacity);
        }
    for (const auto& places : scene.places)
        for (const TexturePoint& place : places) {
            bytes.add(place.u);
            bytes.add(place.v);
        }
    for (const TextureImage& image : scene.images) bytes.add(image);
    for (const PunctualLightDescription& light : scene.lights) {
        bytes.add(light.kind);
        bytes.add(light.place);
        bytes.add(light.axis);
        bytes.add(light.strength);
        for (const double value : {light.range, light.inner_angle, light.outer_angle}) bytes.add(value);
    }
    for (const SurfaceDescription& material : scene.materials) {
        for (const Rgb& colour : {material.base, material.mirror, material.highlight, material.absorption,
                                  material.sheen, material.emission})
            bytes.add(colour);
        for (const float value :
             {material.metallic, material.transmitted, material.roughness, material.highlight_edge,
              material.ior, material.coat, material.coat_roughness, material.sheen_roughness})
            bytes.add(value);
        bytes.add(material.is_thin);
        bytes.add(material.passing);
        bytes.add(material.opacity);
        bytes.add(material.cutoff);
        bytes.add(material.textures);
    }
    return bytes.fingerprint();
}

/// All bits of a number: six decimals are too few.
std::string bits_of(float number) { return std::to_string(std::bit_cast<std::uint32_t>(number)); }

/// Of the text of all their sources: two builds may compute other numbers.
std::string kernels() {
    const std::string text =
        std::string(headrace::embedded::path_tracer_cl).append(headrace::embedded::path_tracer_kernels_hpp);
    return headrace::fingerprint(std::as_bytes(std::span(text)));
}

} // namespace

std::string identity_of(const Options& options, const Scene& scene, const TextureImage* environment,
                        const Frame& frame) {
    std::string lines;
    const auto add = [&](std::string_view name, const std::string& value) {
        lines.append(name).append(": ").append(value).append("\n");
    };
    const auto number = [&](std::string_view name, auto value) { add(name, std::to_string(value)); };
    add("program", "headrace-path-tracer");
    add("kernels", kernels());
    add("scene", fingerprint_of(scene));
    // Numbers of four bytes: no padding.
    add("camera", headrace::fingerprint(std::as_bytes(std::span(&frame.camera, 1))));
    add("--environment", environment == nullptr
                             ? "none"
                             : headrace::fingerprint(std::as_bytes(std::span(environment->texels))) + ' ' +
                                   std::to_string(environment->width) + ' ' +
                                   bits_of(frame.environment_scale) + ' ' + bits_of(frame.environment_turn));
    add("--sky", headrace::fingerprint(std::as_bytes(std::span(&frame.sky, 1))));
    number("--width", frame.width); // what is made; where it lies in the picture, the camera says
    number("--height", frame.height);
    number("--spp", options.samples);
    number("--max-depth", options.max_depth);
    number("--roulette-from", options.roulette_from);
    number("--shadow-rays", options.shadow_rays);
    number("--single-scatter", static_cast<int>(options.scattering == Scattering::single));
    number("--coherent", static_cast<int>(options.coherent));
    number("--seed", options.seed);
    add("--kernel", options.kernel == KernelChoice::consumer ? "consumer" : "producer");
    return lines;
}

} // namespace path_tracer
