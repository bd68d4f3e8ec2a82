// tests/apps/khronos_models.cpp - see khronos_models.hpp.
#include "apps/khronos_models.hpp"
#include "apps/model_writer.hpp"

#include <cmath>
#include <initializer_list>
#include <numbers>
#include <random>

namespace path_tracer::test {
namespace {

using Json = nlohmann::json;

const Json nearest = {{"magFilter", 9728}};

Json dielectric(std::array<double, 3> base, double roughness, const Json& extensions = Json::object()) {
    Json material = {{"pbrMetallicRoughness",
                      {{"baseColorFactor", {base[0], base[1], base[2], 1}},
                       {"metallicFactor", 0},
                       {"roughnessFactor", roughness}}}};
    if (!extensions.empty()) material["extensions"] = extensions;
    return material;
}
Json metal(std::array<double, 3> base, double roughness, const Json& extensions = Json::object()) {
    Json material = dielectric(base, roughness, extensions);
    material["pbrMetallicRoughness"]["metallicFactor"] = 1;
    return material;
}
Json lambert_of(std::array<double, 3> base) {
    return dielectric(base, 1, {{"KHR_materials_specular", {{"specularFactor", 0}}}});
}
Json transmission(double factor) { return {{"transmissionFactor", factor}}; }
Json volume(std::array<double, 3> colour, double distance) {
    return {{"thicknessFactor", 1}, {"attenuationColor", colour}, {"attenuationDistance", distance}};
}
Json coat(double factor, double roughness) {
    return {{"clearcoatFactor", factor}, {"clearcoatRoughnessFactor", roughness}};
}
Json sheen(std::array<double, 3> colour, double roughness) {
    return {{"sheenColorFactor", colour}, {"sheenRoughnessFactor", roughness}};
}

/// The middle of a cell.
std::array<double, 3> middle(const KhronosModel& model, std::size_t number, double z = 0) {
    const std::size_t column = number % model.columns, row = number / model.columns;
    return {2 * static_cast<double>(column) + 1 - static_cast<double>(model.columns),
            static_cast<double>(model.rows) - 1 - 2 * static_cast<double>(row), z};
}

/// A lamp above the picture, as wide as that.
void add_lamp(ModelWriter& writer) {
    Json lamp = lambert_of({0, 0, 0});
    lamp["emissiveFactor"] = {1, 0.9, 0.8};
    lamp["extensions"]["KHR_materials_emissive_strength"]["emissiveStrength"] = 2;
    writer.shown(rectangle(-6, -3, 6, 3), writer.material(lamp),
                 {{"translation", {0, 6, 4}}, {"rotation", {std::sin(0.9), 0, 0, std::cos(0.9)}}});
}

/// A wall behind, with a texture of squares.
void add_wall(ModelWriter& writer, double z) {
    std::vector<std::uint16_t> squares;
    for (int i = 0; i < 4; ++i)
        for (int j = 0; j < 6; ++j)
            for (const int part : {(i + j) % 2 == 0 ? 230 : 60, 60 + 30 * j, 220 - 40 * i, 255})
                squares.push_back(static_cast<std::uint16_t>(part));
    Json wall = lambert_of({1, 1, 1});
    wall["pbrMetallicRoughness"]["baseColorTexture"] = {{"index", writer.texture(6, 4, squares, nearest)}};
    writer.shown(rectangle(-6, -4, 6, 4, z), writer.material(wall));
}

KhronosModel metal_rough_spheres() {
    KhronosModel model{"MetalRoughSpheres", "", 5, 2, {}, 0.4, 6};
    ModelWriter writer;
    std::vector<std::uint16_t> numbers; // green is roughness, blue is metal
    for (const std::uint16_t is_metal : std::initializer_list<std::uint16_t>{255, 0})
        for (const std::uint16_t roughness : std::initializer_list<std::uint16_t>{0, 51, 102, 179, 255}) {
            numbers.insert(numbers.end(), {std::uint16_t{0}, roughness, is_metal, std::uint16_t{255}});
            model.cells.push_back({std::string(is_metal != 0 ? "metal" : "paint") + " of roughness " +
                                       std::to_string(roughness) + " / 255",
                                   0.01});
        }
    Json material = metal({0.9, 0.5, 0.2}, 1);
    material["pbrMetallicRoughness"]["metallicRoughnessTexture"] = {
        {"index", writer.texture(5, 2, numbers, nearest)}};
    const std::size_t of_all = writer.material(material);
    for (std::size_t i = 0; i < model.cells.size(); ++i) {
        Shape shape = ball(2);
        shape.at_texture((static_cast<double>(i % 5) + 0.5) / 5, i < 5 ? 0.25 : 0.75);
        writer.shown(shape, of_all, {{"translation", middle(model, i)}, {"scale", {0.8, 0.8, 0.8}}});
    }
    add_lamp(writer);
    model.gltf = writer.text();
    return model;
}

KhronosModel transmission_test() {
    KhronosModel model{"TransmissionTest", "", 4, 2, {}, 0.4, 16};
    ModelWriter writer;
    const auto add = [&](const std::string& name, double tolerance, const Shape& shape, const Json& material,
                         double turn) {
        writer.shown(shape, writer.material(material),
                     {{"translation", middle(model, model.cells.size())},
                      {"rotation", {0, std::sin(turn), 0, std::cos(turn)}},
                      {"scale", {0.8, 0.8, 0.8}}});
        model.cells.push_back({name, tolerance});
    };
    const auto glass = [](double factor) {
        return Json{{"KHR_materials_transmission", transmission(factor)}};
    };
    const auto solid = [&](std::array<double, 3> colour, double distance, double ior) {
        Json extensions = glass(1);
        extensions["KHR_materials_volume"] = volume(colour, distance);
        extensions["KHR_materials_ior"] = {{"ior", ior}};
        return extensions;
    };
    const Shape pane = rectangle(-1, -1, 1, 1);
    add("a smooth pane, tinted", 0.005, pane, dielectric({0.9, 0.6, 0.4}, 0, glass(1)), 0.2);
    add("a rough pane", 0.01, pane, dielectric({0.9, 0.9, 0.9}, 0.4, glass(1)), 0.2);
    add("paint that is half a pane", 0.01, pane, dielectric({0.3, 0.8, 0.5}, 0.3, glass(0.5)), 0.2);
    add("smooth glass", 0.005, box(0.7), dielectric({1, 1, 1}, 0, solid({1, 1, 1}, 1, 1.5)), 0.3);
    add("smooth glass that takes its share", 0.005, ball(2),
        dielectric({1, 1, 1}, 0, solid({0.9, 0.5, 0.3}, 1, 1.33)), 0);
    add("rough glass", 0.01, box(0.7), dielectric({1, 1, 1}, 0.3, solid({1, 1, 1}, 1, 1.5)), 0.3);
    add("rough glass that takes its share", 0.01, ball(2),
        dielectric({1, 1, 1}, 0.6, solid({0.3, 0.8, 0.5}, 2, 1.5)), 0);
    add("rough glass of a high index", 0.01, box(0.7),
        dielectric({0.9, 0.9, 1}, 0.25, solid({1, 1, 1}, 1, 2.4)), 0.3);
    add_lamp(writer);
    add_wall(writer, -3);
    model.gltf = writer.text();
    return model;
}

KhronosModel coats_and_cloth() {
    KhronosModel model{"ClearCoatAndSheen", "", 4, 2, {}, 0.4, 6};
    ModelWriter writer;
    const auto add = [&](const std::string& name, double tolerance, const Json& material) {
        writer.shown(ball(2), writer.material(material),
                     {{"translation", middle(model, model.cells.size())}, {"scale", {0.8, 0.8, 0.8}}});
        model.cells.push_back({name, tolerance});
    };
    const auto coated = [](double factor, double roughness) {
        return Json{{"KHR_materials_clearcoat", coat(factor, roughness)}};
    };
    const auto cloth = [](std::array<double, 3> colour, double roughness) {
        return Json{{"KHR_materials_sheen", sheen(colour, roughness)}};
    };
    add("a smooth coat on paint", 0.01, dielectric({0.7, 0.1, 0.1}, 0.6, coated(1, 0)));
    add("half a rough coat on metal", 0.01, metal({0.9, 0.7, 0.3}, 0.5, coated(0.5, 0.3)));
    add("a very rough coat on smooth paint", 0.01, dielectric({0.1, 0.3, 0.7}, 0, coated(1, 0.7)));
    add("a coat on smooth metal", 0.01, metal({0.6, 0.6, 0.6}, 0, coated(1, 0.2)));
    add("fine cloth", 0.015, dielectric({0.1, 0.1, 0.4}, 1, cloth({0.8, 0.8, 0.8}, 0.3)));
    add("cloth", 0.015, dielectric({0.4, 0.2, 0.1}, 1, cloth({0.2, 0.6, 0.9}, 0.6)));
    add("coarse cloth", 0.015, dielectric({0.3, 0.3, 0.3}, 0.8, cloth({1, 1, 1}, 1)));
    Json both = cloth({0.9, 0.3, 0.3}, 0.5);
    both.update(coated(1, 0.1));
    add("a coat on cloth", 0.015, dielectric({0.2, 0.2, 0.2}, 0.9, both));
    add_lamp(writer);
    model.gltf = writer.text();
    return model;
}

/// 48 balls of 512 triangles, by one node of EXT_mesh_gpu_instancing and by plain nodes: enough to be kept as
/// instances.
KhronosModel simple_instancing() {
    KhronosModel model{"SimpleInstancing", "", 4, 3, {}, 0.4, 5};
    ModelWriter writer;
    const std::size_t mesh = writer.mesh(ball(3), writer.material(metal({0.9, 0.6, 0.3}, 0.4)));
    std::mt19937 random(7); // whose numbers are the same everywhere, unlike distributions
    const auto number = [&] { return static_cast<double>(random()) / 4294967296.0; };
    std::vector<double> shifts, turns, scales;
    for (int i = 0; i < 48; ++i) {
        const std::array<double, 3> shift{8 * number() - 4, 6 * number() - 3, 3 * number() - 1.5};
        const std::array<double, 3> scale{0.3 + 0.3 * number(), 0.3 + 0.3 * number(), 0.3 + 0.3 * number()};
        std::array<double, 4> turn{number() - 0.5, number() - 0.5, number() - 0.5, number()};
        const double size = std::hypot(std::hypot(turn[0], turn[1]), std::hypot(turn[2], turn[3]));
        for (double& part : turn) part /= size;
        if (i % 3 == 0) {
            writer.node(mesh, {{"translation", shift}, {"rotation", turn}, {"scale", scale}});
            continue;
        }
        shifts.insert(shifts.end(), shift.begin(), shift.end());
        turns.insert(turns.end(), turn.begin(), turn.end());
        scales.insert(scales.end(), scale.begin(), scale.end());
    }
    const Json attributes = {{"TRANSLATION", writer.numbers("VEC3", 3, shifts)},
                             {"ROTATION", writer.numbers("VEC4", 4, turns)},
                             {"SCALE", writer.numbers("VEC3", 3, scales)}};
    writer.node(mesh, {{"extensions", {{"EXT_mesh_gpu_instancing", {{"attributes", attributes}}}}},
                       {"scale", {1, -1, 1}}});
    for (int i = 0; i < 12; ++i) model.cells.push_back({"metal, cell " + std::to_string(i), 0.01});
    add_lamp(writer);
    model.gltf = writer.text();
    return model;
}

/// Bodies that are not like their mirror images, with normals and textures, mirrored by their nodes.
KhronosModel negative_scale() {
    KhronosModel model{"NegativeScaleTest", "", 4, 2, {}, 0.4, 12};
    ModelWriter writer;
    Shape drop = ball(2); // bent, so that no two sides of it are alike
    for (std::size_t i = 0; i < drop.count(); ++i) {
        double* const at = &drop.places[3 * i];
        at[0] += 0.35 * at[1] + 0.2 * at[2];
        at[1] *= 0.8;
        double* const normal = &drop.normals[3 * i]; // by the inverse, transposed
        normal[2] -= 0.2 * normal[0];
        normal[1] = (normal[1] - 0.35 * normal[0]) / 0.8;
        const double size = std::hypot(normal[0], normal[1], normal[2]);
        for (std::size_t k = 0; k < 3; ++k) normal[k] /= size;
        drop.textures.insert(drop.textures.end(), {at[0] / 2, at[1] / 2});
    }
    std::vector<std::uint16_t> colours;
    for (const int shade : {250, 40, 180, 90})
        for (const int part : {shade, 300 - shade, 120, 255})
            colours.push_back(static_cast<std::uint16_t>(part));
    Json painted = dielectric({1, 1, 1}, 0.3);
    painted["pbrMetallicRoughness"]["baseColorTexture"] = {{"index", writer.texture(2, 2, colours, nearest)}};
    const std::size_t paint = writer.mesh(drop, writer.material(painted));
    const std::size_t metallic = writer.mesh(drop, writer.material(metal({0.9, 0.8, 0.6}, 0.25)));
    Json amber = {{"KHR_materials_transmission", transmission(1)},
                  {"KHR_materials_volume", volume({0.9, 0.6, 0.2}, 0.7)}};
    const std::size_t glass = writer.mesh(drop, writer.material(dielectric({1, 1, 1}, 0, amber)));
    const std::size_t rough_glass = writer.mesh(drop, writer.material(dielectric({1, 1, 1}, 0.4, amber)));
    const auto add = [&](const char* name, double tolerance, std::size_t mesh, std::array<double, 3> scale) {
        for (double& part : scale) part *= 0.65;
        writer.node(mesh, {{"translation", middle(model, model.cells.size())},
                           {"rotation", {0.1, 0.3, 0, std::sqrt(0.9)}},
                           {"scale", scale}});
        model.cells.push_back({name, tolerance});
    };
    add("paint as it is", 0.01, paint, {1, 1, 1});
    add("paint, x mirrored", 0.01, paint, {-1, 1, 1});
    add("metal, y mirrored", 0.01, metallic, {1, -1, 1});
    add("metal, all mirrored", 0.01, metallic, {-1, -1, -1});
    add("glass as it is", 0.005, glass, {1, 1, 1});
    add("glass, x mirrored", 0.005, glass, {-1, 1, 1});
    add("glass, x and z mirrored", 0.005, glass, {-1, 1, -1});
    add("rough glass, z mirrored", 0.01, rough_glass, {1, 1, -1});
    add_lamp(writer);
    add_wall(writer, -3);
    model.gltf = writer.text();
    return model;
}

/// Points, spots and a directional light on materials that are not Lambert; a screen that is half there.
KhronosModel punctual_lamps() {
    KhronosModel model{"LightsPunctualLamp", "", 4, 2, {}, 0.05, 4};
    ModelWriter writer;
    const auto add = [&](const char* name, double tolerance, const Json& material) {
        writer.shown(ball(2), writer.material(material),
                     {{"translation", middle(model, model.cells.size())}, {"scale", {0.7, 0.7, 0.7}}});
        model.cells.push_back({name, tolerance});
    };
    add("metal of roughness 0.3", 0.01, metal({0.9, 0.6, 0.3}, 0.3));
    add("metal of roughness 0.8", 0.01, metal({0.9, 0.6, 0.3}, 0.8));
    add("paint", 0.01, dielectric({0.2, 0.5, 0.7}, 0.4));
    add("a coat on paint", 0.01,
        dielectric({0.7, 0.2, 0.2}, 0.8, {{"KHR_materials_clearcoat", coat(1, 0.3)}}));
    add("cloth", 0.015,
        dielectric({0.1, 0.1, 0.3}, 1, {{"KHR_materials_sheen", sheen({0.8, 0.7, 0.6}, 0.5)}}));
    add("a rough pane", 0.01,
        dielectric({0.8, 0.9, 1}, 0.5, {{"KHR_materials_transmission", transmission(1)}}));
    add("Lambert", 0.005, lambert_of({0.8, 0.8, 0.8}));
    Json half = dielectric({0.8, 0.4, 0.2}, 0.5);
    half["alphaMode"] = "BLEND";
    half["pbrMetallicRoughness"]["baseColorFactor"][3] = 0.6;
    add("paint that is there by 0.6", 0.01, half);
    add_wall(writer, -1.5);
    const double lumens = 683;
    writer.light({{"type", "point"}, {"color", {1, 0.8, 0.6}}, {"intensity", 12 * lumens}},
                 {{"translation", {-2, 2.5, 3}}});
    writer.light({{"type", "spot"},
                  {"intensity", 60 * lumens},
                  {"range", 9},
                  {"spot", {{"innerConeAngle", 0.2}, {"outerConeAngle", 0.5}}}},
                 {{"translation", {2, -1, 5}}, {"rotation", {0.05, 0.05, 0, std::sqrt(1 - 0.005)}}});
    writer.light({{"type", "directional"}, {"color", {0.6, 0.8, 1}}, {"intensity", 1.5 * lumens}},
                 {{"rotation", {-0.3, -0.3, 0, std::sqrt(1 - 0.18)}}});
    model.gltf = writer.text();
    return model;
}

} // namespace

ReferenceView KhronosModel::view() const {
    return {.eye = {0, 0, 12},
            .target = {0, 0, 0},
            .orthographic_height = 2 * static_cast<double>(rows),
            .width = cell * columns,
            .height = cell * rows,
            .sky = {sky, sky, sky},
            .max_depth = max_depth};
}

std::vector<KhronosModel> khronos_models() {
    return {metal_rough_spheres(), transmission_test(), coats_and_cloth(),
            simple_instancing(),   negative_scale(),    punctual_lamps()};
}

} // namespace path_tracer::test
