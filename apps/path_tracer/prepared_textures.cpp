// apps/path_tracer/prepared_textures.cpp - see prepared_textures.hpp.
#include "prepared_textures.hpp"
#include "path.hpp"
#include <headrace/core/error.hpp>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>

namespace path_tracer {
namespace {

/// Where the levels of a picture are.
struct Levels {
    uint32_t first, count;
};

void append_level(const TextureImage& level, PreparedScene& prepared) {
    if (prepared.texels.size() + level.texels.size() > std::numeric_limits<uint32_t>::max())
        throw headrace::Error{headrace::ErrorKind::invalid_argument,
                              "the scene's textures have more than 4294967295 texels; make them smaller"};
    prepared.texture_levels.push_back(
        {static_cast<uint32_t>(prepared.texels.size()), level.width, level.height, 0});
    prepared.texels.insert(prepared.texels.end(), level.texels.begin(), level.texels.end());
}

class TextureArrays {
public:
    TextureArrays(const Scene& scene, PreparedScene& prepared) : scene_(scene), prepared_(prepared) {
        std::vector<bool> has_holes(scene.images.size());
        for (const SurfaceDescription& surface : scene.materials)
            if (surface.textures.opacity) has_holes[surface.textures.opacity->image] = true;
        for (std::size_t i = 0; i < scene.images.size(); ++i)
            images_.push_back(add_levels(scene.images[i], has_holes[i]));
    }

    /// The place of a use; nothing: PATH_TRACER_NONE.
    uint32_t place_of(const std::optional<TextureUse>& use) {
        if (!use) return PATH_TRACER_NONE;
        const TextureImage& image = scene_.images[use->image];
        const auto& m = use->transform;
        Texture texture{};
        texture.u_from_u = static_cast<float>(m[0]);
        texture.u_from_v = static_cast<float>(m[1]);
        texture.u_shift = static_cast<float>(m[2]);
        texture.v_from_u = static_cast<float>(m[3]);
        texture.v_from_v = static_cast<float>(m[4]);
        texture.v_shift = static_cast<float>(m[5]);
        texture.texels = static_cast<float>(std::abs(m[0] * m[4] - m[1] * m[3]) *
                                            static_cast<double>(image.texels.size()));
        texture.square_levels = static_cast<float>(std::bit_width(std::min(image.width, image.height)) - 1);
        texture.level = images_[use->image].first;
        texture.levels = images_[use->image].count;
        texture.wrap_u = use->wrap_u;
        texture.wrap_v = use->wrap_v;
        texture.set = use->set;
        texture.is_pixelated = use->is_pixelated ? 1 : 0;
        prepared_.textures.push_back(texture);
        return static_cast<uint32_t>(prepared_.textures.size() - 1);
    }

private:
    /// `has_holes`: what is not opaque is not seen, nor is its colour.
    Levels add_levels(const TextureImage& image, bool has_holes) {
        Levels levels{static_cast<uint32_t>(prepared_.texture_levels.size()), 0};
        const auto add = [&](const TextureImage& level) {
            append_level(level, prepared_);
            ++levels.count;
        };
        add(image);
        TextureImage smaller;
        for (const TextureImage* level = &image; level->texels.size() > 1; level = &smaller) {
            smaller = halved(*level, has_holes);
            add(smaller);
        }
        return levels;
    }

