// apps/path_tracer/scene.hpp - a scene file as flat arrays: triangles, materials, and the camera if it has
// one.
#pragma once
#include "layout.h"
#include "point.hpp"
#include "scene_files.hpp"
#include "texture_image.hpp"
#include "transform.hpp"

#include <algorithm>
#include <array>
#include <filesystem>
#include <limits>
#include <numbers>
#include <optional>
#include <string>
#include <vector>

namespace path_tracer {

/// A camera as people describe it.
struct CameraPose {
    Point eye, target;
    float vertical_fov_degrees;
    std::optional<Point> up = std::nullopt; ///< none: +y, or -z if it looks straight up or down
    double roll_degrees = 0; ///< turned around the way that it looks: clockwise, as seen from behind it
    double orthographic_height = 0; ///< of the picture, in the scene; 0: perspective
    double lens_radius = 0;         ///< in the scene; 0: a pinhole
    double focus = 0;               ///< distance of the plane that a lens shows sharp
};

/// A camera of a scene.
struct NamedCamera {
    std::string name; ///< may be empty, and that of another camera
    CameraPose pose;
};

/// How a material uses a picture.
struct TextureUse {
    uint32_t image; ///< its place in Scene::images
    /// u of the picture = transform[0] u + transform[1] v + transform[2]; v: the same with the other three.
    std::array<double, 6> transform{1, 0, 0, 0, 1, 0};
    Wrap wrap_u = WRAP_REPEATS, wrap_v = WRAP_REPEATS;
    bool is_pixelated = false; ///< magnified, its texels are squares
    uint32_t set = 0;          ///< which of the places of a triangle's corners
};

/// The textures of a material. It may have none of them. Each is a factor of what it is named after.
struct SurfaceTextureUses {
    std::optional<TextureUse> colour;       ///< of the base
    std::optional<TextureUse> metal;        ///< its blue is one of `metallic`, its green one of `roughness`
    std::optional<TextureUse> transmission; ///< its red
    std::optional<TextureUse> emission;
    std::optional<TextureUse> normal;
    std::optional<TextureUse> opacity;        ///< its opacity
    std::optional<TextureUse> highlight;      ///< its opacity is one of `highlight_edge`
    std::optional<TextureUse> highlight_tint; ///< of `highlight`
    std::optional<TextureUse> coat;           ///< its red
    std::optional<TextureUse> coat_roughness; ///< its green
    std::optional<TextureUse> coat_normal;
    std::optional<TextureUse> sheen;
    std::optional<TextureUse> sheen_roughness;     ///< its opacity
    float normal_scale = 1, coat_normal_scale = 1; ///< of how far normals lean

    [[nodiscard]] std::array<const std::optional<TextureUse>*, 13> all() const {
        return {&colour,         &metal, &transmission,   &emission,    &normal, &opacity,        &highlight,
                &highlight_tint, &coat,  &coat_roughness, &coat_normal, &sheen,  &sheen_roughness};
    }
    [[nodiscard]] bool any() const {
        const auto uses = all();
        return std::any_of(uses.begin(), uses.end(), [](const auto* use) { return use->has_value(); });
    }
};

/// What happens where a material is not opaque.
enum class Passing : std::uint8_t {
    nothing,  ///< it is opaque
    all,      ///< where opacity is less than `cutoff` there is a hole; all else is opaque
    its_share ///< one minus the opacity
};

/// What a material is before it is prepared for kernels. Of `base`, some is metal, some of the rest is glass,
/// and what is left is Lambert below a clear layer; `mirror` comes on top. Without values that are not 0,
/// there is no such thing.
///
/// Metals reflect `base` along their normal, and all at the edge, by Schlick's formula. Roughness is that of
/// glTF: its square is alpha of the distribution GGX.
struct SurfaceDescription {
    Rgb base{0, 0, 0};
    float metallic = 0;       ///< the share of `base` that is metal
    float transmitted = 0;    ///< the share of the rest that is glass; `base` is its tint
    Rgb mirror{0, 0, 0};      ///< reflectance, the same at all angles
    float roughness = 0;      ///< of metal, mirror, glass and the clear layer
    Rgb highlight{0, 0, 0};   ///< reflectance of the clear layer along its normal, of which `highlight_edge`
    float highlight_edge = 0; ///< is a factor; and at the edge
    float ior = 1.5f;         ///< of the glass
    bool is_thin = false;     ///< the glass is a pane: light goes straight through
    Rgb absorption{0, 0, 0};  ///< of the glass, per unit of length
    float coat = 0;           ///< the share of another clear layer, of index 1.5, on top of all
    float coat_roughness = 0;
    Rgb sheen{0, 0, 0}; ///< of upright fibres
    float sheen_roughness = 0;
    Rgb emission{0, 0, 0}; ///< radiance, on both sides
    Passing passing = Passing::nothing;
    float opacity = 1, cutoff = 0.5f;
    SurfaceTextureUses textures{};

