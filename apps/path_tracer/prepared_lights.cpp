// apps/path_tracer/prepared_lights.cpp - see prepared_lights.hpp.
#include "prepared_lights.hpp"
#include "alias_table.hpp"
#include "prepared_textures.hpp"
#include "vector_math.hpp"

#include <tbb/parallel_for.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

namespace path_tracer {
namespace {

using Kind = PunctualLightDescription::Kind;

/// 1 - cosine, also of small angles.
double versine(double angle) {
    const double half = std::sin(angle / 2);
    return 2 * half * half;
}

Float3 negated_and_rounded(Point direction) { return rounded(direction * -1); }

/// In the coordinates of kernels, but for its chance.
PunctualLight punctual_light(const PunctualLightDescription& given, const Placement& placement) {
    PunctualLight light{};
    light.is_far = given.kind == Kind::far ? 1 : 0;
    light.place = light.is_far != 0 ? negated_and_rounded(given.axis) : rounded(placement.place(given.place));
    light.axis = rounded(given.axis);
    // Squares of distances become smaller by so much.
    const double scale = light.is_far != 0 ? 1 : placement.scale * placement.scale;
    constexpr double brightest = 1e30;
    const auto scaled = [scale, brightest](float part) {
        return static_cast<float>(std::min(double{part} * scale, brightest));
    };
    light.strength = {scaled(given.strength.r), scaled(given.strength.g), scaled(given.strength.b)};
    if (given.range > 0)
        light.inverse_range = static_cast<float>(std::min(1 / (given.range * placement.scale), brightest));
    light.cone_offset = 1;
    if (given.kind == Kind::spot) {
        const double outer = versine(given.outer_angle), edge = outer - versine(given.inner_angle);
        light.cone_scale = static_cast<float>(1 / edge);
        light.cone_offset = static_cast<float>(outer / edge);
    }
    return light;
}

/// What it sends into the scene, which is about 1 wide, as an area that shines on both sides would.
double power_of(const PunctualLight& light, const PunctualLightDescription& given) {
    const double strength = double{luminance(light.strength)};
    if (given.kind == Kind::far) return strength / 2;
    double away2 = 0; // square of the distance to the cube of the scene
    for (const float part : {light.place.x, light.place.y, light.place.z}) {
        const double beyond = std::max(std::abs(double{part}) - 1, 0.0);
        away2 += beyond * beyond;
    }
    if (away2 * double{light.inverse_range} * double{light.inverse_range} >= 1) return 0; // it lights nothing
    const double near = 2 * strength / (1 + 4 * away2); // from afar it is as far away
    if (given.kind == Kind::point) return near;
    // A narrow cone may light all that is seen.
    return near * std::max((versine(given.inner_angle) + versine(given.outer_angle)) / 4, 0.01);
}

/// Lights with their weights, on their way to an alias table.
struct Weighted {
    std::vector<uint32_t> emitters;
    std::vector<double> weights;
    double total = 0;

    void add(uint32_t emitter, double weight) {
        if (!(weight > 0)) return;
        emitters.push_back(emitter);
        weights.push_back(weight);
        total += weight;
    }
};

} // namespace

void prepare_lights(const Scene& scene, const TriangleOrigins& triangles, PreparedScene& prepared) {
    Weighted lights;
    std::vector<double> radiances; // of each triangle, its mean luminance
    radiances.reserve(prepared.triangles.size());
    EmissionMeans emission(scene);
    const double none = -1;
    std::vector<double> seen(triangles.areas.size(), none); // a triangle may lie in several leaves
    for (std::size_t i = 0; i < prepared.triangles.size(); ++i) {
        double& radiance = seen[triangles.order[i]];
        const bool is_first = radiance == none;
        if (is_first) radiance = emission.of(scene.triangles[triangles.places[i]]);
        radiances.push_back(radiance);
        if (is_first) lights.add(static_cast<uint32_t>(i), triangles.areas[triangles.order[i]] * radiance);
    }
    std::vector<double> powers; // of each punctual light
    double all_powers = 0;
    for (const PunctualLightDescription& given : scene.lights) {
        const PunctualLight light = punctual_light(given, prepared.placement);
        prepared.punctual_lights.push_back(light);
        all_powers += powers.emplace_back(power_of(light, given));
    }
    for (std::size_t i = 0; i < powers.size(); ++i) {
        // A weak one may be the one that is near to what is seen, and nothing but shadow rays finds it.
        constexpr double least_part = 0.1;
        if (powers[i] > 0)
            powers[i] = std::max(powers[i], least_part * all_powers / static_cast<double>(powers.size()));
        lights.add(PATH_TRACER_PUNCTUAL | static_cast<uint32_t>(i), powers[i]);
    }

    constexpr double never = std::numeric_limits<float>::max(); // not infinity, which times 0 is no number
    const auto inverse = [&](double weight) {
        return static_cast<float>(weight > 0 ? std::min(lights.total / weight, never) : never);
    };
    tbb::parallel_for(std::size_t{0}, radiances.size(),
                      [&](std::size_t i) { prepared.triangles[i].inverse_density = inverse(radiances[i]); });
    for (std::size_t i = 0; i < powers.size(); ++i)
        prepared.punctual_lights[i].inverse_chance = inverse(powers[i]);
    prepared.light_count = static_cast<uint32_t>(lights.emitters.size());
    for (const AliasColumn& column : alias_table(lights.weights))
        prepared.lights.push_back({lights.emitters[prepared.lights.size()], column.keep, column.alias});
    if (prepared.lights.empty()) prepared.lights.resize(1);
    if (prepared.punctual_lights.empty()) prepared.punctual_lights.resize(1);
}

} // namespace path_tracer
