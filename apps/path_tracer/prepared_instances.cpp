// apps/path_tracer/prepared_instances.cpp - see prepared_instances.hpp.
#include "prepared_instances.hpp"
#include "vector_math.hpp"

#include <tbb/parallel_sort.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <numeric>
#include <optional>
#include <tuple>

namespace path_tracer {
namespace {

/// What is smaller than this, of a scene that is about 1 wide, has no area there.
constexpr double smallest = 0x1p-48;

/// From the coordinates of a mesh to those of the scene.
Transform placed(const SceneInstance& instance, const PreparedMesh& mesh, const Placement& placement) {
    const double ratio = placement.scale / mesh.placement.scale; // a power of two
    Transform map;
    for (std::size_t i = 0; i < 3; ++i) map.columns[i] = instance.place.columns[i] * ratio;
    map.shift = placement.place(instance.place(mesh.placement.middle));
    return map;
}

MapRow rounded_row(double x, double y, double z, double shift) {
    return {static_cast<float>(x), static_cast<float>(y), static_cast<float>(z), static_cast<float>(shift)};
}
MapRow rest_of_row(MapRow row, double x, double y, double z, double shift) {
    return rounded_row(x - double{row.x}, y - double{row.y}, z - double{row.z}, shift - double{row.shift});
}

/// What floats move a point of the box, in any direction, when they place it: rounding of the map and of the
/// point, a product and three sums are 6 x 2^-24 of the parts of each coordinate, and sqrt(3) of that in all.
float corner_error(const AffineMap& map, const Box& box) {
    const auto farthest = [&](int axis) {
        return std::max(std::abs(along(box.lo, axis)), std::abs(along(box.hi, axis)));
    };
    const Float3 far = {farthest(0), farthest(1), farthest(2)};
    const auto parts = [&](const MapRow& row) {
        return std::abs(row.x) * far.x + std::abs(row.y) * far.y + std::abs(row.z) * far.z +
               std::abs(row.shift);
    };
    return 11 * 0x1p-24f * std::max({parts(map.x), parts(map.y), parts(map.z)});
}

/// Along one axis of the mesh, for a ray whose origin floats move by `error`. In the scene it is wrong by at
/// most 2^-16 besides, as a box of a mesh sees it. In 2^-24: 40 are what the triangle test allows a corner,
/// and about 75 are rounding of the ray's origin and direction on their way into the mesh, and of the box
/// test.
float box_margin(const MapRow& row, float error) {
    return (0x1p-16f + error) * (std::abs(row.x) + std::abs(row.y) + std::abs(row.z));
}

std::optional<Instance> instance_of(const Transform& map, const PreparedMesh& mesh) {
    const auto& [x, y, z] = map.columns;
    if (!(std::max({largest_part(x), largest_part(y), largest_part(z)}) > smallest)) return std::nullopt;
    Instance instance{};
    instance.placed = {rounded_row(x.x, y.x, z.x, map.shift.x), rounded_row(x.y, y.y, z.y, map.shift.y),
                       rounded_row(x.z, y.z, z.z, map.shift.z)};
    instance.low = {rest_of_row(instance.placed.x, x.x, y.x, z.x, map.shift.x),
                    rest_of_row(instance.placed.y, x.y, y.y, z.y, map.shift.y),
                    rest_of_row(instance.placed.z, x.z, y.z, z.z, map.shift.z)};
    const std::array<Point, 3> back = map.inverse_rows();
    const auto back_row = [&](const Point& row) {
        return rounded_row(row.x, row.y, row.z, -dot(row, map.shift));
    };
    instance.to_mesh = {back_row(back[0]), back_row(back[1]), back_row(back[2])};
    instance.corner_error = corner_error(instance.placed, mesh.box);
    instance.root = mesh.root;
    return instance;
}

/// Around a box of the mesh, as the map has it.
Box placed_box(const Box& box, const Transform& map) {
    Box placed;
    for (unsigned corner = 0; corner < 8; ++corner) {
        const auto part = [&](unsigned axis, float lo, float hi) {
            return double{(corner >> axis & 1u) != 0 ? hi : lo};
        };
        placed.add(rounded(
            map({part(0, box.lo.x, box.hi.x), part(1, box.lo.y, box.hi.y), part(2, box.lo.z, box.hi.z)})));
    }
    return placed;
}

/// The first of all that show the same mesh at the same place: others would only be in the way.
std::vector<bool> are_first(const std::vector<SceneInstance>& instances) {
    std::vector<uint32_t> sorted(instances.size());
    std::iota(sorted.begin(), sorted.end(), 0u);
    const auto what_and_where = [&](uint32_t i) {
        const auto numbers = [](Point p) { return std::array{p.x, p.y, p.z}; };
        const auto& [mesh, place] = instances[i];
        return std::tuple(mesh, numbers(place.columns[0]), numbers(place.columns[1]),
                          numbers(place.columns[2]), numbers(place.shift));
    };
    tbb::parallel_sort(sorted.begin(), sorted.end(), [&](uint32_t one, uint32_t other) {
        const auto first = what_and_where(one), second = what_and_where(other);
        return first != second ? first < second : one < other;
    });
    std::vector<bool> is_first(instances.size());
    for (std::size_t i = 0; i < sorted.size(); ++i)
        is_first[sorted[i]] = i == 0 || what_and_where(sorted[i - 1]) != what_and_where(sorted[i]);
    return is_first;
}

} // namespace

PlacedInstances place_instances(const Scene& scene, const std::vector<PreparedMesh>& meshes,
                                const Placement& placement) {
    PlacedInstances result;
    result.boxes.reserve(scene.instances.size());
    result.instances.reserve(scene.instances.size());
    const std::vector<bool> is_first = are_first(scene.instances);
    for (std::size_t i = 0; i < scene.instances.size(); ++i) {
        const PreparedMesh& mesh = meshes[scene.instances[i].mesh];
        if (!is_first[i] || !mesh.has_area) continue;
        const Transform map = placed(scene.instances[i], mesh, placement);
        const std::optional<Instance> instance = instance_of(map, mesh);
        if (!instance) continue;
        result.corner_error = std::max(result.corner_error, instance->corner_error);
        result.instances.push_back(*instance);
        result.boxes.push_back(placed_box(mesh.box, map));
    }
    for (Instance& instance : result.instances)
        instance.margin = {box_margin(instance.to_mesh.x, result.corner_error),
                           box_margin(instance.to_mesh.y, result.corner_error),
                           box_margin(instance.to_mesh.z, result.corner_error)};
    return result;
}

} // namespace path_tracer
