// tests/apps/reference_gltf.cpp - see reference_gltf.hpp.
#include "apps/reference_gltf.hpp"

#include <nlohmann/json.hpp>
#include <png.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <numbers>
#include <stdexcept>
#include <string_view>

namespace path_tracer::test {
namespace {

using Json = nlohmann::json;

std::string decoded(const std::string& uri) {
    constexpr std::string_view letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    std::string bytes;
    std::uint32_t bits = 0;
    int count = 0;
    for (std::size_t i = uri.find(',') + 1; i < uri.size() && uri[i] != '='; ++i) {
        bits = bits << 6 | static_cast<std::uint32_t>(letters.find(uri[i]));
        count += 6;
        if (count < 8) continue;
        count -= 8;
        bytes += static_cast<char>(bits >> count & 0xff);
    }
    return bytes;
}

Vector vector_of(const Json& json, const char* key, Vector otherwise) {
    if (!json.contains(key)) return otherwise;
    const auto numbers = json.at(key).get<std::vector<double>>();
    return {numbers.at(0), numbers.at(1), numbers.at(2)};
}

const Json* extension(const Json& json, const char* name) {
    const auto all = json.find("extensions");
    if (all == json.end()) return nullptr;
    const auto found = all->find(name);
    return found == all->end() ? nullptr : &*found;
}

/// An affine map as three columns and a shift.
struct Map {
    Vector x{1, 0, 0}, y{0, 1, 0}, z{0, 0, 1}, shift{0, 0, 0};

    [[nodiscard]] Vector turned(Vector a) const { return a.x * x + a.y * y + a.z * z; }
    [[nodiscard]] Map after(const Map& inner) const {
        return {turned(inner.x), turned(inner.y), turned(inner.z), turned(inner.shift) + shift};
    }
    [[nodiscard]] double determinant() const { return dot(x, cross(y, z)); }
    /// By the inverse, transposed.
    [[nodiscard]] Vector normal(Vector n) const {
        const double by = 1 / determinant();
        return unit(by * (n.x * cross(y, z) + n.y * cross(z, x) + n.z * cross(x, y)));
    }
};

Map map_of(Vector shift, const std::array<double, 4>& turn, Vector scale) {
    const Vector axis{turn[0], turn[1], turn[2]};
    // v + 2 w (axis x v) + 2 axis x (axis x v)
    const auto turned = [&](Vector v) {
        const Vector across = cross(axis, v);
        return v + 2 * turn[3] * across + 2 * cross(axis, across);
    };
    return {scale.x * turned({1, 0, 0}), scale.y * turned({0, 1, 0}), scale.z * turned({0, 0, 1}), shift};
}

class Reader {
public:
    explicit Reader(const std::string& text) : json_(Json::parse(text)) {
        buffer_ = decoded(json_.at("buffers").at(0).at("uri"));
        for (const Json& material : json_.value("materials", Json::array()))
            scene_.materials.push_back(material_of(material));
        for (const Json& node : json_.at("scenes").at(json_.value("scene", 0)).at("nodes"))
            add_node(json_.at("nodes").at(node.get<std::size_t>()), {});
    }
    ReferenceScene take() { return std::move(scene_); }

private:
    /// The numbers of an accessor of floats, element by element.
    std::vector<double> floats(std::size_t accessor, std::size_t width) const {
        const auto [bytes, count] = data_of(accessor, 5126);
        std::vector<double> numbers;
        for (std::size_t i = 0; i < count * width; ++i) {
            float number;
            std::memcpy(&number, bytes + i * sizeof number, sizeof number);
            numbers.push_back(double{number});
        }
        return numbers;
    }
    std::pair<const char*, std::size_t> data_of(std::size_t number, int component) const {
        const Json& accessor = json_.at("accessors").at(number);
        if (accessor.at("componentType") != component)
            throw std::runtime_error("an accessor of another type");
        const Json& view = json_.at("bufferViews").at(accessor.at("bufferView").get<std::size_t>());
        return {buffer_.data() + view.value("byteOffset", 0u), accessor.at("count").get<std::size_t>()};
    }