    [[nodiscard]] float glass_share() const { return (1 - metallic) * transmitted; }
    /// Somewhere, as textures may say.
    [[nodiscard]] bool may_be_glass() const { return transmitted > 0 && (metallic < 1 || textures.metal); }
    [[nodiscard]] Rgb metal() const { return part(metallic); }
    [[nodiscard]] Rgb glass() const { return part(glass_share()); }
    [[nodiscard]] Rgb diffuse() const { return part((1 - metallic) * (1 - transmitted)); }

private:
    [[nodiscard]] Rgb part(float share) const { return {base.r * share, base.g * share, base.b * share}; }
};

/// A light without extent: neither rays nor cameras meet it.
struct PunctualLightDescription {
    /// glTF gives light in lumen. A lumen is taken for 1/683 of a unit of radiance over area and solid angle,
    /// which is a watt where all light is of the wavelength that eyes see best.
    static constexpr double lumens = 683;

    enum class Kind : std::uint8_t { point, spot, far };

    Kind kind = Kind::point;
    Point place{0, 0, 0};   ///< of what is not far
    Point axis{0, 0, -1};   ///< where spots and what is far shine to: of length 1
    Rgb strength{0, 0, 0};  ///< radiant intensity; far away, irradiance of a surface that faces it
    double range = 0;       ///< beyond, nothing is lit; 0: there is none
    double inner_angle = 0; ///< to the axis, up to which a spot shines with all its strength
    double outer_angle =
        std::numbers::pi / 4; ///< from which on it does not shine: larger than the other, at most pi / 2
};

struct SceneTriangle {
    static constexpr uint32_t none = 0xffffffff;

    Point a, b, c;
    uint32_t material;
    uint32_t normals = none; ///< their place in Scene::normals; none: it is flat
    uint32_t colours = none; ///< their place in Scene::colours
    uint32_t places = none;  ///< of the first set in Scene::places; other sets are behind it
};

/// What the vertices of a mesh have besides a place: linear colours, as factors, and opacity.
struct CornerColour {
    Rgb colour{1, 1, 1};
    float opacity = 1;
};

/// Where a scene lies in the coordinates that kernels compute with: moved to its middle before coordinates
/// become floats, and scaled so that the farthest corner is between 1/2 and 1.
struct Placement {
    Point middle{0, 0, 0};
    double scale = 1; ///< a power of two, so that scaling rounds nothing

    [[nodiscard]] Point place(Point in_scene) const { return (in_scene - middle) * scale; }
};

/// Triangles that are shown in several places, in coordinates of their own. None of them emits light.
struct SceneMesh {
    std::size_t first, count; ///< in Scene::triangles
};

/// A mesh in one of its places.
struct SceneInstance {
    uint32_t mesh;
    Transform place; ///< from the coordinates of the mesh to those of the scene; with an inverse
};

/// Triangles in the order of the file, with what they are made of, and what lights them.
struct Scene {
    std::vector<SceneTriangle> triangles; ///< those of meshes last
    std::vector<SceneMesh> meshes;
    std::vector<SceneInstance> instances;
    /// How often the file shows what it shows more than once, also where that is not kept as instances.
    std::size_t shown_instances = 0;
    std::vector<std::array<uint32_t, 3>> normals;     ///< of corners, as encoded_normal has them
    std::vector<std::array<CornerColour, 3>> colours; ///< of corners: factors of what materials send on
    std::vector<std::array<TexturePoint, 3>> places;  ///< of corners in textures
    std::vector<TextureImage> images;                 ///< which textures use
    std::vector<SurfaceDescription> materials;
    std::vector<PunctualLightDescription> lights;
    std::vector<NamedCamera> cameras;
    std::vector<std::string> notes; ///< one line each: what of the file is not shown as it was meant

