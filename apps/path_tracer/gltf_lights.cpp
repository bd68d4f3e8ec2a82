// apps/path_tracer/gltf_lights.cpp - see gltf_lights.hpp.
#include "gltf_lights.hpp"
#include "corner_shading.hpp"
#include "gltf_extensions.hpp"
#include "text_lines.hpp"
#include "vector_math.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <string>

namespace path_tracer {
namespace {

using Kind = PunctualLightDescription::Kind;
constexpr const char* name_of_extension = "KHR_lights_punctual";

/// A light of the file's list.
struct Entry {
    const GltfFile& file;
    const Json& json;
    std::string name; ///< for messages

    [[noreturn]] void refuse(const char* what) const { file.refuse(name + ' ' + what + "; mend the light"); }
    /// A number that has to be in this range.
    [[nodiscard]] double number(const Json& object, const char* key, double otherwise, double least,
                                double most, const char* fault) const {
        const double value = file.number(object, key, otherwise);
        if (!(value >= least && value <= most)) refuse(fault);
        return value;
    }
};

Entry entry_of(const GltfFile& file, const Json& reference) {
    const Json* const all = extension(file.root(), name_of_extension);
    if (all == nullptr) file.refuse("has a node with a light, and no list of lights; export it again");
    const Json& lights = file.list(*all, "lights");
    const std::uint64_t number = file.size(reference, "light", lights.size());
    if (number >= lights.size())
        file.refuse("has a node with a light that is none of its " + std::to_string(lights.size()) +
                    "; export it again");
    const Json& json = lights[number];
    return {file, json, "light " + std::to_string(number) + " \"" + excerpt(file.text(json, "name")) + '"'};
}

Kind kind_of(const Entry& entry) {
    const std::string type = entry.file.text(entry.json, "type");
    if (type == "point") return Kind::point;
    if (type == "spot") return Kind::spot;
    if (type == "directional") return Kind::far;
    entry.refuse("is neither a point, a spot, nor directional");
}

Rgb strength_of(const Entry& entry) {
    std::array<double, 3> colour{1, 1, 1};
    entry.file.numbers(entry.json, "color", colour);
    const double intensity = entry.number(entry.json, "intensity", 1, 0, farthest_coordinate,
                                          "has an intensity that is not between 0 and 1e30");
    for (double& part : colour) {
        if (!(part >= 0)) entry.refuse("has a colour with a part below 0");
        part = std::min(part * (intensity / PunctualLightDescription::lumens), farthest_coordinate);
    }
    const Float3 strength = rounded({colour[0], colour[1], colour[2]});
    return {strength.x, strength.y, strength.z};
}

/// Angles beyond a right one are one: behind itself a spot shines nowhere. Exporters write cones whose angles
/// are the same: those have a sharp edge.
void give_cone(const Entry& entry, PunctualLightDescription& light) {
    static const Json nothing = Json::object();
    const auto found = entry.json.find("spot");
    const Json& spot = found == entry.json.end() ? nothing : *found;
    if (!spot.is_object()) entry.refuse("has a cone that is no object");
    constexpr double right = std::numbers::pi / 2, narrowest = 1e-4, sharpest = 1e-3;
    const char* const fault =
        "has a cone whose angles are not between 0 and pi, the outer one from 0.0001 on";
    const double outer = entry.number(spot, "outerConeAngle", right / 2, narrowest, 2 * right, fault);
    const double inner = entry.number(spot, "innerConeAngle", 0, 0, 2 * right, fault);
    light.outer_angle = std::min(outer, right);
    light.inner_angle = std::min(inner, light.outer_angle * (1 - sharpest));
}

} // namespace

void add_light(const GltfFile& file, const Json& node, const Transform& world, Scene& scene) {
    const Json* const reference = extension(node, name_of_extension);
    if (reference == nullptr) return;
    const Entry entry = entry_of(file, *reference);
    PunctualLightDescription light;
    light.kind = kind_of(entry);
    light.strength = strength_of(entry);
    light.place = world({0, 0, 0});
    const Point axis = world.turned({0, 0, -1});
    if (light.kind != Kind::point) {
        if (!is_direction(axis)) entry.refuse("shines nowhere: its node is scaled to nothing");
        light.axis = normalised(axis);
    }
    if (light.kind != Kind::far) {
        if (!(largest_part(light.place) <= farthest_coordinate))
            entry.refuse("is farther than 1e30 from the origin");
        light.range = entry.number(entry.json, "range", 0, 0, farthest_coordinate,
                                   "has a range that is not between 0 and 1e30");
    }
    if (light.kind == Kind::spot) give_cone(entry, light);
    if (!is_black(light.strength)) scene.lights.push_back(light);
}

} // namespace path_tracer