    ReferenceTexture texture_of(const Json& info, bool is_colour) const {
        const Json& texture = json_.at("textures").at(info.at("index").get<std::size_t>());
        const std::string bytes =
            decoded(json_.at("images").at(texture.at("source").get<std::size_t>()).at("uri"));
        png_image png{};
        png.version = PNG_IMAGE_VERSION;
        if (png_image_begin_read_from_memory(&png, bytes.data(), bytes.size()) == 0)
            throw std::runtime_error(png.message);
        png.format = PNG_FORMAT_RGBA;
        std::vector<std::uint8_t> samples(PNG_IMAGE_SIZE(png));
        if (png_image_finish_read(&png, nullptr, samples.data(), 0, nullptr) == 0)
            throw std::runtime_error(png.message);
        ReferenceTexture result;
        result.width = png.width;
        result.height = png.height;
        for (std::size_t i = 0; i < samples.size(); i += 4) {
            ReferenceTexture::Texel& texel = result.texels.emplace_back();
            for (std::size_t part = 0; part < 4; ++part) {
                const double number = samples[i + part] / 255.0;
                texel[part] = !is_colour || part == 3 ? number
                              : number <= 0.04045     ? number / 12.92
                                                      : std::pow((number + 0.055) / 1.055, 2.4);
            }
        }
        if (const Json* transform = extension(info, "KHR_texture_transform")) {
            const auto shift = transform->value("offset", std::array<double, 2>{0, 0}),
                       scale = transform->value("scale", std::array<double, 2>{1, 1});
            const double turn = transform->value("rotation", 0.0), c = std::cos(turn), s = std::sin(turn);
            // The specification's example (a quadrant, turned by 90 degrees) fixes the sign of the angle.
            result.map = {c * scale[0], s * scale[1], shift[0], -s * scale[0], c * scale[1], shift[1]};
        }
        if (texture.contains("sampler")) {
            const Json& sampler = json_.at("samplers").at(texture.at("sampler").get<std::size_t>());
            const auto wrap = [&](const char* key) {
                const int number = sampler.value(key, 10497);
                return number == 33071   ? ReferenceTexture::Wrap::keeps_edge
                       : number == 33648 ? ReferenceTexture::Wrap::mirrors
                                         : ReferenceTexture::Wrap::repeats;
            };
            result.wrap_u = wrap("wrapS");
            result.wrap_v = wrap("wrapT");
            result.is_nearest = sampler.value("magFilter", 9729) == 9728;
        }
        return result;
    }

    ReferenceMaterial material_of(const Json& json) const {
        ReferenceMaterial material;
        const Json pbr = json.value("pbrMetallicRoughness", Json::object());
        const auto base = pbr.value("baseColorFactor", std::vector<double>{1, 1, 1, 1});
        material.base = {base.at(0), base.at(1), base.at(2)};
        material.opacity = base.at(3);
        material.metallic = pbr.value("metallicFactor", 1.0);
        material.roughness = pbr.value("roughnessFactor", 1.0);
        if (pbr.contains("baseColorTexture"))
            material.base_texture = texture_of(pbr.at("baseColorTexture"), true);
        if (pbr.contains("metallicRoughnessTexture"))
            material.metal_texture = texture_of(pbr.at("metallicRoughnessTexture"), false);
        if (const Json* ior = extension(json, "KHR_materials_ior")) material.ior = ior->value("ior", 1.5);
        const double head_on = std::pow((material.ior - 1) / (material.ior + 1), 2);
        material.head_on = {head_on, head_on, head_on};
        material.edge = 1;
        if (const Json* specular = extension(json, "KHR_materials_specular")) {
            material.edge = specular->value("specularFactor", 1.0);
            const Vector tinted = vector_of(*specular, "specularColorFactor", {1, 1, 1}) * material.head_on;
            material.head_on = material.edge * Vector{std::min(tinted.x, 1.0), std::min(tinted.y, 1.0),
                                                      std::min(tinted.z, 1.0)};
        }
        give_extensions(json, material);
        const std::string mode = json.value("alphaMode", "OPAQUE");
        material.alpha = mode == "MASK"    ? ReferenceMaterial::Alpha::mask
                         : mode == "BLEND" ? ReferenceMaterial::Alpha::blend
                                           : ReferenceMaterial::Alpha::opaque;
        material.cutoff = json.value("alphaCutoff", 0.5);
        return material;
    }
    static void give_extensions(const Json& json, ReferenceMaterial& material) {
        if (const Json* transmission = extension(json, "KHR_materials_transmission"))
            material.transmission = transmission->value("transmissionFactor", 0.0);
        if (const Json* volume = extension(json, "KHR_materials_volume")) {
            material.is_thin = !(volume->value("thicknessFactor", 0.0) > 0);
            const Vector left = vector_of(*volume, "attenuationColor", {1, 1, 1});
            if (volume->contains("attenuationDistance"))
                material.absorption = -1 / volume->at("attenuationDistance").get<double>() *
                                      Vector{std::log(left.x), std::log(left.y), std::log(left.z)};
        }
        if (const Json* coat = extension(json, "KHR_materials_clearcoat")) {
            material.coat = coat->value("clearcoatFactor", 0.0);
            material.coat_roughness = coat->value("clearcoatRoughnessFactor", 0.0);
        }
        if (const Json* sheen = extension(json, "KHR_materials_sheen")) {
            material.sheen = vector_of(*sheen, "sheenColorFactor", {0, 0, 0});
            material.sheen_roughness = sheen->value("sheenRoughnessFactor", 0.0);
        }
        material.emission = vector_of(json, "emissiveFactor", {0, 0, 0});
        if (const Json* strength = extension(json, "KHR_materials_emissive_strength"))
            material.emission = strength->value("emissiveStrength", 1.0) * material.emission;
    }

