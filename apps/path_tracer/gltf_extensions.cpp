// apps/path_tracer/gltf_extensions.cpp - see gltf_extensions.hpp.
#include "gltf_extensions.hpp"
#include "gltf_draco.hpp"
#include "gltf_meshopt.hpp"
#include "text_lines.hpp"

#include <algorithm>
#include <array>
#include <string_view>

namespace path_tracer {
namespace {

/// Extensions that the reader does all of.
constexpr std::array<std::string_view, 11> known_extensions = {
    "EXT_mesh_gpu_instancing",         "KHR_lights_punctual",        "KHR_materials_clearcoat",
    "KHR_materials_emissive_strength", "KHR_materials_ior",          "KHR_materials_sheen",
    "KHR_materials_specular",          "KHR_materials_transmission", "KHR_materials_volume",
    "KHR_mesh_quantization",           "KHR_texture_transform"};

bool is_known(std::string_view extension) {
    if (extension == "KHR_draco_mesh_compression") return reads_draco();
    if (extension == "EXT_meshopt_compression") return reads_meshopt();
    return std::find(known_extensions.begin(), known_extensions.end(), extension) != known_extensions.end();
}

} // namespace

void check_required_extensions(const GltfFile& file) {
    for (const Json& required : file.list("extensionsRequired")) {
        const std::string name = required.is_string() ? required.get<std::string>() : std::string();
        if (!is_known(name))
            file.refuse("requires the extension \"" + excerpt(name) +
                        "\", which is not known here; export it without");
    }
}

void name_extension(const std::string& name, NotShown& not_shown) {
    // Built without its library: what is compressed has plain numbers beside it, or is refused where it is
    // used.
    const bool is_compression = name == "KHR_draco_mesh_compression" || name == "EXT_meshopt_compression";
    // What is shown of it depends on its textures, which are named by themselves.
    const bool is_shown_in_part = name == "KHR_materials_pbrSpecularGlossiness";
    if (is_known(name) || is_compression || is_shown_in_part) return;
    not_shown.add("extension " + excerpt(name));
}

void name_extensions(const Json& object, NotShown& not_shown) {
    const auto extensions = object.find("extensions");
    if (extensions == object.end() || !extensions->is_object()) return;
    for (const auto& [name, ignored] : extensions->items()) name_extension(name, not_shown);
}

const Json* extension(const Json& object, const char* name) {
    const auto extensions = object.find("extensions");
    if (extensions == object.end() || !extensions->is_object()) return nullptr;
    const auto found = extensions->find(name);
    return found == extensions->end() || !found->is_object() ? nullptr : &*found;
}

} // namespace path_tracer
