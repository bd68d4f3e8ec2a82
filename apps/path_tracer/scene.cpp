// apps/path_tracer/scene.cpp - see scene.hpp. The one unit that sees Assimp.
#include "scene.hpp"
#include "polygon.hpp"
#include "scene_checks.hpp"
#include "vector_math.hpp"
#include <headrace/core/error.hpp>

#include <assimp/Importer.hpp>
#include <assimp/material.h>
#include <assimp/postprocess.h>
#include <assimp/scene.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <fstream>
#include <limits>
#include <numbers>
#include <span>

namespace path_tracer {

namespace fs = std::filesystem;
using headrace::Error;
using headrace::ErrorKind;

void refuse_scene(const fs::path& file, const std::string& what) {
    throw Error{ErrorKind::invalid_argument, file.string() + ": " + what};
}

namespace {

enum class FileFormat { obj, ply, gltf };
constexpr float degrees = 180 / std::numbers::pi_v<float>;

FileFormat format_of(const fs::path& file) {
    std::string extension = file.extension().string();
    std::transform(extension.begin(), extension.end(), extension.begin(),
                   [](unsigned char letter) { return static_cast<char>(std::tolower(letter)); });
    if (extension == ".obj") return FileFormat::obj;
    if (extension == ".ply") return FileFormat::ply;
    if (extension == ".gltf" || extension == ".glb") return FileFormat::gltf;
    refuse_scene(file, "has an unknown format; scenes are .obj, .ply, .gltf or .glb");
}

std::string read_file(const fs::path& file) {
    std::error_code error;
    const fs::file_status status = fs::status(file, error);
    if (!fs::exists(status))
        throw Error{ErrorKind::not_found, file.string() + ": there is no such file; check --scene"};
    if (!fs::is_regular_file(status)) refuse_scene(file, "is not a file; check --scene");
    std::ifstream stream(file, std::ios::binary);
    if (!stream)
        throw Error{ErrorKind::invalid_argument, file.string() + ": cannot be read; check its permissions"};
    std::string bytes(static_cast<std::size_t>(fs::file_size(file)), '\0');
    stream.read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    if (stream.bad() || static_cast<std::size_t>(stream.gcount()) != bytes.size())
        throw Error{ErrorKind::io, file.string() + ": reading failed; check the disk"};
    if (bytes.empty()) refuse_scene(file, "is empty; copy or export it again");
    return bytes;
}

Rgb colour(const aiMaterial& material, const char* key, unsigned type, unsigned index, Rgb fallback) {
    aiColor3D value;
    return material.Get(key, type, index, value) == AI_SUCCESS ? Rgb{value.r, value.g, value.b} : fallback;
}
float number(const aiMaterial& material, const char* key, unsigned type, unsigned index, float fallback) {
    float value = 0;
    return material.Get(key, type, index, value) == AI_SUCCESS ? value : fallback;
}

/// The number that a name consists of; one that is too large for anything if it is no number.
std::size_t to_number(const aiString& name) {
    std::size_t number = 0;
    const char* const end = name.C_Str() + name.length;
    const auto [stop, error] = std::from_chars(name.C_Str(), end, number);
    return error == std::errc{} && stop == end ? number : std::numeric_limits<std::size_t>::max();
}

/// MTL. What `illum` means here is said in scene.hpp.
SurfaceDescription from_mtl(const aiMaterial& material) {
    SurfaceDescription surface;
    surface.diffuse = colour(material, AI_MATKEY_COLOR_DIFFUSE, {0, 0, 0});
    surface.emission = colour(material, AI_MATKEY_COLOR_EMISSIVE, {0, 0, 0});
    surface.ior = number(material, AI_MATKEY_REFRACTI, 1.5f);
    int illum = 1;
    static_cast<void>(material.Get("$mat.illum", 0, 0, illum));
    if (illum == 3 || illum == 5 || illum == 8)
        surface.mirror = colour(material, AI_MATKEY_COLOR_SPECULAR, {0, 0, 0});
    if (illum == 4 || illum == 6 || illum == 7 || illum == 9) {
        surface.glass = colour(material, AI_MATKEY_COLOR_TRANSPARENT, {1, 1, 1});
        if (is_black(surface.glass))
            surface.glass = {1, 1, 1}; // "Tf 0 0 0" is what exporters write for glass
        surface.diffuse = {0, 0, 0};
    }
    return surface;
}

SurfaceDescription from_gltf(const aiMaterial& material, float emissive_strength) {
    const Rgb base = colour(material, AI_MATKEY_BASE_COLOR, {1, 1, 1});
    const float metallic = number(material, AI_MATKEY_METALLIC_FACTOR, 1);
    const float transmission = number(material, AI_MATKEY_TRANSMISSION_FACTOR, 0);
    SurfaceDescription surface;
    surface.mirror = base * metallic;
    surface.glass = base * ((1 - metallic) * transmission);
    surface.diffuse = base * ((1 - metallic) * (1 - transmission));
    surface.ior = number(material, AI_MATKEY_REFRACTI, 1.5f);
    surface.emission = colour(material, AI_MATKEY_COLOR_EMISSIVE, {0, 0, 0}) * emissive_strength;
    return surface;
}

/// Throws unless the surface is one that floats can compute with; dims it, with a note, if it makes light of
/// nothing.
void check_surface(const fs::path& file, const std::string& name, SurfaceDescription& surface,
                   std::vector<std::string>& notes) {
    const auto refuse = [&](const char* what) { refuse_scene(file, "material \"" + name + "\": " + what); };
    for (const Rgb part : {surface.diffuse, surface.mirror, surface.glass, surface.emission})
        for (const float value : {part.r, part.g, part.b})
            if (!(value >= 0 && value <= 1e15f))
                refuse("a colour is negative or not finite; mend the material");
    if (!(surface.ior >= 0.1f && surface.ior <= 100))
        refuse("the index of refraction is not between 0.1 and 100; mend the material");
    const float total = largest(surface.diffuse + surface.mirror + surface.glass);
    if (total <= 1) return;
    for (Rgb* part : {&surface.diffuse, &surface.mirror, &surface.glass}) *part = *part * (1 / total);
    if (total > 1.001f)
        notes.push_back("material \"" + name + "\" sends on more light than it gets; it is dimmed");
}

/// What the importer makes of a file that has passed our checks. As few of its steps as will do:
/// distributions build it with assertions that abort, and its triangulation meets some on bent polygons.
const aiScene* import_scene(Assimp::Importer& importer, const fs::path& file, FileFormat format,
                            const std::string& gltf) {
    std::string why;
    try {
        const aiScene* scene = nullptr;
        if (format == FileFormat::gltf)
            scene = importer.ReadFileFromMemory(gltf.data(), gltf.size(), aiProcess_ValidateDataStructure,
                                                gltf.rfind("glTF", 0) == 0 ? "glb" : "gltf");
        else // by name: an OBJ finds its MTL beside it
            scene = importer.ReadFile(file.string(), aiProcess_ValidateDataStructure);
        if (scene != nullptr && scene->mRootNode != nullptr) return scene;
        why = importer.GetErrorString();
    } catch (const std::bad_alloc&) {
        throw;
    } catch (const std::exception& error) {
        why = error.what();
    }
    std::replace(why.begin(), why.end(), '\n', ' ');
    refuse_scene(file, "cannot be read: " + why + "; export it again");
}

/// Everything below one node, in world coordinates.
class Flattener {
public:
    /// `vertical_fov` [radians]: of the cameras at glTF's nodes, by number.
    Flattener(const fs::path& file, const aiScene& from, std::span<const float> vertical_fov, Scene& to)
        : file_(file), from_(from), vertical_fov_(vertical_fov), to_(to) {}

