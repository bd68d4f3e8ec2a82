// apps/path_tracer/read_gltf.cpp - glTF 2.0: Assimp reads it, once check_gltf.cpp has let it pass. The one
// unit that sees Assimp.
#include "scene_readers.hpp"
#include "vector_math.hpp"

#include <assimp/Importer.hpp>
#include <assimp/material.h>
#include <assimp/postprocess.h>
#include <assimp/scene.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

namespace path_tracer {
namespace {

namespace fs = std::filesystem;

Rgb colour(const aiMaterial& material, const char* key, unsigned type, unsigned index, Rgb fallback) {
    aiColor3D value;
    return material.Get(key, type, index, value) == AI_SUCCESS ? Rgb{value.r, value.g, value.b} : fallback;
}
float number(const aiMaterial& material, const char* key, unsigned type, unsigned index, float fallback) {
    float value = 0;
    return material.Get(key, type, index, value) == AI_SUCCESS ? value : fallback;
}

/// The number that a name consists of; one that is too large for anything if it is no number.
std::size_t number_in(const aiString& name) {
    const auto number = to_number<std::int64_t>({name.C_Str(), name.length});
    return number && *number >= 0 ? static_cast<std::size_t>(*number)
                                  : std::numeric_limits<std::size_t>::max();
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

/// Throws if the importer does not take it, in its words.
const aiScene& import_scene(Assimp::Importer& importer, const fs::path& file, const std::string& bytes) {
    std::string why;
    try {
        const aiScene* scene =
            importer.ReadFileFromMemory(bytes.data(), bytes.size(), aiProcess_ValidateDataStructure,
                                        bytes.rfind("glTF", 0) == 0 ? "glb" : "gltf");
        if (scene != nullptr && scene->mRootNode != nullptr) return *scene;
        why = importer.GetErrorString();
    } catch (const std::bad_alloc&) {
        throw;
    } catch (const std::exception& error) {
        why = error.what();
    }
    refuse_scene(file, "cannot be read: " + why + "; export it again");
}

constexpr float degrees = 180 / std::numbers::pi_v<float>;

/// Everything below one node, in world coordinates.
class Flattener {
public:
    /// `materials`: the importer's, as they are numbered in the scene.
    Flattener(const fs::path& file, const aiScene& from, const CheckedGltf& gltf,
              const std::vector<uint32_t>& materials, Scene& to)
        : file_(file), from_(from), gltf_(gltf), materials_(materials), to_(to) {}

    void add(const aiNode& node, const Transform& parent) {
        const std::size_t number = number_in(node.mName); // none: the importer's root above several
        const bool is_in_file = number < gltf_.transforms.size();
        const Transform world = is_in_file ? parent.after(gltf_.transforms[number]) : parent;
        for (unsigned i = 0; i < node.mNumMeshes; ++i) add(*from_.mMeshes[node.mMeshes[i]], world);
        if (!to_.camera && is_in_file && gltf_.vertical_fov[number] > 0)
            to_.camera =
                CameraPose{world({0, 0, 0}), world({0, 0, -1}), gltf_.vertical_fov[number] * degrees};
        for (unsigned i = 0; i < node.mNumChildren; ++i) add(*node.mChildren[i], world);
    }

private:
    void add(const aiMesh& mesh, const Transform& world) {
        std::vector<Point> vertices(mesh.mNumVertices);
        for (unsigned i = 0; i < mesh.mNumVertices; ++i) {
            const aiVector3D& vertex = mesh.mVertices[i];
            vertices[i] = world({double{vertex.x}, double{vertex.y}, double{vertex.z}});
            if (!(largest_part(vertices[i]) <= farthest_coordinate))
                refuse_scene(
                    file_,
                    "a vertex is not finite or farther than 1e30 from the origin; scale the scene down");
        }
        const bool mirrors = world.mirrors(); // keep the outside outside
        std::vector<Point> corners;
        for (unsigned i = 0; i < mesh.mNumFaces; ++i) {
            const aiFace& face = mesh.mFaces[i];
            corners.clear();
            for (unsigned corner = 0; corner < face.mNumIndices; ++corner) {
                if (face.mIndices[corner] >= mesh.mNumVertices)
                    refuse_scene(file_, "a face names a vertex that is not there; export it again");
                corners.push_back(vertices[face.mIndices[corner]]);
            }
            if (mirrors) std::reverse(corners.begin(), corners.end());
            add_polygon(to_, corners, materials_.at(mesh.mMaterialIndex)); // nothing for points and lines
        }
    }

    const fs::path& file_;
    const aiScene& from_;
    const CheckedGltf& gltf_;
    const std::vector<uint32_t>& materials_;
    Scene& to_;
};

} // namespace

Scene read_gltf(const fs::path& file, std::string_view bytes, float albedo) {
    const CheckedGltf gltf = check_gltf(file, bytes);
    Assimp::Importer importer;
    const aiScene& imported = import_scene(importer, file, gltf.bytes);
    Scene scene;
    std::vector<uint32_t> materials;
    for (unsigned i = 0; i < imported.mNumMaterials; ++i) {
        const aiMaterial& material = *imported.mMaterials[i];
        const std::size_t number = number_in(material.GetName());
        if (number < gltf.emissive_strength.size())
            materials.push_back(add_material(scene, file, gltf.material_names[number],
                                             from_gltf(material, gltf.emissive_strength[number])));
        else // what the importer made up for meshes without one
            materials.push_back(add_material(scene, file, "", {.diffuse = {albedo, albedo, albedo}}));
    }
    Flattener(file, imported, gltf, materials, scene).add(*imported.mRootNode, Transform{});
    if (!scene.camera && gltf.has_other_cameras)
        scene.notes.push_back("the scene's camera is not a perspective one and is left out");
    return scene;
}

} // namespace path_tracer