    void add_node(const Json& node, const Map& parent) {
        const Map own = map_of(vector_of(node, "translation", {0, 0, 0}),
                               node.value("rotation", std::array<double, 4>{0, 0, 0, 1}),
                               vector_of(node, "scale", {1, 1, 1}));
        const Map world = parent.after(own);
        if (node.contains("mesh")) {
            const Json& mesh = json_.at("meshes").at(node.at("mesh").get<std::size_t>());
            if (const Json* places = extension(node, "EXT_mesh_gpu_instancing"))
                add_instances(mesh, places->at("attributes"), world);
            else
                add_mesh(mesh, world);
        }
        if (const Json* light = extension(node, "KHR_lights_punctual")) add_light(*light, world);
        for (const Json& child : node.value("children", Json::array()))
            add_node(json_.at("nodes").at(child.get<std::size_t>()), world);
    }
    void add_instances(const Json& mesh, const Json& places, const Map& world) {
        const auto shifts = floats(places.at("TRANSLATION"), 3), turns = floats(places.at("ROTATION"), 4),
                   scales = floats(places.at("SCALE"), 3);
        for (std::size_t i = 0; 3 * i < shifts.size(); ++i)
            add_mesh(mesh,
                     world.after(map_of({shifts[3 * i], shifts[3 * i + 1], shifts[3 * i + 2]},
                                        {turns[4 * i], turns[4 * i + 1], turns[4 * i + 2], turns[4 * i + 3]},
                                        {scales[3 * i], scales[3 * i + 1], scales[3 * i + 2]})));
    }
    void add_mesh(const Json& mesh, const Map& world) {
        for (const Json& primitive : mesh.at("primitives")) add_primitive(primitive, world);
    }
    void add_primitive(const Json& primitive, const Map& world) {
        const Json& attributes = primitive.at("attributes");
        const auto numbers = [&](const char* name, std::size_t width) {
            return attributes.contains(name) ? floats(attributes.at(name), width) : std::vector<double>{};
        };
        const auto places = numbers("POSITION", 3), normals = numbers("NORMAL", 3),
                   textures = numbers("TEXCOORD_0", 2), colours = numbers("COLOR_0", 4);
        const auto [indices, count] = data_of(primitive.at("indices"), 5123);
        for (std::size_t i = 0; i < count; i += 3) {
            ReferenceTriangle triangle;
            triangle.material = primitive.at("material");
            triangle.is_smooth = !normals.empty();
            for (std::size_t k = 0; k < 3; ++k) {
                std::uint16_t index;
                std::memcpy(&index, indices + 2 * (i + k), sizeof index);
                ReferenceCorner& corner = triangle.corners[k];
                const auto three = [index = std::size_t{index}](const std::vector<double>& all,
                                                                std::size_t width) {
                    return Vector{all.at(width * index), all.at(width * index + 1),
                                  all.at(width * index + 2)};
                };
                corner.place = world.turned(three(places, 3)) + world.shift;
                if (!normals.empty()) corner.normal = world.normal(three(normals, 3));
                if (!textures.empty()) {
                    corner.u = textures.at(std::size_t{2} * index);
                    corner.v = textures.at(std::size_t{2} * index + 1);
                }
                if (!colours.empty()) {
                    corner.colour = three(colours, 4);
                    corner.opacity = colours.at(std::size_t{4} * index + 3);
                }
            }
            // Where a node mirrors, so are its fronts.
            if (world.determinant() < 0) std::swap(triangle.corners[1], triangle.corners[2]);
            scene_.triangles.push_back(triangle);
        }
        scene_.close_group();
    }
    void add_light(const Json& reference, const Map& world) {
        const Json& json = extension(json_, "KHR_lights_punctual")
                               ->at("lights")
                               .at(reference.at("light").get<std::size_t>());
        constexpr double lumens = 683; // as README.md of the program says
        ReferenceLight light;
        light.place = world.shift;
        light.axis = unit(world.turned({0, 0, -1}));
        light.strength = json.value("intensity", 1.0) / lumens * vector_of(json, "color", {1, 1, 1});
        light.range = json.value("range", 0.0);
        const std::string type = json.at("type");
        light.kind = type == "point"  ? ReferenceLight::Kind::point
                     : type == "spot" ? ReferenceLight::Kind::spot
                                      : ReferenceLight::Kind::directional;
        const Json cone = json.value("spot", Json::object());
        light.inner_angle = cone.value("innerConeAngle", 0.0);
        light.outer_angle = cone.value("outerConeAngle", std::numbers::pi / 4);
        scene_.lights.push_back(light);
    }

    Json json_;
    std::string buffer_;
    ReferenceScene scene_;
};

} // namespace

ReferenceScene read_reference_gltf(const std::string& text) { return Reader(text).take(); }

} // namespace path_tracer::test
