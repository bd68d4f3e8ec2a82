// apps/path_tracer/scene_readers.hpp - between scene.cpp and the readers of each format.
// A file is walked with nothing taken on trust: not a count, an offset or an index that it has not been held
// against.
#pragma once
#include "scene.hpp"

#include <array>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace path_tracer {

/// Throws invalid_argument: `file`, where in it, what is wrong, what to do.
[[noreturn]] void refuse_scene(const std::filesystem::path& file, const std::string& what);

/// The bytes of a file. Errors: not_found, invalid_argument, io; never empty.
[[nodiscard]] std::string read_file(const std::filesystem::path& file);

/// The largest coordinate: products of six still fit into a double with room to spare.
constexpr double farthest_coordinate = 1e30;

/// Appends a polygon as triangles; those without area are left out.
void add_polygon(Scene& scene, std::span<const Point> corners, uint32_t material);

/// Appends a material and returns its index. Refuses what floats cannot compute with; dims, with a note, what
/// would make light of nothing.
uint32_t add_material(Scene& scene, const std::filesystem::path& file, const std::string& name,
                      SurfaceDescription surface);

/// The number that `word` consists of; nothing if it is none. One that its type cannot hold is the largest
/// that it can, or 0 if it is too small.
template <class Number>
[[nodiscard]] std::optional<Number> to_number(std::string_view word);

[[nodiscard]] Scene read_obj(const std::filesystem::path& file, std::string_view text, float albedo);
[[nodiscard]] Scene read_ply(const std::filesystem::path& file, std::string_view bytes, float albedo);
[[nodiscard]] Scene read_gltf(const std::filesystem::path& file, std::string_view bytes, float albedo);

/// A material of an MTL file.
struct NamedSurface {
    std::string name;
    SurfaceDescription surface;
};
/// `notes` gets what is in the file and cannot be shown.
[[nodiscard]] std::vector<NamedSurface> read_mtl(const std::filesystem::path& file, std::string_view text,
                                                 std::vector<std::string>& notes);

/// An affine map: sum of columns times coordinates, and a shift.
struct Transform {
    std::array<Point, 3> columns{Point{1, 0, 0}, Point{0, 1, 0}, Point{0, 0, 1}};
    Point shift{0, 0, 0};

    [[nodiscard]] Point turned(Point p) const {
        return columns[0] * p.x + columns[1] * p.y + columns[2] * p.z;
    }
    [[nodiscard]] Point operator()(Point p) const { return turned(p) + shift; }
    /// First `inner`, then this.
    [[nodiscard]] Transform after(const Transform& inner) const {
        return {{turned(inner.columns[0]), turned(inner.columns[1]), turned(inner.columns[2])},
                (*this)(inner.shift)};
    }
    [[nodiscard]] bool mirrors() const { return dot(columns[0], cross(columns[1], columns[2])) < 0; }
};

/// What the importer gets of a glTF file: see check_gltf.cpp.
struct CheckedGltf {
    /// .gltf or .glb, with nothing in it but triangles and materials. The names of materials and nodes are
    /// their numbers.
    std::string bytes;
    std::vector<std::string> material_names; ///< as in the file
    std::vector<float> emissive_strength;    ///< per material; the importer does not know this extension
    std::vector<float> vertical_fov;         ///< per node [radians]; 0: it has no perspective camera
    std::vector<Transform> transforms;       ///< per node, to its parent; the importer rounds them to floats
    bool has_other_cameras = false;
};
/// Every index, offset and count of a .gltf or .glb leads to something that exists, and the nodes are trees.
[[nodiscard]] CheckedGltf check_gltf(const std::filesystem::path& file, std::string_view bytes);

} // namespace path_tracer