    const Scene& scene_;
    PreparedScene& prepared_;
    std::vector<Levels> images_;
};

SurfaceTextures surface_textures(const SurfaceDescription& surface, TextureArrays& arrays) {
    const SurfaceTextureUses& uses = surface.textures;
    SurfaceTextures result{};
    result.colour = arrays.place_of(uses.colour);
    result.metal = arrays.place_of(uses.metal);
    result.transmission = arrays.place_of(uses.transmission);
    result.emission = arrays.place_of(uses.emission);
    result.normal = arrays.place_of(uses.normal);
    result.opacity = arrays.place_of(uses.opacity);
    result.highlight = arrays.place_of(uses.highlight);
    result.highlight_tint = arrays.place_of(uses.highlight_tint);
    result.coat = arrays.place_of(uses.coat);
    result.coat_roughness = arrays.place_of(uses.coat_roughness);
    result.coat_normal = arrays.place_of(uses.coat_normal);
    result.sheen = arrays.place_of(uses.sheen);
    result.sheen_roughness = arrays.place_of(uses.sheen_roughness);
    result.normal_scale = uses.normal_scale;
    result.coat_normal_scale = uses.coat_normal_scale;
    result.opaque = surface.opacity;
    result.cutoff = cutoff_of(surface);
    return result;
}

/// One for each triangle, and behind them those of other sets.
void prepare_places(const Scene& scene, const std::vector<std::size_t>& places, PreparedScene& prepared) {
    std::vector<CornerPlaces> others;
    for (const std::size_t place : places) {
        const SceneTriangle& triangle = scene.triangles[place];
        CornerPlaces first{{0, 0}, {0, 0}, {0, 0}, PATH_TRACER_NONE, 0};
        uint32_t sets = 0;
        for (const auto* use : scene.materials[triangle.material].textures.all())
            if (*use) sets = std::max(sets, (*use)->set + 1);
        if (sets > 0 && triangle.places == SceneTriangle::none)
            throw headrace::Error{headrace::ErrorKind::internal,
                                  "a triangle with a texture and no place in it"};
        CornerPlaces* last = &first;
        for (uint32_t set = 0; set < sets; ++set) {
            const auto& [a, b, c] = scene.places[triangle.places + set];
            if (set > 0) {
                last->other = static_cast<uint32_t>(places.size() + others.size());
                last = &others.emplace_back();
            }
            *last = {a, b, c, PATH_TRACER_NONE, 0};
        }
        prepared.corner_places.push_back(first);
    }
    prepared.corner_places.insert(prepared.corner_places.end(), others.begin(), others.end());
}

} // namespace

float cutoff_of(const SurfaceDescription& surface) {
    switch (surface.passing) {
    case Passing::nothing:
        return -1;
    case Passing::its_share:
        return 0;
    case Passing::all:
        break;
    }
    return surface.cutoff > 0 ? surface.cutoff : -1; // no opacity is below 0
}

void prepare_textures(const Scene& scene, const std::vector<std::size_t>& places, PreparedScene& prepared) {
    TextureArrays arrays(scene, prepared);
    for (std::size_t i = 0; i < scene.materials.size(); ++i) {
        const SurfaceDescription& surface = scene.materials[i];
        if (!surface.textures.any() && surface.passing == Passing::nothing) continue;
        prepared.materials[i].textures = static_cast<uint32_t>(prepared.surface_textures.size());
        prepared.surface_textures.push_back(surface_textures(surface, arrays));
    }
    if (!prepared.surface_textures.empty()) prepare_places(scene, places, prepared);
    const auto fill = [](auto& array) {
        if (array.empty()) array.resize(1);
    };
    fill(prepared.corner_places);
    fill(prepared.surface_textures);
    fill(prepared.textures);
    fill(prepared.texture_levels);
    fill(prepared.texels);
}

uint32_t add_texture(const TextureImage& image, PreparedScene& prepared) {
    Texture texture{};
    texture.level = static_cast<uint32_t>(prepared.texture_levels.size());
    texture.levels = 1;
    texture.wrap_u = WRAP_REPEATS;
    texture.wrap_v = WRAP_KEEPS_EDGE;
    append_level(image, prepared);
    prepared.textures.push_back(texture);
    return static_cast<uint32_t>(prepared.textures.size() - 1);
}

namespace {

double luminance_of(const TextureImage& image, std::size_t texel) {
    return double{luminance(texel_value(image.texels[texel]).colour)};
}

double luminance_at(const TextureImage& image, const TextureUse& use, double u, double v) {
    const auto& m = use.transform;
    const auto texel = [](double place, Wrap wrap, uint32_t count) {
        const double in_texels = double{wrapped(static_cast<float>(place), wrap)} * count;
        return std::min(static_cast<uint32_t>(in_texels), count - 1);
    };
    const uint32_t column = texel(m[0] * u + m[1] * v + m[2], use.wrap_u, image.width),
                   row = texel(m[3] * u + m[4] * v + m[5], use.wrap_v, image.height);
    return luminance_of(image, std::size_t{row} * image.width + column);
}

} // namespace

double EmissionMeans::of_image(uint32_t image) {
    double& mean = of_images_[image];
    if (mean != unknown) return mean;
    const TextureImage& picture = scene_.images[image];
    double sum = 0;
    for (std::size_t i = 0; i < picture.texels.size(); ++i) sum += luminance_of(picture, i);
    return mean = sum / static_cast<double>(picture.texels.size());
}

double EmissionMeans::of(const SceneTriangle& triangle) {
    const SurfaceDescription& surface = scene_.materials[triangle.material];
    const double factor = double{luminance(surface.emission)};
    const std::optional<TextureUse>& use = surface.textures.emission;
    if (!use || !(factor > 0)) return factor;
    constexpr double all_of_picture = 0.1; // the share of what no place may have shown
    const TextureImage& image = scene_.images[use->image];
    const auto& [a, b, c] = scene_.places[triangle.places + use->set];
    constexpr int steps = 16; // along each edge
    double sum = 0;
    int places = 0;
    for (int i = 0; i < steps; ++i)
        for (int j = 0; i + j < steps; ++j, ++places) {
            const double of_b = (i + 1.0 / 3) / steps, of_c = (j + 1.0 / 3) / steps, of_a = 1 - of_b - of_c;
            sum += luminance_at(image, *use, of_a * a.u + of_b * b.u + of_c * c.u,
                                of_a * a.v + of_b * b.v + of_c * c.v);
        }
    return factor * ((1 - all_of_picture) * sum / places + all_of_picture * of_image(use->image));
}

} // namespace path_tracer
