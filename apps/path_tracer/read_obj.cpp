// apps/path_tracer/read_obj.cpp - Wavefront OBJ: vertices, polygons, and which material is whose.
#include "scene_readers.hpp"
#include "text_lines.hpp"

#include <array>
#include <cmath>
#include <cstdint>
#include <map>

namespace path_tracer {
namespace {

class ObjReader {
public:
    ObjReader(const std::filesystem::path& file, std::string_view text, float albedo)
        : file_(file), lines_(text), albedo_(albedo) {}

    Scene run() {
        for (std::string_view line; lines_.next(line);) read_line(line);
        if (face_ends_.empty()) refuse_scene(file_, "has no triangles; export meshes, not points or curves");
        for (std::size_t of = 0; of < 3; ++of)
            if (largest_[of] > count_[of])
                refuse_scene(file_, "line " + std::to_string(largest_line_[of]) + ": a face names " +
                                        names[of] + ' ' + std::to_string(largest_[of]) + " of " +
                                        std::to_string(count_[of]) + "; export the mesh again");
        std::vector<Point> corners;
        std::size_t begin = 0;
        for (std::size_t face = 0; face < face_ends_.size(); ++face) {
            corners.clear();
            for (; begin < face_ends_[face]; ++begin) corners.push_back(vertices_[corners_[begin]]);
            add_polygon(scene_, corners, face_materials_[face]);
        }
        return std::move(scene_);
    }

private:
    static constexpr std::array<const char*, 3> names = {"vertex", "texture coordinate", "normal"};

    [[noreturn]] void refuse(const std::string& what) const {
        refuse_scene(file_, "line " + std::to_string(lines_.number()) + ": " + what);
    }

    void read_line(std::string_view rest) {
        const std::string_view keyword = next_word(rest);
        if (keyword == "v")
            read_vertex(rest);
        else if (keyword == "vt")
            ++count_[1];
        else if (keyword == "vn")
            ++count_[2];
        else if (keyword == "f")
            read_face(rest);
        else if (keyword == "usemtl")
            use_material(trimmed(rest));
        else if (keyword == "mtllib")
            read_materials(rest);
    }

    void read_vertex(std::string_view rest) {
        ++count_[0];
        std::array<double, 3> xyz;
        for (double& coordinate : xyz) {
            const std::string_view word = next_word(rest);
            const std::optional<double> number = to_number<double>(word);
            if (!number) refuse("a vertex needs three numbers, not \"" + excerpt(word) + '"');
            if (!(std::abs(*number) <= farthest_coordinate))
                refuse("the vertex coordinate " + excerpt(word) +
                       " is not finite or too large; export the mesh again");
            coordinate = *number;
        }
        vertices_.push_back({xyz[0], xyz[1], xyz[2]});
    }

    void read_face(std::string_view rest) {
        int corners = 0;
        for (std::string_view word = next_word(rest); !word.empty(); word = next_word(rest), ++corners)
            for (std::size_t of = 0; of < 3; ++of) {
                const auto slash = std::min(word.find('/'), word.size());
                if (slash > 0 || of == 0) read_index(word.substr(0, slash), of);
                if (slash == word.size()) break;
                word.remove_prefix(slash + 1);
            }
        if (corners < 3) refuse("a face needs at least three vertices");
        face_ends_.push_back(corners_.size());
        if (!material_) material_ = add_material(scene_, file_, "", grey(albedo_));
        face_materials_.push_back(*material_);
    }

    /// Counts from 1, or with a minus back from the last one so far. Vertices may come later in the file.
    void read_index(std::string_view word, std::size_t of) {
        const std::optional<std::int64_t> index = to_number<std::int64_t>(word);
        const std::string what = std::string("a face names ") + names[of] + ' ';
        if (!index) refuse("a face needs indices, not \"" + excerpt(word) + '"');
        if (*index == 0) refuse(what + "0, but OBJ counts from 1; export the mesh again");
        if (*index < -count_[of])
            refuse(what + excerpt(word) + " of " + std::to_string(count_[of]) + "; export the mesh again");
        if (*index > largest_[of]) {
            largest_[of] = *index;
            largest_line_[of] = lines_.number();
        }
        if (of == 0)
            corners_.push_back(static_cast<std::size_t>(*index > 0 ? *index - 1 : count_[0] + *index));
    }

    void use_material(std::string_view name) {
        const auto known = materials_.find(name);
        if (known != materials_.end()) {
            material_ = known->second;
            return;
        }
        scene_.notes.push_back("material \"" + excerpt(name) +
                               "\" is in no MTL file; --albedo stands in for it");
        material_ = add_material(scene_, file_, std::string(name), grey(albedo_));
        materials_.emplace(name, *material_);
    }

    void read_materials(std::string_view rest) {
        const std::filesystem::path file = file_.parent_path() / trimmed(rest); // one name, spaces and all
        std::error_code ignored;
        if (!std::filesystem::is_regular_file(file, ignored)) {
            scene_.notes.push_back("there is no " + file.string() + "; --albedo stands in for its materials");
            return;
        }
        for (const NamedSurface& material : read_mtl(file, read_file(file), scene_.notes))
            materials_[material.name] = add_material(scene_, file, material.name, material.surface);
    }

    const std::filesystem::path& file_;
    TextLines lines_;
    float albedo_;
    Scene scene_;
    std::vector<Point> vertices_;
    std::vector<std::size_t> corners_, face_ends_; ///< of all faces, one after the other
    std::vector<uint32_t> face_materials_;
    std::map<std::string, uint32_t, std::less<>> materials_;
    std::optional<uint32_t> material_; ///< none: nothing has been said yet
    std::array<std::int64_t, 3> count_{}, largest_{}, largest_line_{};
};

} // namespace

Scene read_obj(const std::filesystem::path& file, std::string_view text, float albedo) {
    if (text.find('\0') != std::string_view::npos) refuse_scene(file, "is not text, so it is no OBJ file");
    return ObjReader(file, text, albedo).run();
}

} // namespace path_tracer