    /// Triangles before those of meshes: they lie in the scene as they are.
    [[nodiscard]] std::size_t single_triangles() const {
        return meshes.empty() ? triangles.size() : meshes.front().first;
    }
};

/// What surrounds corners; nothing at first.
struct Surroundings {
    static constexpr double infinity = std::numeric_limits<double>::infinity();
    Point lo{infinity, infinity, infinity}, hi{-infinity, -infinity, -infinity};

    void add(Point point) {
        lo = {std::min(lo.x, point.x), std::min(lo.y, point.y), std::min(lo.z, point.z)};
        hi = {std::max(hi.x, point.x), std::max(hi.y, point.y), std::max(hi.z, point.z)};
    }
    void add(const SceneTriangle& triangle) {
        for (const Point corner : {triangle.a, triangle.b, triangle.c}) add(corner);
    }
    /// A box, where a map places it.
    void add(const Surroundings& box, const Transform& place) {
        for (const double x : {box.lo.x, box.hi.x})
            for (const double y : {box.lo.y, box.hi.y})
                for (const double z : {box.lo.z, box.hi.z}) add(place({x, y, z}));
    }
};
/// Of all that is shown. Where that is very much, instances count as the boxes around their meshes.
[[nodiscard]] Surroundings surroundings_of(const Scene& scene);
/// In its own coordinates.
[[nodiscard]] Surroundings surroundings_of(const Scene& scene, const SceneMesh& mesh);

/// Reads OBJ with MTL, PLY, glTF 2.0 (.gltf, .glb).
///
/// `albedo` is the reflectance of meshes without a material, and stands in for textures of colour. Triangles
/// without area are left out. What is not used may be wrong. `notes` names what is not shown.
///
/// MTL       Kd, Ke, Ks, Ns, Ni, Tf; illum 2 adds a highlight of Ks to Kd, as wide as Ns says; 3, 5 and 8 add
///           a mirror of Ks; 4, 6, 7 and 9 are glass of index Ni, tinted by Tf; others show Kd only. 4 and 9
///           are opaque and show Kd only if opacity and Tf are 1, because exporters write them so for
///           everything. Pr, Pm, Ps, Pc and Pcr; the numbers of Blender in its files
/// Normals   at corners, of any length, make curved surfaces look smooth (corner_shading.h); faces without
///           them are flat
/// Colours   of vertices are factors of what a material sends on; without a material, they are all of it. Of
///           OBJ and PLY they are sRGB, of glTF linear
/// PLY       polygons and triangle strips
/// glTF      base colour, metal and roughness, emissive factor, alpha modes and the KHR_materials_ extensions
///           clearcoat, emissive_strength, ior, sheen, specular, transmission and volume;
///           KHR_lights_punctual, KHR_mesh_quantization, KHR_texture_transform, EXT_mesh_gpu_instancing;
///           EXT_meshopt_compression and KHR_draco_mesh_compression, if the program was built with their
///           libraries. Skins and morph targets as they are without animations
/// Textures  of glTF for all of these and for normals; of MTL map_Kd, map_Ke, map_d and norm; of PLY
///           TextureFile. One may be missing or broken, or the mesh has no texture coordinates: then a colour
///           is `albedo` instead, and nothing is metal, glass or a lamp because of the factor of a texture
/// Errors    not_found, io or invalid_argument with the file, the place in it, and what to do
[[nodiscard]] Scene load_scene(const std::filesystem::path& file, float albedo, FileRules rules = {});

/// The scene's camera with this name, or else with this number, from 0 on. If `which` is empty: its first
/// one, or a view from +z that shows all of the scene.
///
/// Errors    invalid_argument: which cameras there are
[[nodiscard]] CameraPose camera_of(const Scene& scene, const std::string& which);

/// A line for each camera: its number, its name, and what --camera takes to be in its place.
[[nodiscard]] std::string list_of_cameras(const Scene& scene);

/// The camera that kernels use, for a picture of width x height square pixels; it moves along with the scene.
/// Errors  invalid_argument if the view has no direction, or its angle is not in (0, 180), or its numbers are
///         beyond what floats compute with
[[nodiscard]] Camera make_camera(const CameraPose& view, const Placement& placement, uint32_t width,
                                 uint32_t height);

/// How wide a sample is, for textures: see Frame.
struct SampleWidth {
    float at_camera, spread;
};
/// Of a picture with so many samples a pixel, in the coordinates of kernels.
[[nodiscard]] SampleWidth sample_width(const CameraPose& view, const Placement& placement, uint32_t height,
                                       uint32_t samples);

} // namespace path_tracer
