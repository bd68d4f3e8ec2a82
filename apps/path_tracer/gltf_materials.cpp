// apps/path_tracer/gltf_materials.cpp - see gltf_materials.hpp.
#include "gltf_materials.hpp"
#include "gltf_extensions.hpp"
#include "text_lines.hpp"
#include "vector_math.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>

namespace path_tracer {

uint32_t GltfMaterials::of(const Json& primitive, const GltfAccessor* colours, std::size_t sets) {
    const auto number = file_.reference(primitive, "material", "materials");
    const bool has_colours = colours != nullptr && !number;
    const bool has_opacity = colours != nullptr && number && colours->size() == 4;
    const std::tuple key(number, has_colours, has_opacity, sets);
    const auto known = materials_.find(key);
    if (known != materials_.end()) return known->second;
    uint32_t material;
    if (number) {
        const Json& json = file_.list("materials")[*number];
        material = add_material(scene_, files_.scene(), excerpt(file_.text(json, "name")),
                                surface_of(json, has_opacity, sets));
    } else {
        material = add_material(scene_, files_.scene(), "", grey(has_colours ? 1 : albedo_));
    }
    materials_.emplace(key, material);
    return material;
}

GltfMaterials::NamedTexture GltfMaterials::texture_of(const Json& object, const char* name,
                                                      TexelMeaning meaning, std::size_t sets) {
    const auto found = object.find(name);
    if (found == object.end()) return {};
    std::string fault;
    std::optional<TextureUse> use = texture_use(*found, meaning, sets, fault);
    if (!use) {
        not_shown_.add(
            std::string("textures (") + name + ", " + fault +
            (std::string_view(name) == "baseColorTexture" || std::string_view(name) == "diffuseTexture"
                 ? "; --albedo stands in)"
                 : ")"));
    }
    return {true, std::move(use)};
}

std::optional<TextureUse> GltfMaterials::texture_use(const Json& info, TexelMeaning meaning, std::size_t sets,
                                                     std::string& fault) {
    const auto index = existing(info, "index", "textures");
    if (!index) return fault = "which is none of the file", std::nullopt;
    const Json& texture = file_.list("textures")[*index];
    const auto source = existing(texture, "source", "images");
    if (!source) return fault = "of a format that is not read", std::nullopt;
    TextureUse use{};
    const Json* const transform = extension(info, "KHR_texture_transform");
    std::uint64_t set = file_.size(info, "texCoord", 0);
    if (transform != nullptr) {
        use.transform = transform_of(*transform);
        set = file_.size(*transform, "texCoord", set);
    }
    if (set >= sets) return fault = "without texture coordinates", std::nullopt;
    use.set = static_cast<uint32_t>(set);
    if (const auto sampler = existing(texture, "sampler", "samplers")) {
        constexpr std::uint64_t nearest = 9728;
        const Json& habits = file_.list("samplers")[*sampler];
        use.wrap_u = wrap_of(habits, "wrapS");
        use.wrap_v = wrap_of(habits, "wrapT");
        use.is_pixelated = file_.size(habits, "magFilter", 0) == nearest;
    }
    const std::optional<uint32_t> image = image_of(*source, meaning, fault);
    if (!image) return std::nullopt;
    use.image = *image;
    return use;
}

std::optional<std::size_t> GltfMaterials::existing(const Json& object, const char* key,
                                                   const char* name) const {
    const auto found = object.find(key);
    if (found == object.end() || !found->is_number_unsigned()) return std::nullopt;
    const auto index = found->get<std::uint64_t>();
    return index < file_.list(name).size() ? std::optional<std::size_t>(index) : std::nullopt;
}

Wrap GltfMaterials::wrap_of(const Json& sampler, const char* key) const {
    constexpr std::uint64_t repeats = 10497, keeps_edge = 33071, mirrors = 33648;
    const std::uint64_t wrap = file_.size(sampler, key, repeats);
    return wrap == keeps_edge ? WRAP_KEEPS_EDGE : wrap == mirrors ? WRAP_MIRRORS : WRAP_REPEATS;
}

std::array<double, 6> GltfMaterials::transform_of(const Json& transform) {
    std::array<double, 2> shift{0, 0}, scale{1, 1};
    file_.numbers(transform, "offset", shift);
    file_.numbers(transform, "scale", scale);
    for (const double number : {shift[0], shift[1], scale[0], scale[1]})
        if (!(std::abs(number) <= farthest_texture_place)) {
            not_shown_.add(bad_transform);
            return TextureUse{}.transform;
        }
    const double turn = file_.number(transform, "rotation", 0), cosine = std::cos(turn),
                 sine = std::sin(turn);
    return {cosine * scale[0], sine * scale[1], shift[0], -sine * scale[0], cosine * scale[1], shift[1]};
}

std::optional<uint32_t> GltfMaterials::image_of(std::size_t index, TexelMeaning meaning, std::string& fault) {
    const std::pair key(index, meaning);
    const auto known = images_.find(key);
    if (known != images_.end()) {
        fault = known->second.fault;
        return known->second.place;
    }
    GltfFile::Image image = file_.image(index);
    ReadImage& read = images_[key];
    if (!image.fault.empty())
        read.fault = image.name + ' ' + image.fault;
    else if (!image.file.empty())
        read = add_image(scene_, files_, image.file, meaning);
    else
        read = add_image(scene_, image.name, std::move(image.bytes), meaning);
    fault = read.fault;
    return read.place;
}

void GltfMaterials::refuse_material(const Json& material, const char* what) const {
    file_.refuse("material \"" + excerpt(file_.text(material, "name")) + "\": " + what +
                 "; mend the material");
}

float GltfMaterials::share_of(const Json& material, const Json& object, const char* key,
                              double otherwise) const {
    const double share = file_.number(object, key, otherwise);
    if (!(share >= 0 && share <= 1)) refuse_material(material, "a factor is not between 0 and 1");
    return static_cast<float>(share);
}

Rgb GltfMaterials::colour_of(const Json& object, const char* key, std::array<double, 3> otherwise) const {
    file_.numbers(object, key, otherwise);
    const Float3 colour = rounded({otherwise[0], otherwise[1], otherwise[2]});
    return {colour.x, colour.y, colour.z};
}

SurfaceDescription GltfMaterials::surface_of(const Json& material, bool has_opacity, std::size_t sets) {
    name_extensions(material, not_shown_);
    if (material.contains("occlusionTexture")) not_shown_.add("textures (occlusionTexture)");
    SurfaceDescription surface;
    const NamedTexture base = give_base(material, sets, surface);
    if (surface.metallic < 1 || surface.textures.metal) give_glass(material, sets, surface);
    give_coat(material, sets, surface);
    give_sheen(material, sets, surface);
    give_emission(material, sets, surface);
    surface.textures.normal =
        normals_of(material, material, "normalTexture", sets, surface.textures.normal_scale);
    give_opacity(material, base, has_opacity, surface);
    return surface;
}

GltfMaterials::NamedTexture GltfMaterials::give_base(const Json& material, std::size_t sets,
                                                     SurfaceDescription& surface) {
    static const Json nothing = Json::object();
    const auto found = material.find("pbrMetallicRoughness");
    const Json& pbr = found == material.end() ? nothing : *found;
    if (!pbr.is_object()) file_.refuse("has a material that is no object; export it again");
    const Json* const old = extension(material, "KHR_materials_pbrSpecularGlossiness");
    const bool is_old = old != nullptr && found == material.end(); // else the file says what stands in for it
    std::array<double, 4> base{1, 1, 1, 1};
    file_.numbers(is_old ? *old : pbr, is_old ? "diffuseFactor" : "baseColorFactor", base);
    NamedTexture texture = texture_of(is_old ? *old : pbr, is_old ? "diffuseTexture" : "baseColorTexture",
                                      TexelMeaning::reflectance, sets);
    surface.base = {static_cast<float>(base[0]), static_cast<float>(base[1]), static_cast<float>(base[2])};
    if (texture.is_lost()) surface.base = {albedo_, albedo_, albedo_};
    surface.opacity = static_cast<float>(base[3]);
    surface.textures.colour = texture.use;
    if (is_old) {
        give_old_highlight(material, *old, surface);
        return texture;
    }
    surface.metallic = share_of(material, pbr, "metallicFactor", 1);
    surface.roughness = share_of(material, pbr, "roughnessFactor", 1);
    if (surface.metallic > 0 || surface.roughness > 0) {
        const NamedTexture metal = texture_of(pbr, "metallicRoughnessTexture", TexelMeaning::numbers, sets);
        surface.textures.metal = metal.use;
        if (metal.is_lost()) {
            surface.metallic = 0;
            surface.roughness = 1;
        }
    }
    if (surface.metallic < 1 || surface.textures.metal) give_highlight(material, sets, surface);
    return texture;
}

void GltfMaterials::give_old_highlight(const Json& material, const Json& old, SurfaceDescription& surface) {
    if (old.contains("specularGlossinessTexture")) {
        not_shown_.add("textures (specularGlossinessTexture)");
        return;
    }
    surface.roughness = 1 - share_of(material, old, "glossinessFactor", 1);
    surface.highlight = colour_of(old, "specularFactor", {1, 1, 1});
    surface.highlight_edge = 1;
}

void GltfMaterials::give_highlight(const Json& material, std::size_t sets, SurfaceDescription& surface) {
    double ior = 1.5;
    if (const Json* const refraction = extension(material, "KHR_materials_ior"))
        ior = file_.number(*refraction, "ior", ior);
    surface.ior = static_cast<float>(ior);
    const bool is_right = ior == 0 || (ior >= 0.1 && ior <= 100);
    if (!is_right)
        scene_.notes.push_back("material \"" + excerpt(file_.text(material, "name")) +
                               "\": its index of refraction is not right; highlights have 1.5");
    // 0 is the extension's word for what reflects all.
    const float head_on = ior == 0 ? 1 : head_on_reflectance(is_right ? ior : 1.5);
    surface.highlight = {head_on, head_on, head_on};
    surface.highlight_edge = 1;
    const Json* const specular = extension(material, "KHR_materials_specular");
    if (specular == nullptr) return;
    const NamedTexture strength = texture_of(*specular, "specularTexture", TexelMeaning::numbers, sets),
                       tint = texture_of(*specular, "specularColorTexture", TexelMeaning::reflectance, sets);
    if (!strength.is_lost()) surface.highlight_edge = share_of(material, *specular, "specularFactor", 1);
    if (!tint.is_lost())
        surface.highlight = surface.highlight * colour_of(*specular, "specularColorFactor", {1, 1, 1});
    surface.textures.highlight = strength.use;
    surface.textures.highlight_tint = tint.use;
}

void GltfMaterials::give_glass(const Json& material, std::size_t sets, SurfaceDescription& surface) {
    const Json* const through = extension(material, "KHR_materials_transmission");
    if (through == nullptr) return;
    surface.transmitted = share_of(material, *through, "transmissionFactor", 0);
    if (surface.transmitted == 0) return; // then a texture makes no difference
    const NamedTexture window = texture_of(*through, "transmissionTexture", TexelMeaning::numbers, sets);
    surface.textures.transmission = window.use;
    if (window.is_lost() || surface.ior == 0) surface.transmitted = 0;
    if (extension(material, "KHR_materials_specular") != nullptr)
        not_shown_.add("KHR_materials_specular of what light passes");
    surface.is_thin = true;
    const Json* const volume = extension(material, "KHR_materials_volume");
    if (volume == nullptr || !(file_.number(*volume, "thicknessFactor", 0) > 0)) return;
    surface.is_thin = false; // how thick it is, triangles say
    if (!volume->contains("attenuationDistance")) return;
    const double distance = file_.number(*volume, "attenuationDistance", 0);
    if (!(distance > 0)) refuse_material(material, "its attenuationDistance is not above 0");
    std::array<double, 3> colour{1, 1, 1};
    file_.numbers(*volume, "attenuationColor", colour);
    constexpr double blackest = 1e-6; // of which a logarithm can be taken
    for (double& part : colour) {
        if (!(part >= 0 && part <= 1))
            refuse_material(material, "its attenuationColor is not between 0 and 1");
        part = -std::log(std::max(part, blackest)) / distance;
        if (!(part <= 1e15)) refuse_material(material, "its attenuationDistance is too small");
    }
    const Float3 absorption = rounded({colour[0], colour[1], colour[2]});
    surface.absorption = {absorption.x, absorption.y, absorption.z};
}

void GltfMaterials::give_coat(const Json& material, std::size_t sets, SurfaceDescription& surface) {
    const Json* const coat = extension(material, "KHR_materials_clearcoat");
    if (coat == nullptr) return;
    surface.coat = share_of(material, *coat, "clearcoatFactor", 0);
    if (surface.coat == 0) return;
    surface.coat_roughness = share_of(material, *coat, "clearcoatRoughnessFactor", 0);
    const NamedTexture strength = texture_of(*coat, "clearcoatTexture", TexelMeaning::numbers, sets),
                       roughness =
                           texture_of(*coat, "clearcoatRoughnessTexture", TexelMeaning::numbers, sets);
    surface.textures.coat = strength.use;
    surface.textures.coat_roughness = roughness.use;
    surface.textures.coat_normal =
        normals_of(material, *coat, "clearcoatNormalTexture", sets, surface.textures.coat_normal_scale);
    if (strength.is_lost() || roughness.is_lost()) surface.coat = 0;
}

void GltfMaterials::give_sheen(const Json& material, std::size_t sets, SurfaceDescription& surface) {
    const Json* const sheen = extension(material, "KHR_materials_sheen");
    if (sheen == nullptr) return;
    const Rgb colour = colour_of(*sheen, "sheenColorFactor", {0, 0, 0});
    for (const float part : {colour.r, colour.g, colour.b})
        if (!(part >= 0 && part <= 1))
            refuse_material(material, "its sheenColorFactor is not between 0 and 1");
    if (is_black(colour)) return;
    surface.sheen_roughness = share_of(material, *sheen, "sheenRoughnessFactor", 0);
    const NamedTexture tint = texture_of(*sheen, "sheenColorTexture", TexelMeaning::reflectance, sets),
                       roughness = texture_of(*sheen, "sheenRoughnessTexture", TexelMeaning::numbers, sets);
    surface.textures.sheen = tint.use;
    surface.textures.sheen_roughness = roughness.use;
    if (!tint.is_lost() && !roughness.is_lost()) surface.sheen = colour;
}

void GltfMaterials::give_emission(const Json& material, std::size_t sets, SurfaceDescription& surface) {
    double strength = 1;
    if (const Json* const emissive = extension(material, "KHR_materials_emissive_strength"))
        strength = file_.number(*emissive, "emissiveStrength", 1);
    std::array<double, 3> emission{0, 0, 0};
    file_.numbers(material, "emissiveFactor", emission);
    if (emission == std::array<double, 3>{0, 0, 0}) return;
    const NamedTexture lamp = texture_of(material, "emissiveTexture", TexelMeaning::radiance, sets);
    surface.textures.emission = lamp.use;
    if (lamp.is_lost()) strength = 0;
    surface.emission = {static_cast<float>(emission[0] * strength),
                        static_cast<float>(emission[1] * strength),
                        static_cast<float>(emission[2] * strength)};
}

std::optional<TextureUse> GltfMaterials::normals_of(const Json& material, const Json& object,
                                                    const char* name, std::size_t sets, float& scale) {
    std::optional<TextureUse> use = texture_of(object, name, TexelMeaning::numbers, sets).use;
    if (!use) return use;
    const double written = file_.number(object[name], "scale", 1);
    if (!(std::abs(written) <= 1000)) refuse_material(material, "the scale of its normals is beyond 1000");
    scale = static_cast<float>(written);
    return use;
}

void GltfMaterials::give_opacity(const Json& material, const NamedTexture& base, bool has_opacity,
                                 SurfaceDescription& surface) {
    const std::string mode = file_.text(material, "alphaMode");
    const float opacity = std::exchange(surface.opacity, 1.0f);
    if (mode.empty() || mode == "OPAQUE") return;
    if (mode != "MASK" && mode != "BLEND") return not_shown_.add("alpha mode " + excerpt(mode));
    if (base.is_lost()) return not_shown_.add("alpha mode " + excerpt(mode));
    if (!(opacity >= 0 && opacity <= 1)) refuse_material(material, "its opacity is not between 0 and 1");
    if (base.use && !scene_.images[base.use->image].is_opaque) surface.textures.opacity = base.use;
    surface.opacity = opacity;
    surface.cutoff = static_cast<float>(file_.number(material, "alphaCutoff", 0.5));
    const bool may_pass = mode == "BLEND" ? opacity < 1 : !(surface.opacity >= surface.cutoff);
    if (!may_pass && !surface.textures.opacity && !has_opacity) return; // opaque all the same
    surface.passing = mode == "BLEND" ? Passing::its_share : Passing::all;
}

} // namespace path_tracer
