// apps/path_tracer/read_mtl.cpp - Wavefront MTL: the materials of an OBJ file. scene.hpp says what they mean
// here.
#include "scene_readers.hpp"
#include "text_lines.hpp"
#include "vector_math.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <utility>

namespace path_tracer {
namespace {

/// A value as it is written. What is wrong with it matters only where it is used.
template <class Value>
struct WrittenValue {
    Value value;
    std::string fault{};
    bool is_given = false;
};

/// A material as it is written.
struct Written {
    std::string name;
    WrittenValue<Rgb> kd{{0.6f, 0.6f, 0.6f}}; // 0.6: what readers take where there is no Kd
    WrittenValue<Rgb> ks{{0, 0, 0}}, ke{{0, 0, 0}}, tf{{1, 1, 1}};
    WrittenValue<float> ni{1.5f}, illum{1}, opacity{1}, transparency{0}, ns{0};
    WrittenValue<float> metal{0}, roughness{0}, sheen{0}, coat{0},
        coat_roughness{0}; // of the later extension
    WrittenValue<Rgb> ka{{0, 0, 0}};
    bool has_ks_map = false, has_tf_map = false, has_metal_map = false, has_roughness_map = false,
         has_sheen_map = false, has_coat_map = false, has_exponent_map = false;
    std::optional<MtlTexture> kd_map, ke_map, d_map, normal_map;
    std::vector<std::string> not_shown;
};

/// What of a material is shown, and how.
class Shown {
public:
    /// `is_of_blender`: it writes numbers of its own surfaces into Ka, Ks and Ns.
    Shown(const Written& written, float albedo, bool is_of_blender) : from_(written) {
        to_.name = written.name;
        to_.not_shown = written.not_shown;
        const float model = used(from_.illum);
        int illum = model >= 0 && model <= 10 ? static_cast<int>(model) : 1; // MTL has these
        // It writes these for what is not opaque: 9 for 2, and 6 for metal.
        if (is_of_blender && !from_.tf.is_given) illum = illum == 9 ? 2 : illum == 6 ? 3 : illum;
        if (is_glass(illum)) {
            const Rgb tint = from_.has_tf_map ? Rgb{1, 1, 1} : used(from_.tf);
            to_.surface.base = is_black(tint) ? Rgb{1, 1, 1} : tint; // "Tf 0 0 0": clear glass
            to_.surface.transmitted = 1;
            to_.surface.ior = used(from_.ni);
            name_textures_of_glass();
        } else {
            show_colour(albedo);
            const bool has_mirror = illum == 3 || illum == 5 || illum == 8;
            if (from_.metal.is_given || from_.roughness.is_given)
                show_physical_values();
            else if (is_of_blender && (illum == 2 || illum == 3))
                show_surface_of_blender(illum == 3);
            else if ((has_mirror || (illum == 2 && !from_.has_exponent_map)) && !from_.has_ks_map)
                show_highlight(has_mirror);
            show_layers();
            show_opacity();
            to_.textures.normal = from_.normal_map;
        }
        show_emission();
        for (const WrittenValue<Rgb>* value : {&from_.ka, &from_.kd, &from_.ks, &from_.ke, &from_.tf})
            note_unused(*value);
        for (const WrittenValue<float>* value :
             {&from_.ni, &from_.opacity, &from_.transparency, &from_.ns, &from_.metal, &from_.roughness,
              &from_.sheen, &from_.coat, &from_.coat_roughness})
            note_unused(*value);
        if (was_brought_in_range_)
            to_.notes.push_back("material \"" + from_.name +
                                "\": a physically based value is not between 0 and 1; it is brought there");
        if (to_.surface.transmitted == 0 && from_.ni.is_given && from_.ni.fault.empty() &&
            !(from_.ni.value >= 0.1f && from_.ni.value <= 100))
            to_.notes.push_back("material \"" + from_.name +
                                "\": its index of refraction is not right, and not used");
    }
    [[nodiscard]] NamedSurface take() { return std::move(to_); }

private:
    template <class Value>
    Value used(const WrittenValue<Value>& value) {
        if (to_.fault.empty()) to_.fault = value.fault;
        return value.value;
    }
    void show_colour(float albedo) {
        if (!from_.kd_map) {
            to_.surface.base = used(from_.kd);
            return;
        }
        to_.surface.base = {albedo, albedo, albedo};
        to_.textures.colour = from_.kd_map;
        if (!from_.kd.is_given) return;
        to_.textures.colour_factor = used(from_.kd);
        if (!is_black(from_.kd.value)) return;
        to_.textures.colour_factor = {1, 1, 1};
        to_.notes.push_back("material \"" + from_.name +
                            "\": Kd is black beside map_Kd; it is taken for white");
    }
    /// A mirror, or a lobe as wide as Phong's.
    ///
    /// Source  Walter et al., "Microfacet models for refraction through rough surfaces", EGSR 2007, for alpha
    void show_highlight(bool is_smooth) {
        to_.surface.mirror = used(from_.ks);
        if (is_smooth || is_black(to_.surface.mirror)) return;
        const float exponent = std::max(used(from_.ns), 0.0f);
        to_.surface.roughness = std::sqrt(std::sqrt(2 / (exponent + 2)));
    }
    /// Its Ks is 0.5 for what reflects 4 % head-on, its Ns goes from 0 to 1000, and Ka of metal says how much
    /// of it is.
    void show_surface_of_blender(bool is_metal) {
        if (is_metal) to_.surface.metallic = from_.ka.is_given ? share(used(from_.ka).r) : 1;
        const Rgb ks = from_.has_ks_map ? Rgb{0, 0, 0} : used(from_.ks);
        if (!is_metal && is_black(ks)) return;
        constexpr float most = 1000;
        to_.surface.roughness =
            from_.has_exponent_map ? 0.5f : 1 - std::sqrt(std::clamp(used(from_.ns), 0.0f, most) / most);
        if (is_black(ks)) return;
        to_.surface.highlight = ks * 0.08f;
        to_.surface.highlight_edge = 1;
    }
    /// Metal, or a clear layer on Lambert.
    void show_physical_values() {
        to_.surface.metallic = from_.has_metal_map ? 0 : share(used(from_.metal));
        const bool has_roughness = from_.roughness.is_given && !from_.has_roughness_map;
        to_.surface.roughness = has_roughness ? share(used(from_.roughness)) : 0.5f;
        const bool is_right = from_.ni.fault.empty() && from_.ni.value >= 1 && from_.ni.value <= 100;
        const float head_on = head_on_reflectance(is_right ? from_.ni.value : 1.5f);
        to_.surface.highlight = {head_on, head_on, head_on};
        to_.surface.highlight_edge = 1;
    }
    void show_layers() {
        if (!from_.has_coat_map) to_.surface.coat = share(used(from_.coat));
        if (to_.surface.coat > 0) to_.surface.coat_roughness = share(used(from_.coat_roughness));
        const float sheen = from_.has_sheen_map ? 0 : share(used(from_.sheen)),
                    roughness_of_sheen = 0.5f; // MTL has none
        to_.surface.sheen = {sheen, sheen, sheen};
        to_.surface.sheen_roughness = roughness_of_sheen;
    }
    float share(float value) {
        was_brought_in_range_ |= !(value >= 0 && value <= 1);
        return std::clamp(value, 0.0f, 1.0f);
    }
    void show_emission() {
        if (!from_.ke_map) {
            to_.surface.emission = used(from_.ke);
            return;
        }
        if (from_.ke.is_given) to_.textures.emission_factor = used(from_.ke);
        if (is_black(to_.textures.emission_factor))
            to_.notes.push_back("material \"" + from_.name +
                                "\": Ke is black beside map_Ke; it does not glow");
        else
            to_.textures.emission = from_.ke_map;
    }
    void show_opacity() {
        const float written = from_.opacity.is_given ? used(from_.opacity) : 1 - used(from_.transparency);
        const float opacity = std::clamp(written, 0.0f, 1.0f);
        to_.textures.opacity = from_.d_map;
        if (from_.d_map) {
            to_.textures.opacity_factor = opacity;
            return;
        }
        to_.surface.opacity = opacity;
        if (opacity < 1) to_.surface.passing = Passing::its_share;
        if (opacity == 0)
            to_.notes.push_back("material \"" + from_.name +
                                "\": it cannot be seen, as d or Tr says; some programs mean the opposite");
    }
    void name_textures_of_glass() {
        if (from_.kd_map) to_.not_shown.emplace_back("textures of glass (map_Kd)");
        if (from_.d_map) to_.not_shown.emplace_back("textures of glass (map_d)");
        if (from_.normal_map) to_.not_shown.emplace_back("textures of glass (norm)");
    }
    template <class Value>
    void note_unused(const WrittenValue<Value>& value) {
        if (!value.fault.empty() && value.fault != to_.fault)
            to_.notes.push_back(value.fault + " (not used)");
    }
    [[nodiscard]] bool is_opaque() const {
        return from_.opacity.is_given ? from_.opacity.value >= 1 || !from_.opacity.fault.empty()
                                      : from_.transparency.value <= 0;
    }
    [[nodiscard]] bool is_glass(int illum) const {
        if (illum == 6 || illum == 7) return true;
        if (illum != 4 && illum != 9) return false;
        // Maya writes illum 4 for everything, with a filter of 1 for what is opaque.
        const Rgb tf = from_.tf.value;
        return !(from_.tf.fault.empty() && tf.r == 1 && tf.g == 1 && tf.b == 1 && is_opaque());
    }

