// apps/path_tracer/scene_readers.hpp - between scene.cpp and the readers of each format.
// A file is walked with nothing taken on trust: not a count, an offset or an index that it has not been held
// against.
#pragma once
#include "scene.hpp"
#include "scene_files.hpp"
#include "transform.hpp"

#include <array>
#include <cmath>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace path_tracer {

/// Throws invalid_argument: `file`, where in it, what is wrong, what to do.
[[noreturn]] void refuse_scene(const std::filesystem::path& file, const std::string& what);

/// The largest coordinate: products of six still fit into a double with room to spare.
constexpr double farthest_coordinate = 1e30;

/// A face of a file. What its corners have is empty, or of all of them.
struct Polygon {
    std::span<const Point> corners;
    std::span<const Point> normals = {}; ///< of any length; one that is no direction: the polygon is flat
    std::span<const CornerColour> colours = {}; ///< from 0 to 1
    /// In textures, one set behind the other, each of all corners.
    std::span<const TexturePoint> places = {};
};

/// Appends a polygon as triangles; those without area are left out.
void add_polygon(Scene& scene, const Polygon& polygon, uint32_t material);

/// Gives normals of any length to the corners of a triangle of the scene, which is flat so far. It stays flat
/// if they are its own, `across` its plane.
void give_normals(Scene& scene, SceneTriangle& triangle, Point across, const std::array<Point, 3>& normals);

/// What is said of files that have such.
constexpr const char* bad_normals = "normals of length 0 or not finite";
constexpr const char* bad_colours = "vertex colours that are not between 0 and 1";

/// No texture coordinate is larger: floats have no place within a texture there.
constexpr double farthest_texture_place = 1e9;
constexpr const char* bad_places = "texture coordinates that are not finite or beyond 1e9";

constexpr const char* bad_transform = "transforms of textures with numbers beyond 1e9";

/// A place in a texture, v downwards; nothing if a number is not finite or too large.
[[nodiscard]] inline std::optional<TexturePoint> texture_point(double u, double v) {
    if (!(std::abs(u) <= farthest_texture_place && std::abs(v) <= farthest_texture_place))
        return std::nullopt;
    return TexturePoint{static_cast<float>(u), static_cast<float>(v)};
}

/// A picture that was read, or why it was not.
struct ReadImage {
    std::optional<uint32_t> place{}; ///< in Scene::images
    std::string fault{};
};
/// Appends the picture of a file with these bytes. `name`: for messages
[[nodiscard]] ReadImage add_image(Scene& scene, const std::string& name, std::string bytes,
                                  TexelMeaning meaning);
/// The same of a file that the scene names; one that is missing or empty is not read.
/// Errors  invalid_argument for one that may not be read: see SceneFiles
[[nodiscard]] ReadImage add_image(Scene& scene, const SceneFiles& files, std::string_view file,
                                  TexelMeaning meaning);

/// Reflectance along the normal of what has this index of refraction.
[[nodiscard]] inline float head_on_reflectance(double ior) {
    return static_cast<float>((ior - 1) * (ior - 1) / ((ior + 1) * (ior + 1)));
}

/// What is wrong with a material: what floats cannot compute with. Nothing if it is right. The index of
/// refraction counts only if there is glass.
[[nodiscard]] std::optional<std::string> fault_of(const SurfaceDescription& surface);

/// Appends a material and returns its index. Refuses one with a fault; dims, with a note, what would make
/// light of nothing.
uint32_t add_material(Scene& scene, const std::filesystem::path& file, const std::string& name,
                      SurfaceDescription surface);

/// The number that `word` consists of; nothing if it is none. One that its type cannot hold is the largest
/// that it can, or 0 if it is too small.
template <class Number>
[[nodiscard]] std::optional<Number> to_number(std::string_view word);

/// What a file says and no picture shows: one note names all of it, each once.
class NotShown {
public:
    void add(const std::string& what);
    void report_to(Scene& scene) const;

private:
    std::vector<std::string> names_;
};

[[nodiscard]] Scene read_obj(const SceneFiles& files, std::string_view text, float albedo);
[[nodiscard]] Scene read_ply(const SceneFiles& files, std::string_view bytes, float albedo);
[[nodiscard]] Scene read_gltf(const SceneFiles& files, std::string_view bytes, float albedo);

/// The text without the byte order mark that some editors write in front.
[[nodiscard]] std::string_view without_byte_order_mark(std::string_view text);

/// A texture of an MTL file. Names may have white space and remarks within: see possible_names.
struct MtlTexture {
    std::string name;
    TextureUse use{}; ///< but for the image
};

/// What an MTL file has textures for, and what they are factors of.
struct MtlTextures {
    std::optional<MtlTexture> colour, emission, opacity, normal;
    Rgb colour_factor{1, 1, 1}, emission_factor{1, 1, 1};
    float opacity_factor = 1;
};

/// A material of an MTL file.
struct NamedSurface {
    std::string name;
    SurfaceDescription surface; ///< where no texture can be shown
    MtlTextures textures{};
    std::string fault;                  ///< what is wrong with it, for when it is used; empty: nothing
    std::vector<std::string> notes;     ///< what of it is wrong and makes no difference
    std::vector<std::string> not_shown; ///< see NotShown
};
/// `albedo` stands in for the colours of textures.
[[nodiscard]] std::vector<NamedSurface> read_mtl(const std::filesystem::path& file, std::string_view text,
                                                 float albedo);

} // namespace path_tracer