    void add(const aiNode& node, const aiMatrix4x4& parent) {
        const aiMatrix4x4 world = parent * node.mTransformation;
        for (unsigned i = 0; i < node.mNumMeshes; ++i) add(*from_.mMeshes[node.mMeshes[i]], world);
        if (const auto number = to_number(node.mName);
            !to_.camera && number < vertical_fov_.size() && vertical_fov_[number] > 0) {
            const aiVector3D eye = world * aiVector3D(0, 0, 0), target = world * aiVector3D(0, 0, -1);
            to_.camera = CameraPose{
                {eye.x, eye.y, eye.z}, {target.x, target.y, target.z}, vertical_fov_[number] * degrees};
        }
        for (unsigned i = 0; i < node.mNumChildren; ++i) add(*node.mChildren[i], world);
    }

private:
    void add(const aiMesh& mesh, const aiMatrix4x4& world) {
        std::vector<Float3> vertices(mesh.mNumVertices);
        for (unsigned i = 0; i < mesh.mNumVertices; ++i) {
            const aiVector3D moved = world * mesh.mVertices[i];
            vertices[i] = {moved.x, moved.y, moved.z};
            // 1e9: the cube of a coordinate still fits into a float with room to spare.
            for (const float value : {moved.x, moved.y, moved.z})
                if (!(std::abs(value) <= 1e9f))
                    refuse_scene(
                        file_,
                        "a vertex is not finite or farther than 1e9 from the origin; scale the scene down");
        }
        const bool mirrors = world.Determinant() < 0; // keep the outside outside
        std::vector<Float3> corners;
        for (unsigned i = 0; i < mesh.mNumFaces; ++i) {
            const aiFace& face = mesh.mFaces[i];
            corners.clear();
            for (unsigned corner = 0; corner < face.mNumIndices; ++corner) {
                if (face.mIndices[corner] >= mesh.mNumVertices)
                    refuse_scene(file_, "a face names a vertex that is not there; export it again");
                corners.push_back(vertices[face.mIndices[corner]]);
            }
            if (mirrors) std::reverse(corners.begin(), corners.end());
            for (const auto& triangle : triangulate(corners)) // none for points and lines
                add(corners[triangle[0]], corners[triangle[1]], corners[triangle[2]], mesh.mMaterialIndex);
        }
    }

