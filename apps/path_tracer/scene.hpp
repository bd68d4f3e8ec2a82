// apps/path_tracer/scene.hpp - a scene file as flat arrays: triangles, materials, and the camera if it has
// one.
#pragma once
#include "layout.h"
#include "point.hpp"
#include "scene_files.hpp"

#include <array>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace path_tracer {

/// A pinhole as people describe it.
struct CameraPose {
    Point eye, target;
    float vertical_fov_degrees;
    std::optional<Point> up = std::nullopt; ///< none: +y, or -z if it looks straight up or down
    double roll_degrees = 0; ///< turned around the way that it looks: clockwise, as seen from behind it
};

/// A camera of a scene.
struct NamedCamera {
    std::string name; ///< may be empty, and that of another camera
    CameraPose pose;
};

/// What a material is before it is prepared for kernels: parts that add up to what the surface sends on.
struct SurfaceDescription {
    Rgb diffuse{0, 0, 0};  ///< Lambert
    Rgb mirror{0, 0, 0};   ///< smooth mirror
    Rgb glass{0, 0, 0};    ///< smooth dielectric; its tint
    float ior = 1.5f;      ///< of the glass
    Rgb emission{0, 0, 0}; ///< radiance, on both sides
};

struct SceneTriangle {
    static constexpr uint32_t none = 0xffffffff;

    Point a, b, c;
    uint32_t material;
    uint32_t normals = none; ///< their place in Scene::normals; none: it is flat
    uint32_t colours = none; ///< their place in Scene::colours
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
    std::vector<std::array<uint32_t, 3>> normals; ///< of corners, as encoded_normal has them
    std::vector<std::array<Rgb, 3>> colours;      ///< of corners: factors of what materials send on
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
/// glTF      base colour, metallic factor (metal is a mirror, whatever its roughness), emissive factor and
///           KHR_materials_emissive_strength, KHR_materials_transmission, KHR_materials_ior,
///           KHR_mesh_quantization
/// Textures  are not read: a colour is `albedo` instead, and nothing is metal, glass or a lamp because of the
///           factor of a texture
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
/// Errors  invalid_argument if the view has no direction, or its angle is not in (0, 180)
[[nodiscard]] Camera make_camera(const CameraPose& view, const Placement& placement, uint32_t width,
                                 uint32_t height);

} // namespace path_tracer
