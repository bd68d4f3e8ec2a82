// apps/path_tracer/prepared_scene.cpp - see prepared_scene.hpp.
#include "prepared_scene.hpp"
#include "box_test.h"
#include "bvh.hpp"
#include "environment_map.hpp"
#include "parallel_array.hpp"
#include "prepared_instances.hpp"
#include "prepared_lights.hpp"
#include "prepared_textures.hpp"
#include "vector_math.hpp"

#include <tbb/parallel_for.h>
#include <tbb/parallel_invoke.h>
#include <tbb/parallel_sort.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <optional>
#include <utility>

namespace path_tracer {
namespace {

/// To the middle of what is there. The middle is rounded to an eighth of its extent, so that coordinates
/// which floats hold stay coordinates which floats hold.
Placement placement_of(const Surroundings& all) {
    Placement placement;
    const double extent = largest_part(all.hi - all.lo);
    if (!(extent > 0) || !std::isfinite(extent)) return placement; // one point, or none
    const double step = std::ldexp(1.0, std::ilogb(extent) - 3);
    const auto stepped = [step](double value) { return std::round(value / step) * step; };
    const Point middle = (all.lo + all.hi) * 0.5;
    placement.middle = {stepped(middle.x), stepped(middle.y), stepped(middle.z)};
    const double farthest =
        std::max(largest_part(all.lo - placement.middle), largest_part(all.hi - placement.middle));
    placement.scale = std::ldexp(1.0, -1 - std::ilogb(farthest));
    return placement;
}

/// A part of the triangles of a scene in the coordinates of kernels, without those that have no area there.
struct PlacedTriangles {
    ParallelArray<Triangle> triangles;
    ParallelArray<TriangleDetail> details;
    ParallelArray<std::size_t> places; ///< in the scene
    ParallelArray<double> areas;

    explicit PlacedTriangles(std::size_t count)
        : triangles(count), details(count), places(count), areas(count) {}
    /// Those that are not 0. Returns how many were left out.
    std::size_t leave_out(const std::vector<unsigned char>& is_out) {
        std::size_t kept = 0;
        if (std::find_if(is_out.begin(), is_out.end(), [](auto is) { return is != 0; }) == is_out.end())
            return 0;
        for (std::size_t i = 0; i < triangles.size(); ++i) {
            if (is_out[i] != 0) continue;
            triangles[kept] = triangles[i];
            details[kept] = details[i];
            places[kept] = places[i];
            areas[kept++] = areas[i];
        }
        const std::size_t out = triangles.size() - kept;
        triangles.end_at(kept);
        details.end_at(kept);
        places.end_at(kept);
        areas.end_at(kept);
        return out;
    }
};

/// A corner as the sum of two floats, which is what kernels know of it.
struct SplitPoint {
    Float3 high, low;