    void add(Float3 a, Float3 b, Float3 c, uint32_t material) {
        const Float3 normal = cross(b - a, c - a);
        // No area; or so little that devices which flush denormal numbers would divide by zero.
        if (!(larger(larger(std::abs(normal.x), std::abs(normal.y)), std::abs(normal.z)) > 1e-30f)) return;
        to_.triangles.push_back({a, material, b, static_cast<uint32_t>(to_.triangles.size()), c, 0});
    }

    const fs::path& file_;
    const aiScene& from_;
    std::span<const float> vertical_fov_;
    Scene& to_;
};

} // namespace

Scene load_scene(const fs::path& file, float albedo) {
    const FileFormat format = format_of(file);
    const std::string bytes = read_file(file);
    CheckedGltf gltf;
    if (format == FileFormat::obj)
        check_obj(file, bytes);
    else if (format == FileFormat::ply)
        check_ply(file, bytes);
    else
        gltf = check_gltf(file, bytes);
    Assimp::Importer importer;
    const aiScene* imported = import_scene(importer, file, format, gltf.bytes);

    Scene scene;
    for (unsigned i = 0; i < imported->mNumMaterials; ++i) {
        const aiMaterial& material = *imported->mMaterials[i];
        std::string name = material.GetName().C_Str();
        SurfaceDescription surface;
        surface.diffuse = {albedo, albedo, albedo};
        if (format ==
            FileFormat::gltf) { // a name that is no number: what the importer made up for meshes without one
            const std::size_t number = to_number(material.GetName());
            if (number < gltf.emissive_strength.size()) {
                surface = from_gltf(material, gltf.emissive_strength[number]);
                name = gltf.material_names[number];
            }
        } else if (format == FileFormat::obj && name != AI_DEFAULT_MATERIAL_NAME) {
            surface = from_mtl(material);
        }
        check_surface(file, name, surface, scene.notes);
        scene.materials.push_back(surface);
    }

    Flattener flattener(file, *imported, gltf.vertical_fov, scene);
    flattener.add(*imported->mRootNode, aiMatrix4x4());
    if (scene.triangles.empty())
        refuse_scene(file, "has no triangles with an area; export meshes, not points or curves");
    if (!scene.camera && gltf.has_other_cameras)
        scene.notes.push_back("the scene's camera is not a perspective one and is left out");
    return scene;
}

CameraPose view_of_all(const Scene& scene) {
    constexpr float infinity = std::numeric_limits<float>::infinity();
    Float3 lo{infinity, infinity, infinity}, hi{-infinity, -infinity, -infinity};
    for (const Triangle& triangle : scene.triangles)
        for (const Float3 corner : {triangle.a, triangle.b, triangle.c}) {
            lo = {smaller(lo.x, corner.x), smaller(lo.y, corner.y), smaller(lo.z, corner.z)};
            hi = {larger(hi.x, corner.x), larger(hi.y, corner.y), larger(hi.z, corner.z)};
        }
    constexpr float fov_degrees = 45, tangent_of_half = 0.41421356f;
    const Float3 middle = (lo + hi) * 0.5f;
    const float half = larger(larger(hi.x - lo.x, hi.y - lo.y) * 0.5f, (hi.z - lo.z) * 1e-3f);
    return {{middle.x, middle.y, hi.z + 1.1f * half / tangent_of_half}, middle, fov_degrees};
}

Camera make_camera(const CameraPose& view, uint32_t width, uint32_t height) {
    const auto refuse = [](const char* what) {
        throw Error{ErrorKind::invalid_argument, std::string("--camera: ") + what};
    };
    if (!(view.vertical_fov_degrees > 0 && view.vertical_fov_degrees < 180))
        refuse("the angle must be between 0 and 180 degrees");
    for (const float value :
         {view.eye.x, view.eye.y, view.eye.z, view.target.x, view.target.y, view.target.z})
        if (!(std::abs(value) <= 1e9f)) refuse("a coordinate is not finite or beyond 1e9");
    const Float3 way = view.target - view.eye;
    if (!(length(way) > 0)) refuse("the eye and the target are one point");
    const Float3 forward = normalised(way);
    const bool is_upright =
        std::abs(forward.y) > 0.999999f; // straight up or down: then the picture's top is -z
    const Float3 right = normalised(cross(forward, is_upright ? Float3{0, 0, -1} : Float3{0, 1, 0}));
    const Float3 down = cross(forward, right);
    const float pixel = 2 * std::tan(view.vertical_fov_degrees * 0.5f / degrees) / static_cast<float>(height);
    const Float3 corner = forward - right * (pixel * 0.5f * static_cast<float>(width)) -
                          down * (pixel * 0.5f * static_cast<float>(height));
    return {view.eye, corner, right * pixel, down * pixel};
}

} // namespace path_tracer
