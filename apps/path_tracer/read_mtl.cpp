// apps/path_tracer/read_mtl.cpp - Wavefront MTL: the materials of an OBJ file. scene.hpp says what they mean
// here.
#include "scene_readers.hpp"
#include "text_lines.hpp"
#include "vector_math.hpp"

#include <cmath>

namespace path_tracer {
namespace {

/// A material as it is written.
struct Written {
    std::string name;
    Rgb kd{0.6f, 0.6f, 0.6f}, ks{0, 0, 0}, ke{0, 0, 0},
        tf{1, 1, 1}; // 0.6: what readers take where there is no Kd
    float ni = 1.5f;
    int illum = 1;
};

SurfaceDescription to_surface(const Written& written) {
    SurfaceDescription surface;
    surface.diffuse = written.kd;
    surface.emission = written.ke;
    surface.ior = written.ni;
    switch (written.illum) {
    case 3:
    case 5:
    case 8:
        surface.mirror = written.ks;
        break;
    case 4:
    case 6:
    case 7:
    case 9:
        surface.glass =
            is_black(written.tf) ? Rgb{1, 1, 1} : written.tf; // exporters write "Tf 0 0 0" for clear glass
        surface.diffuse = {0, 0, 0};
        break;
    default:
        break;
    }
    return surface;
}

class MtlReader {
public:
    MtlReader(const std::filesystem::path& file, std::string_view text, std::vector<std::string>& notes)
        : file_(file), lines_(text), notes_(notes) {}

    std::vector<NamedSurface> run() {
        std::vector<Written> materials;
        for (std::string_view rest; lines_.next(rest);) {
            const std::string_view keyword = next_word(rest);
            if (keyword == "newmtl") {
                materials.emplace_back().name = trimmed(rest);
                continue;
            }
            if (keyword.substr(0, 4) == "map_") has_textures_ = true;
            if (materials.empty()) continue;
            Written& material = materials.back();
            if (keyword == "Kd")
                material.kd = colour(rest);
            else if (keyword == "Ks")
                material.ks = colour(rest);
            else if (keyword == "Ke")
                material.ke = colour(rest);
            else if (keyword == "Tf")
                material.tf = colour(rest);
            else if (keyword == "Ni")
                material.ni = number(next_word(rest));
            else if (keyword == "illum")
                material.illum = static_cast<int>(number(next_word(rest)));
        }
        if (has_textures_) notes_.push_back(file_.string() + ": textures are not shown");
        std::vector<NamedSurface> surfaces;
        for (const Written& material : materials) surfaces.push_back({material.name, to_surface(material)});
        return surfaces;
    }

private:
    float number(std::string_view word) const {
        const std::optional<float> value = to_number<float>(word);
        if (!value || !(std::abs(*value) <= 1e15f))
            refuse_scene(file_, "line " + std::to_string(lines_.number()) + ": \"" + excerpt(word) +
                                    "\" stands where a number belongs; mend the material");
        return *value;
    }

    /// One number is a grey; "spectral file" and "xyz x y z" are not known here.
    Rgb colour(std::string_view rest) const {
        const float r = number(next_word(rest));
        const std::string_view second = next_word(rest);
        if (second.empty()) return {r, r, r};
        const float g = number(second);
        return {r, g, number(next_word(rest))};
    }

    const std::filesystem::path& file_;
    TextLines lines_;
    std::vector<std::string>& notes_;
    bool has_textures_ = false;
};

} // namespace

std::vector<NamedSurface> read_mtl(const std::filesystem::path& file, std::string_view text,
                                   std::vector<std::string>& notes) {
    if (text.find('\0') != std::string_view::npos) refuse_scene(file, "is not text, so it is no MTL file");
    return MtlReader(file, text, notes).run();
}

} // namespace path_tracer
