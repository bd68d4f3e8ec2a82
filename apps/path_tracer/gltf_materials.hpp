// apps/path_tracer/gltf_materials.hpp - the materials of a glTF file, with their textures.
#pragma once
#include "gltf_file.hpp"
#include "scene_readers.hpp"

#include <array>
#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <utility>

namespace path_tracer {

/// Reads those that are used, each once. Borrows all that it is given.
class GltfMaterials {
public:
    /// `albedo`: reflectance of what has no material, and of what has a texture that cannot be shown
    GltfMaterials(const SceneFiles& files, GltfFile& file, Scene& scene, NotShown& not_shown, float albedo)
        : files_(files), file_(file), scene_(scene), not_shown_(not_shown), albedo_(albedo) {}

    /// The place in the scene of what a primitive is made of.
    ///
    /// `colours`: of its vertices, or null; they stand in for a material that there is not. `sets`: of
    /// texture coordinates
    [[nodiscard]] uint32_t of(const Json& primitive, const GltfAccessor* colours, std::size_t sets);

private:
    /// What an object says of one of its textures.
    struct NamedTexture {
        bool is_named = false;
        std::optional<TextureUse> use{};
        /// It cannot be shown, and its factor alone means nothing.
        [[nodiscard]] bool is_lost() const { return is_named && !use; }
    };

    NamedTexture texture_of(const Json& object, const char* name, TexelMeaning meaning, std::size_t sets);
    /// Nothing: `fault` says why.
    std::optional<TextureUse> texture_use(const Json& info, TexelMeaning meaning, std::size_t sets,
                                          std::string& fault);
    /// The place in `name` that object[key] names, if there is such.
    [[nodiscard]] std::optional<std::size_t> existing(const Json& object, const char* key,
                                                      const char* name) const;
    [[nodiscard]] Wrap wrap_of(const Json& sampler, const char* key) const;
    /// Shift x turn x scale, as the extension says it.
    [[nodiscard]] std::array<double, 6> transform_of(const Json& transform);
    /// The picture's place in the scene, read once for each meaning. Nothing: `fault` says why.
    std::optional<uint32_t> image_of(std::size_t index, TexelMeaning meaning, std::string& fault);

    [[noreturn]] void refuse_material(const Json& material, const char* what) const;
    /// A number that has to be between 0 and 1.
    [[nodiscard]] float share_of(const Json& material, const Json& object, const char* key,
                                 double otherwise) const;
    [[nodiscard]] Rgb colour_of(const Json& object, const char* key, std::array<double, 3> otherwise) const;

    /// `has_opacity`: its vertices have.
    SurfaceDescription surface_of(const Json& material, bool has_opacity, std::size_t sets);
    /// Base colour, metal and the clear layer. Returns the texture of colour.
    NamedTexture give_base(const Json& material, std::size_t sets, SurfaceDescription& surface);
    void give_old_highlight(const Json& material, const Json& old, SurfaceDescription& surface);
    void give_highlight(const Json& material, std::size_t sets, SurfaceDescription& surface);
    void give_glass(const Json& material, std::size_t sets, SurfaceDescription& surface);
    void give_coat(const Json& material, std::size_t sets, SurfaceDescription& surface);
    void give_sheen(const Json& material, std::size_t sets, SurfaceDescription& surface);
    void give_emission(const Json& material, std::size_t sets, SurfaceDescription& surface);
    std::optional<TextureUse> normals_of(const Json& material, const Json& object, const char* name,
                                         std::size_t sets, float& scale);
    void give_opacity(const Json& material, const NamedTexture& base, bool has_opacity,
                      SurfaceDescription& surface);

    const SceneFiles& files_;
    GltfFile& file_;
    Scene& scene_;
    NotShown& not_shown_;
    float albedo_;
    std::map<std::tuple<std::optional<std::size_t>, bool, bool, std::size_t>, uint32_t> materials_;
    std::map<std::pair<std::size_t, TexelMeaning>, ReadImage> images_;
};

} // namespace path_tracer