    explicit SplitPoint(Point point) : high(rounded(point)), low(rounded(point - wide(high))) {}
    [[nodiscard]] Point sum() const { return wide(high) + wide(low); }
};

PlacedTriangles placed(const Scene& scene, const SceneMesh& part, const Placement& placement) {
    PlacedTriangles result(part.count);
    std::vector<unsigned char> has_no_area(part.count);
    tbb::parallel_for(std::size_t{0}, part.count, [&](std::size_t k) {
        const std::size_t i = part.first + k;
        const SceneTriangle& triangle = scene.triangles[i];
        const SplitPoint a(placement.place(triangle.a)), b(placement.place(triangle.b)),
            c(placement.place(triangle.c));
        const Point normal = cross(b.sum() - a.sum(), c.sum() - a.sum());
        has_no_area[k] = largest_part(normal) > 0 ? 0 : 1;
        if (has_no_area[k] != 0) return;
        result.triangles[k] = {a.high, triangle.material, b.high, static_cast<uint32_t>(i), c.high, 0};
        result.details[k] = {rounded(normalised(normal)), a.low, b.low, c.low};
        result.places[k] = i;
        result.areas[k] = 0.5 * length(normal);
    });
    result.leave_out(has_no_area);
    return result;
}

bool is_opaque(const SurfaceDescription& surface) { return cutoff_of(surface) < 0; }

/// Gives triangles with the same three corners the id of the first, so that a ray that leaves one of them
/// meets none of them; and marks those that are not opaque. Of such triangles, those that have an opaque one
/// among them are left out, and their number is returned: a ray that passed one of them would miss the opaque
/// one.
std::size_t join_twins(const Scene& scene, PlacedTriangles& placed) {
    using Corners = std::array<std::array<double, 3>, 3>;
    const auto corners_of = [&](uint32_t i) {
        const Triangle& triangle = placed.triangles[i];
        const TriangleDetail& detail = placed.details[i];
        const auto corner = [](Float3 high, Float3 low) {
            const Point sum = wide(high) + wide(low);
            return std::array<double, 3>{sum.x, sum.y, sum.z};
        };
        Corners corners = {corner(triangle.a, detail.low_a), corner(triangle.b, detail.low_b),
                           corner(triangle.c, detail.low_c)};
        std::sort(corners.begin(), corners.end());
        return corners;
    };
    using Hashed = std::pair<std::uint64_t, uint32_t>;
    const ParallelArray<Hashed> all(placed.triangles.size(), [&](std::size_t i) {
        std::uint64_t hash = 0;
        for (const auto& corner : corners_of(static_cast<uint32_t>(i)))
            for (const double value : corner) // + 0: -0 equals 0
                hash = (hash ^ std::bit_cast<std::uint64_t>(value + 0.0)) * 0x9E3779B97F4A7C15u,
                hash ^= hash >> 29;
        return Hashed{hash, static_cast<uint32_t>(i)};
    });
    const std::span<Hashed> hashes = all.elements();
    tbb::parallel_sort(hashes.begin(), hashes.end());
    std::vector<unsigned char> is_hidden(placed.triangles.size());
    const auto opaque = [&](uint32_t i) { return is_opaque(scene.materials[placed.triangles[i].material]); };
    tbb::parallel_for(std::size_t{0}, placed.triangles.size(), [&](std::size_t i) {
        if (!opaque(static_cast<uint32_t>(i))) placed.triangles[i].id |= PATH_TRACER_HAS_HOLES;
    });
    const auto has_hash_of = [&](std::size_t i, std::size_t other) {
        return hashes[i].first == hashes[other].first;
    };
    tbb::parallel_for(std::size_t{0}, hashes.size(), [&](std::size_t begin) {
        const bool begins = begin == 0 || !has_hash_of(begin - 1, begin);
        if (!begins || begin + 1 == hashes.size() || !has_hash_of(begin + 1, begin)) return;
        const uint32_t first = hashes[begin].second;
        std::vector<uint32_t> twins(1, first);
        for (std::size_t i = begin + 1; i < hashes.size() && has_hash_of(i, begin); ++i)
            if (corners_of(first) == corners_of(hashes[i].second)) twins.push_back(hashes[i].second);
        const bool has_opaque = std::any_of(twins.begin(), twins.end(), opaque);
        const uint32_t id = placed.triangles[first].id & ~PATH_TRACER_HAS_HOLES;
        for (const uint32_t twin : twins) {
            placed.triangles[twin].id = id | (has_opaque ? 0 : PATH_TRACER_HAS_HOLES);
            is_hidden[twin] = has_opaque && !opaque(twin) ? 1 : 0;
        }
    });
    return placed.leave_out(is_hidden);
}

Rgb divided_by_chance(Rgb part, float chance) { return chance > 0 ? part * (1 / chance) : Rgb{0, 0, 0}; }

/// Three parts: each is taken as often as it sends on light. Grey surfaces then have no variance from it.
void set_parts(Material& material, const SurfaceDescription& surface) {
    const Rgb glass = surface.glass(), mirror = surface.mirror + surface.metal(), diffuse = surface.diffuse();
    const float by_glass = luminance(glass), by_mirror = luminance(mirror), by_diffuse = luminance(diffuse);
    const float total = by_glass + by_mirror + by_diffuse;
    const auto chance = [total](float part) { return total > 0 ? part / total : 0; };
    material.glass_chance = chance(by_glass);
    // Exactly 1 together where nothing is diffuse, or rounding would now and then end a path at a mirror.
    material.mirror_chance = by_diffuse > 0 ? chance(by_mirror) : 1 - material.glass_chance;
    material.diffuse = divided_by_chance(diffuse, chance(by_diffuse));
    material.mirror = divided_by_chance(mirror, material.mirror_chance);
    material.mirror_edge = material.mirror_chance > 0 ? surface.metallic / material.mirror_chance : 0;
    material.glass = divided_by_chance(glass, material.glass_chance);
    material.albedo = diffuse;
}

Material prepare_material(const SurfaceDescription& surface) {
    Material material{};
    set_parts(material, surface);
    material.ior = surface.ior;
    material.emission = surface.emission;
    material.textures = PATH_TRACER_NONE;
    return material;
}

/// Whether a material has no more than Lambert, smooth mirrors and clear smooth glass.
bool is_plain(const SurfaceDescription& surface) {
    const bool has_mirror = !is_black(surface.mirror) || surface.metallic > 0,
               has_glass = surface.glass_share() > 0;
    const Rgb& tint = surface.base; // what passes has it, and what is mirrored does not
    return !surface.textures.any() && surface.passing == Passing::nothing &&
           (surface.roughness == 0 || !(has_mirror || has_glass)) &&
           !(surface.metallic > 0 && !is_black(surface.mirror)) && // one goes to 1 at the edge, one does not
           !(surface.highlight_edge > 0 && surface.metallic < 1 && surface.transmitted < 1) &&
           !(has_glass && (surface.is_thin || !is_black(surface.absorption) || tint.r != 1 || tint.g != 1 ||
                           tint.b != 1)) &&
           surface.coat == 0 && is_black(surface.sheen);
}

Finish finish_of(const SurfaceDescription& surface, const Placement& placement, AlbedoTables& tables) {
    Finish finish{};
    finish.base = surface.base;
    finish.metallic = surface.metallic;
    finish.mirror = surface.mirror;
    finish.transmitted = surface.transmitted;
    finish.highlight = surface.highlight;
    finish.highlight_edge = surface.highlight_edge;
    finish.sheen = surface.sheen;
    finish.sheen_roughness = surface.sheen_roughness;
    constexpr float blackest = 1e15f; // not infinity, which times 0 is no number
    const double unit = 1 / placement.scale;
    const auto absorption = [unit](float in_scene) {
        return static_cast<float>(std::min(double{in_scene} * unit, double{blackest}));
    };
    finish.absorption = {absorption(surface.absorption.r), absorption(surface.absorption.g),
                         absorption(surface.absorption.b)};
    finish.roughness = surface.roughness;
    finish.coat = surface.coat;
    finish.coat_roughness = surface.coat_roughness;
    finish.ior = surface.ior;
    const bool is_rough_glass = surface.transmitted > 0 && surface.roughness > 0 && !surface.is_thin;
    // Facets do not say where light goes that none of them bends.
    constexpr float least = 1e-4f;
    if (is_rough_glass && std::abs(finish.ior - 1) < least) finish.ior = 1 + least;
    finish.glass_table = surface.is_thin ? PATH_TRACER_NONE : is_rough_glass ? tables.glass(finish.ior) : 0;
    if (surface.roughness > 0 || surface.coat_roughness > 0) tables.add_facets();
    if (!is_black(surface.sheen)) tables.add_fibres();
    return finish;
}

/// What it takes to show all of a scene; and, if that is all there is, what kernels need for it.
void prepare_finishes(const Scene& scene, Scattering scattering, bool is_full, PreparedScene& prepared) {
    prepared.shading = scene.normals.empty() && scene.colours.empty() ? SHADING_FLAT : SHADING_CORNERS;
    if (is_full || !std::all_of(scene.materials.begin(), scene.materials.end(), is_plain)) {
        prepared.shading =
            prepared.instances.empty() && prepared.holes == HOLES_NONE ? SHADING_FULL : SHADING_ALL;
        AlbedoTables tables(scattering);
        for (const SurfaceDescription& surface : scene.materials)
            prepared.finishes.push_back(finish_of(surface, prepared.placement, tables));
        prepared.albedos = tables.take();
    }
    prepared.has_absorption = std::any_of(prepared.finishes.begin(), prepared.finishes.end(),
                                          [](const Finish& finish) { return !is_black(finish.absorption); });
    if (prepared.finishes.empty()) prepared.finishes.resize(1);
    if (prepared.albedos.empty()) prepared.albedos.resize(1);
}

/// `places`: of the triangles in the leaves, in the scene.
void prepare_corners(const Scene& scene, const std::vector<std::size_t>& places, PreparedScene& prepared) {
    static_assert(SceneTriangle::none == PATH_TRACER_NONE);
    for (std::size_t i = 0; prepared.shading != SHADING_FLAT && i < places.size(); ++i) {
        const SceneTriangle& triangle = scene.triangles[places[i]];
        CornerShading corners{PATH_TRACER_NONE, PATH_TRACER_NONE, PATH_TRACER_NONE, triangle.colours};
        if (triangle.normals != SceneTriangle::none) {
            const auto& [a, b, c] = scene.normals[triangle.normals];
            corners = {a, b, c, triangle.colours};
        }
        prepared.corner_shading.push_back(corners);
    }
    for (const auto& [a, b, c] : scene.colours)
        prepared.corner_colours.push_back({a.colour, a.opacity, b.colour, b.opacity, c.colour, c.opacity});
    if (prepared.corner_shading.empty()) prepared.corner_shading.resize(1);
    if (prepared.corner_colours.empty()) prepared.corner_colours.resize(1);
}

/// A scene's triangles on their way into leaves, part by part: those that lie in it as they are, and each
/// mesh.
class Gathering {
public:
    Gathering(const Scene& scene, PreparedScene& prepared) : scene_(scene), prepared_(prepared) {}

