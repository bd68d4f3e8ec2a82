// apps/path_tracer/prepared_instances.cpp - see prepared_instances.hpp.
#include "prepared_instances.hpp"
#include "vector_math.hpp"

#include <algorithm>
#include <array>
#include <bit>
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

/// Along one axis of the mesh. In the scene, a ray is wrong by at most 2^-16 as a box of a mesh sees it. In
/// 2^-24: 40 are what the triangle test allows a corner, 33 what placing moves it, and about 75 are rounding
/// of the ray's origin and direction on their way into the mesh, and of the box test.
float box_margin(const Point& row) {
    return static_cast<float>(0x1p-16 * (std::abs(row.x) + std::abs(row.y) + std::abs(row.z)));
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
    instance.margin = {box_margin(back[0]), box_margin(back[1]), box_margin(back[2])};
    instance.corner_error = corner_error(instance.placed, mesh.box);
    instance.root = mesh.root;
    instance.mirrors = map.mirrors() ? 1 : 0;
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

/// Gives instances that show the same at the same place the id of the first of them, so that a ray that
/// leaves one of them meets none of them there.
void join_twins(std::vector<Instance>& instances) {
    std::vector<uint32_t> sorted(instances.size());
    std::iota(sorted.begin(), sorted.end(), 0u);
    using Numbers = std::array<float, sizeof(AffineMap) / sizeof(float)>;
    const auto what_and_where = [&](uint32_t i) {
        const Instance& instance = instances[i];
        return std::tuple(instance.root, std::bit_cast<Numbers>(instance.placed),
                          std::bit_cast<Numbers>(instance.low));
    };
    std::sort(sorted.begin(), sorted.end(), [&](uint32_t one, uint32_t other) {
        const auto first = what_and_where(one), second = what_and_where(other);
        return first != second ? first < second : one < other;
    });
    for (std::size_t i = 0; i < sorted.size(); ++i)
        instances[sorted[i]].id = i > 0 && what_and_where(sorted[i - 1]) == what_and_where(sorted[i])
                                      ? instances[sorted[i - 1]].id
                                      : sorted[i];
}

} // namespace

std::vector<Box> place_instances(const Scene& scene, const std::vector<PreparedMesh>& meshes,
                                 PreparedScene& prepared) {
    std::vector<Box> boxes;
    boxes.reserve(scene.instances.size());
    prepared.instances.reserve(scene.instances.size());
    for (const SceneInstance& given : scene.instances) {
        const PreparedMesh& mesh = meshes[given.mesh];
        if (!mesh.has_area) continue;
        const Transform map = placed(given, mesh, prepared.placement);
        const std::optional<Instance> instance = instance_of(map, mesh);
        if (!instance) continue;
        prepared.instances.push_back(*instance);
        boxes.push_back(placed_box(mesh.box, map));
    }
    join_twins(prepared.instances);
    return boxes;
}

} // namespace path_tracer