    const Written& from_;
    NamedSurface to_;
    bool was_brought_in_range_ = false;
};

class MtlReader {
public:
    MtlReader(const std::filesystem::path& file, std::string_view text) : file_(file), lines_(text) {}

    std::vector<NamedSurface> run(float albedo, bool is_of_blender) {
        std::vector<Written> materials;
        for (std::string_view rest; lines_.next(rest);) {
            const std::string_view keyword = next_word(rest);
            if (keyword == "newmtl")
                materials.emplace_back().name = trimmed(rest);
            else if (!materials.empty())
                read_line(materials.back(), keyword, without_remark(rest));
        }
        std::vector<NamedSurface> surfaces;
        for (const Written& material : materials)
            surfaces.push_back(Shown(material, albedo, is_of_blender).take());
        return surfaces;
    }

private:
    void read_line(Written& material, std::string_view keyword, std::string_view rest) const {
        std::string key(keyword); // some exporters write all in small letters
        std::transform(key.begin(), key.end(), key.begin(),
                       [](unsigned char letter) { return static_cast<char>(std::tolower(letter)); });
        if (key == "ka")
            material.ka = colour(rest);
        else if (key == "kd")
            material.kd = colour(rest);
        else if (key == "ks")
            material.ks = colour(rest);
        else if (key == "ke")
            material.ke = colour(rest);
        else if (key == "tf")
            material.tf = colour(rest);
        else if (key == "ni")
            material.ni = number(rest);
        else if (key == "ns")
            material.ns = number(rest);
        else if (key == "pr")
            material.roughness = number(rest);
        else if (key == "pm")
            material.metal = number(rest);
        else if (key == "ps")
            material.sheen = number(rest);
        else if (key == "pc")
            material.coat = number(rest);
        else if (key == "pcr")
            material.coat_roughness = number(rest);
        else if (key == "illum")
            material.illum = number(rest);
        else if (key == "d")
            material.opacity = number(rest);
        else if (key == "tr")
            material.transparency = number(rest);
        else if (key.starts_with("map_") || key == "bump" || key == "norm" || key == "disp" ||
                 key == "decal" || key == "refl")
            read_texture(material, key, keyword, rest);
        else if (key == "aniso" || key == "anisor")
            material.not_shown.push_back("physically based values (" + std::string(keyword) + ")");
    }