    /// Appends the triangles of a part. Nothing if none has an area.
    std::optional<Bvh> add(const SceneMesh& part, const Placement& placement, float margin,
                           unsigned most_depth) {
        PlacedTriangles given = placed(scene_, part, placement);
        if (given.triangles.size() == 0) return std::nullopt;
        prepared_.hidden += join_twins(scene_, given);
        Bvh bvh = build_bvh(given.triangles.elements(), margin, most_depth);
        const auto before = static_cast<uint32_t>(areas_.size());
        const std::size_t first = order_.size(), all = first + bvh.order.size();
        tbb::parallel_invoke([&] { prepared_.triangles.resize(all); }, [&] { prepared_.details.resize(all); },
                             [&] { places_.resize(all); }, [&] { order_.resize(all); });
        tbb::parallel_for(first, all, [&](std::size_t i) {
            const uint32_t index = bvh.order[i - first];
            prepared_.triangles[i] = given.triangles[index];
            prepared_.details[i] = given.details[index];
            places_[i] = given.places[index];
            order_[i] = before + index;
        });
        areas_.insert(areas_.end(), given.areas.elements().begin(), given.areas.elements().end());
        return bvh;
    }
    [[nodiscard]] uint32_t count() const { return static_cast<uint32_t>(order_.size()); }
    [[nodiscard]] const std::vector<std::size_t>& places() const { return places_; }
    [[nodiscard]] TriangleOrigins origins() const { return {order_, places_, areas_}; }

private:
    const Scene& scene_;
    PreparedScene& prepared_;
    std::vector<uint32_t> order_;
    std::vector<std::size_t> places_;
    std::vector<double> areas_;
};

/// Triangles, instances, and the nodes above both.
void prepare_triangles(const Scene& scene, Gathering& gathering, PreparedScene& prepared) {
    const SceneMesh single{0, scene.single_triangles()};
    // The way down the scene, a step into a mesh, and the way down there fit into one stack.
    constexpr unsigned in_mesh = PATH_TRACER_STACK / 2 - 1, in_scene = in_mesh - 1;
    std::vector<PreparedMesh> meshes;
    std::vector<BvhNode> nodes; // of all meshes
    for (const SceneMesh& mesh : scene.meshes) {
        const Placement placement = placement_of(surroundings_of(scene, mesh));
        const uint32_t first = gathering.count();
        const std::optional<Bvh> bvh = gathering.add(mesh, placement, PATH_TRACER_BOX_MARGIN, in_mesh);
        meshes.push_back({placement, bvh ? bvh->box : Box{}, 0, bvh.has_value()});
        if (bvh) meshes.back().root = append_nodes(nodes, bvh->nodes, first);
    }
    PlacedInstances placed = place_instances(scene, meshes, prepared.placement);
    if (placed.instances.empty()) {
        const uint32_t first = gathering.count();
        std::optional<Bvh> bvh =
            gathering.add(single, prepared.placement, PATH_TRACER_BOX_MARGIN, PATH_TRACER_STACK);
        if (!bvh) check_positions(0, "triangles with an area");
        if (first == 0)
            prepared.nodes = std::move(bvh->nodes);
        else
            append_nodes(prepared.nodes, bvh->nodes, first);
        return;
    }
    const float margin = placed.box_margin();
    const Bvh of_instances = build_bvh_of_instances(placed.boxes, margin, in_scene);
    const uint32_t first = gathering.count();
    if (const std::optional<Bvh> alone = gathering.add(single, prepared.placement, margin, in_scene))
        prepared.nodes = joined(*alone, first, of_instances, margin);
    else
        prepared.nodes = of_instances.nodes;
    check_positions(gathering.count(), "triangles with an area");
    const uint32_t first_node = append_nodes(prepared.nodes, nodes, 0);
    check_positions(prepared.nodes.size(), "nodes above its triangles");
    prepared.instances = std::move(placed.instances);
    for (Instance& instance : prepared.instances) instance.root += first_node;
}

Holes holes_of(const Scene& scene, const std::vector<Triangle>& triangles) {
    Holes all = HOLES_NONE;
    for (const Triangle& triangle : triangles)
        if ((triangle.id & PATH_TRACER_HAS_HOLES) != 0)
            all = std::max(all,
                           cutoff_of(scene.materials[triangle.material]) > 0 ? HOLES_CLEAR : HOLES_PARTIAL);
    return all;
}

} // namespace

PreparedScene prepare_scene(const Scene& scene, Scattering scattering, const TextureImage* environment,
                            HostTree host_tree) {
    PreparedScene prepared;
    prepared.placement = placement_of(surroundings_of(scene));
    Gathering triangles(scene, prepared);
    prepare_triangles(scene, triangles, prepared);
    prepared.holes = holes_of(scene, prepared.triangles);
    prepared.materials.reserve(scene.materials.size());
    for (const SurfaceDescription& surface : scene.materials)
        prepared.materials.push_back(prepare_material(surface));
    // Other kernels know of no instances, and of no lights but triangles.
    const bool is_full = environment != nullptr || !scene.lights.empty() || !prepared.instances.empty();
    prepare_finishes(scene, scattering, is_full, prepared);
    prepare_textures(scene, triangles.places(), prepared);
    if (environment != nullptr) add_environment(*environment, prepared);
    if (prepared.environment.empty()) prepared.environment.resize(1);
    if (prepared.instances.empty()) prepared.instances.resize(1);
    prepare_corners(scene, triangles.places(), prepared);
    prepare_lights(scene, triangles.origins(), prepared);
    if (host_tree == HostTree::build) add_host_tree(prepared);
    return prepared;
}

void add_host_tree(PreparedScene& scene) {
    if (scene.shading != SHADING_ALL)
        scene.host_tree = build_wide_tree(scene.triangles, PATH_TRACER_BOX_MARGIN);
}

void use_scene(Frame& frame, const PreparedScene& scene) {
    frame.lights = scene.light_count;
    frame.shading = scene.shading;
    frame.holes = scene.holes;
    frame.has_absorption = scene.has_absorption ? 1 : 0;
    frame.environment_texture = scene.environment_texture;
    frame.environment_columns = scene.environment_columns;
    frame.environment_rows = scene.environment_rows;
    frame.environment_scale = scene.environment_scale;
    const bool has_both = scene.light_count > 0 && scene.environment_columns > 0;
    frame.lamp_chance = has_both ? 0.5f : scene.environment_columns > 0 ? 0.0f : 1.0f;
}

} // namespace path_tracer
