// apps/path_tracer/scene.hpp - a scene file as flat arrays: triangles, materials, and the camera if it has
// one.
#pragma once
#include "layout.h"
#include "point.hpp"
#include "scene_files.hpp"
#include "texture_image.hpp"

#include <array>
#include <filesystem>
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

/// The textures of a material. It may have none of them.
struct SurfaceTextureUses {
    std::optional<TextureUse> colour;       ///< factor of the Lambert part
    bool colours_all = false;               ///< `colour` is a factor of mirror and glass, too
    std::optional<TextureUse> metal;        ///< its blue is a factor of `metallic`
    std::optional<TextureUse> transmission; ///< its red is a factor of `transmitted`
    std::optional<TextureUse> emission;     ///< factor of the emission
    std::optional<TextureUse> normal;
    std::optional<TextureUse> opacity; ///< its opacity is a factor of SurfaceDescription::opacity
    float normal_scale = 1;            ///< of how far `normal` leans
    /// Parts where `metal` or `transmission` is: mirror = base x metallic, glass = base x (1 - metallic) x
    /// transmitted, and Lambert what is left of base.
    Rgb base{1, 1, 1};
    float metallic = 1, transmitted = 0;

    [[nodiscard]] std::array<const std::optional<TextureUse>*, 6> all() const {
        return {&colour, &metal, &transmission, &emission, &normal, &opacity};
    }
    [[nodiscard]] bool any() const {
        return colour || metal || transmission || emission || normal || opacity;
    }
};

/// What happens where a material is not opaque.
enum class Passing : std::uint8_t {
    nothing,  ///< it is opaque
    all,      ///< where opacity is less than `cutoff` there is a hole; all else is opaque
    its_share ///< one minus the opacity
};

/// What a material is before it is prepared for kernels: parts that add up to what the surface sends on.
struct SurfaceDescription {
    Rgb diffuse{0, 0, 0};  ///< Lambert
    Rgb mirror{0, 0, 0};   ///< smooth mirror
    Rgb glass{0, 0, 0};    ///< smooth dielectric; its tint
    float ior = 1.5f;      ///< of the glass
    Rgb emission{0, 0, 0}; ///< radiance, on both sides
    Passing passing = Passing::nothing;
    float opacity = 1, cutoff = 0.5f;
    SurfaceTextureUses textures{};
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

/// Triangles in the order of the file, with what they are made of.
struct Scene {
    std::vector<SceneTriangle> triangles;
    std::vector<std::array<uint32_t, 3>> normals;     ///< of corners, as encoded_normal has them
    std::vector<std::array<CornerColour, 3>> colours; ///< of corners: factors of what materials send on
    std::vector<std::array<TexturePoint, 3>> places;  ///< of corners in textures
    std::vector<TextureImage> images;                 ///< which textures use
    std::vector<SurfaceDescription> materials;
    std::vector<NamedCamera> cameras;
    std::vector<std::string> notes; ///< one line each: what of the file is not shown as it was meant
};

/// Reads OBJ with MTL, PLY, glTF 2.0 (.gltf, .glb).
///
/// `albedo` is the reflectance of meshes without a material, and stands in for textures of colour. Triangles
/// without area are left out. What is not used may be wrong. `notes` names what is not shown.
///
/// MTL       Kd, Ke, Ks, Ni, Tf; illum 3, 5 and 8 add a mirror of Ks to Kd; 4, 6, 7 and 9 are glass of index
///           Ni, tinted by Tf; others show Kd only, as there is no glossy surface here. 4 and 9 are opaque
///           and show Kd only if opacity and Tf are 1, because exporters write them so for everything
/// Normals   at corners, of any length, make curved surfaces look smooth (corner_shading.h); faces without
///           them are flat
/// Colours   of vertices are factors of what a material sends on; without a material, they are all of it. Of
///           OBJ and PLY they are sRGB, of glTF linear
/// PLY       polygons and triangle strips
/// glTF      base colour, metallic factor (metal is a mirror, whatever its roughness), emissive factor, alpha
///           modes and KHR_materials_emissive_strength, KHR_materials_transmission, KHR_materials_ior,
///           KHR_mesh_quantization, KHR_texture_transform
/// Textures  of glTF for all of these and for normals; of MTL map_Kd, map_Ke, map_d and norm; of PLY
/// TextureFile. One may be
///           missing or broken, or the mesh has no texture coordinates: then a colour is `albedo` instead,
///           and nothing is metal, glass or a lamp because of the factor of a texture
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