    static void read_texture(Written& material, std::string_view key, std::string_view keyword,
                             std::string_view rest) {
        const auto texture = [&] { return read_options(material, rest); };
        if (key == "map_kd") {
            material.kd_map = texture();
        } else if (key == "map_ke") {
            material.ke_map = texture();
        } else if (key == "map_d") {
            material.d_map = texture();
        } else if (key == "norm" || key == "map_norm") {
            material.normal_map = texture();
        } else {
            material.has_ks_map |= key == "map_ks";
            material.has_tf_map |= key == "map_tf";
            // Their factors mean nothing without them.
            material.has_metal_map |= key == "map_pm";
            material.has_roughness_map |= key == "map_pr";
            material.has_sheen_map |= key == "map_ps";
            material.has_coat_map |= key == "map_pc" || key == "map_pcr";
            material.has_exponent_map |= key == "map_ns";
            material.not_shown.push_back("textures (" + excerpt(keyword) + ")");
        }
    }

    /// Options begin with a minus, and the rest of the line is the name. v is up in the file, and down in a
    /// picture.
    static MtlTexture read_options(Written& material, std::string_view rest) {
        std::array<double, 2> scale{1, 1}, shift{0, 0};
        bool keeps_edge = false;
        for (;;) {
            std::string_view after = rest;
            const std::string_view option = next_word(after);
            const std::size_t most = option == "-o" || option == "-s" || option == "-t" ? 3
                                     : option == "-mm"                                  ? 2
                                                                                        : 1;
            constexpr std::array<std::string_view, 12> known = {"-o",      "-s",      "-t",      "-mm",
                                                                "-bm",     "-boost",  "-texres", "-clamp",
                                                                "-blendu", "-blendv", "-cc",     "-imfchan"};
            if (std::find(known.begin(), known.end(), option) == known.end()) break;
            std::array<double, 3> numbers{0, 0, 0};
            if (option == "-s") numbers = {1, 1, 1};
            std::string_view word;
            for (std::size_t i = 0; i < most; ++i) {
                std::string_view behind = after;
                word = next_word(behind);
                const std::optional<double> number = to_number<double>(word);
                if (!number && most > 1) break;
                if (number) numbers[i] = *number;
                after = behind;
            }
            if (option == "-o")
                shift = {numbers[0], numbers[1]};
            else if (option == "-s")
                scale = {numbers[0], numbers[1]};
            else if (option == "-clamp")
                keeps_edge = word == "on";
            else if (option != "-texres" && option != "-blendu" && option != "-blendv" && option != "-cc")
                material.not_shown.push_back("options of textures (" + std::string(option) + ")");
            rest = after;
        }
        MtlTexture texture{std::string(trimmed(rest))};
        for (const double number : {scale[0], scale[1], shift[0], shift[1]})
            if (!(std::abs(number) <= farthest_texture_place)) {
                material.not_shown.emplace_back(bad_transform);
                return texture;
            }
        texture.use.transform = {scale[0], 0, shift[0], 0, scale[1], 1 - scale[1] - shift[1]};
        if (keeps_edge) texture.use.wrap_u = texture.use.wrap_v = WRAP_KEEPS_EDGE;
        return texture;
    }

    [[nodiscard]] std::string fault(std::string_view word) const {
        return file_.string() + ": line " + std::to_string(lines_.number()) + ": \"" + excerpt(word) +
               "\" stands where a number belongs; mend the material";
    }
    static std::optional<float> to_value(std::string_view word) {
        const std::optional<float> value = to_number<float>(word);
        return value && std::abs(*value) <= 1e15f ? value : std::nullopt;
    }

    [[nodiscard]] WrittenValue<float> number(std::string_view rest) const {
        std::string_view word = next_word(rest);
        if (word == "-halo") word = next_word(rest);
        const std::optional<float> value = to_value(word);
        if (!value) return {0, fault(word), true};
        return {*value, "", true};
    }

    /// One number is a grey; "spectral file" and "xyz x y z" are not known here.
    [[nodiscard]] WrittenValue<Rgb> colour(std::string_view rest) const {
        std::array<float, 3> values{};
        for (std::size_t i = 0; i < values.size(); ++i) {
            const std::string_view word = next_word(rest);
            if (i == 1 && word.empty()) return {{values[0], values[0], values[0]}, "", true};
            const std::optional<float> value = to_value(word);
            if (!value) return {{0, 0, 0}, fault(word), true};
            values[i] = *value;
        }
        return {{values[0], values[1], values[2]}, "", true};
    }

    const std::filesystem::path& file_;
    TextLines lines_;
};

} // namespace

std::vector<NamedSurface> read_mtl(const std::filesystem::path& file, std::string_view text, float albedo) {
    if (text.find('\0') != std::string_view::npos) refuse_scene(file, "is not text, so it is no MTL file");
    const std::string_view plain = without_byte_order_mark(text);
    return MtlReader(file, plain).run(albedo, plain.starts_with("# Blender"));
}

} // namespace path_tracer
