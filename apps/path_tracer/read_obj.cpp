// apps/path_tracer/read_obj.cpp - Wavefront OBJ: vertices, polygons, and which material is whose.
#include "corner_shading.hpp"
#include "scene_readers.hpp"
#include "text_lines.hpp"
#include "vector_math.hpp"
#include <headrace/core/error.hpp>

#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <map>
#include <set>
#include <unordered_map>
#include <utility>

namespace path_tracer {
namespace {

class ObjReader {
public:
    ObjReader(const SceneFiles& files, std::string_view text, float albedo)
        : files_(files), file_(files.scene()), lines_(text), albedo_(albedo) {}

    Scene run() {
        for (std::string_view line; lines_.next(line);) read_line(line);
        if (face_ends_.empty())
            refuse_scene(file_, short_face_.empty() ? "has no triangles; export meshes, not points or curves"
                                                    : "has no triangles; " + short_face_);
        if (!short_face_.empty()) scene_.notes.push_back(short_face_ + "; it is left out");
        for (const std::size_t of : {texture_coordinate, normal})
            if (largest_[of] > count_[of] && unused_fault_[of].empty())
                unused_fault_[of] = names_more_than_there_are(of);
        for (const std::string& fault : unused_fault_)
            if (!fault.empty()) scene_.notes.push_back(fault + "; it is not used");
        if (largest_[vertex] > count_[vertex])
            refuse_scene(file_, names_more_than_there_are(vertex) + "; export the mesh again");
        std::vector<Point> corners, normals;
        std::vector<CornerColour> colours;
        std::vector<TexturePoint> places;
        std::size_t begin = 0;
        for (std::size_t face = 0; face < face_ends_.size(); ++face) {
            corners.clear();
            normals.clear();
            colours.clear();
            places.clear();
            const std::size_t first = begin;
            bool has_places = true;
            for (; begin < face_ends_[face]; ++begin) {
                corners.push_back(vertex_at(corners_[begin]));
                if (const auto own = colour_at(corners_[begin])) colours.push_back({*own});
                if (const auto own = normal_at(corner_normals_[begin])) normals.push_back(*own);
                has_places = has_places && corner_places_[begin] < places_.size();
            }
            if (normals.size() < corners.size()) normals.clear();
            if (colours.size() < corners.size()) colours.clear();
            const uint32_t material = material_at(face_materials_[face], !colours.empty(), has_places);
            if (scene_.materials[material].textures.any())
                for (std::size_t corner = first; corner < begin; ++corner)
                    places.push_back(place_at(corner_places_[corner]));
            add_polygon(scene_, {corners, normals, colours, places}, material);
        }
        for (const auto& [name, material] : materials_)
            if (!material.indices[0] && !material.indices[1]) note_fault_of_unused(material.named);
        not_shown_.report_to(scene_);
        return std::move(scene_);
    }

private:
    static constexpr std::size_t vertex = 0, texture_coordinate = 1, normal = 2;
    static constexpr std::size_t not_named = std::numeric_limits<std::size_t>::max();
    static constexpr std::array<const char*, 3> names = {"vertex", "texture coordinate", "normal"};

    struct Material {
        NamedSurface named;
        std::filesystem::path file;
        /// In the scene, once something is made of it: without textures, and with.
        std::array<std::optional<uint32_t>, 2> indices{};
    };

    [[nodiscard]] std::string line() const { return "line " + std::to_string(lines_.number()) + ": "; }
    [[noreturn]] void refuse(const std::string& what) const { refuse_scene(file_, line() + what); }
    [[nodiscard]] std::string names_more_than_there_are(std::size_t of) const {
        return "line " + std::to_string(largest_line_[of]) + ": a face names " + names[of] + ' ' +
               std::to_string(largest_[of]) + " of " + std::to_string(count_[of]);
    }

    void read_line(std::string_view rest) {
        const std::string_view keyword = next_word(rest);
        if (keyword == "v")
            read_vertex(without_remark(rest));
        else if (keyword == "vt")
            read_place(without_remark(rest));
        else if (keyword == "vn")
            read_normal(without_remark(rest));
        else if (keyword == "f" || keyword == "fo") // fo: what f was called once
            read_face(without_remark(rest));
        else if (keyword == "usemtl")
            use_material(rest);
        else if (keyword == "mtllib")
            read_materials(rest);
        else if (keyword == "p" || keyword == "l")
            not_shown_.add("points and lines");
        else if (keyword == "curv" || keyword == "curv2" || keyword == "surf")
            not_shown_.add("free-form curves and surfaces");
        else if (keyword == "map_lib" || keyword == "maplib" || keyword == "usemap")
            not_shown_.add("textures");
        else if (keyword == "call")
            not_shown_.add("other OBJ files (call)");
    }

    void read_vertex(std::string_view rest) {
        ++count_[vertex];
        std::array<double, 3> xyz{};
        std::string fault;
        for (double& coordinate : xyz) {
            const std::string_view word = next_word(rest);
            const std::optional<double> number = to_number<double>(word);
            if (!number)
                fault = "a vertex needs three numbers, not \"" + excerpt(word) + '"';
            else if (!(std::abs(*number) <= farthest_coordinate))
                fault = "the vertex coordinate " + excerpt(word) +
                        " is not finite or too large; export the mesh again";
            else
                coordinate = *number;
            if (!fault.empty()) break;
        }
        if (fault.empty()) fault = read_rest_of_vertex(rest);
        if (!fault.empty()) vertex_faults_.emplace(vertices_.size(), line() + fault);
        vertices_.push_back({xyz[0], xyz[1], xyz[2]});
    }

    /// What is no number makes it no direction.
    void read_normal(std::string_view rest) {
        ++count_[normal];
        std::array<double, 3> xyz{};
        for (double& coordinate : xyz)
            coordinate =
                to_number<double>(next_word(rest)).value_or(std::numeric_limits<double>::quiet_NaN());
        normals_.push_back({xyz[0], xyz[1], xyz[2]});
    }

    /// v is up in the file, and down in a picture.
    void read_place(std::string_view rest) {
        ++count_[texture_coordinate];
        constexpr double nowhere = std::numeric_limits<double>::quiet_NaN();
        const double u = to_number<double>(next_word(rest)).value_or(nowhere);
        const std::string_view second = next_word(rest); // none: a picture that is a line
        const double v = second.empty() ? 0 : to_number<double>(second).value_or(nowhere);
        places_.push_back(texture_point(u, 1 - v));
    }

    /// A weight or a colour behind x, y and z, or both, which is not shown: where the colour is then, files
    /// do not agree upon. Returns what is wrong.
    std::string read_rest_of_vertex(std::string_view rest) {
        std::size_t numbers = 3;
        std::array<double, 3> colour{};
        for (std::string_view word = next_word(rest); !word.empty(); word = next_word(rest), ++numbers) {
            const std::optional<double> number = to_number<double>(word);
            if (!number) return "a vertex has \"" + excerpt(word) + "\" where a number belongs";
            if (numbers < 6) colour[numbers - 3] = *number;
            if (numbers == 3 && trimmed(rest).empty() && *number != 1) not_shown_.add("weights of vertices");
        }
        if (numbers == 5 || numbers > 8) return "a vertex has " + std::to_string(numbers) + " numbers";
        if (numbers > 6) not_shown_.add("vertex colours behind a weight");
        if (numbers != 6) return {};
        const auto linear = linear_colour(colour);
        if (!linear) not_shown_.add(bad_colours);
        if (linear) colours_.emplace(vertices_.size(), *linear);
        return {};
    }

    void read_face(std::string_view rest) {
        const std::size_t begin = corners_.size();
        for (std::string_view word = next_word(rest); !word.empty(); word = next_word(rest)) {
            corner_normals_.push_back(not_named);
            corner_places_.push_back(not_named);
            for (std::size_t of = 0; of < 3; ++of) {
                const auto slash = std::min(word.find('/'), word.size());
                if (of == vertex)
                    read_vertex_index(word.substr(0, slash));
                else if (slash > 0)
                    read_other_index(word.substr(0, slash), of);
                if (slash == word.size()) break;
                word.remove_prefix(slash + 1);
            }
        }
        if (corners_.size() < begin + 3) {
            if (short_face_.empty()) short_face_ = line() + "a face needs at least three vertices";
            corners_.resize(begin);
            corner_normals_.resize(begin);
            corner_places_.resize(begin);
            return;
        }
        face_ends_.push_back(corners_.size());
        face_materials_.push_back(current_);
    }

    void remember(std::int64_t index, std::size_t of) {
        if (index <= largest_[of]) return;
        largest_[of] = index;
        largest_line_[of] = lines_.number();
    }

    /// Counts from 1, or with a minus back from the last one so far. Vertices may come later in the file.
    void read_vertex_index(std::string_view word) {
        const std::optional<std::int64_t> index = to_number<std::int64_t>(word);
        if (!index) refuse("a face needs indices, not \"" + excerpt(word) + '"');
        if (*index == 0) refuse("a face names vertex 0, but OBJ counts from 1; export the mesh again");
        if (*index < -count_[vertex])
            refuse("a face names vertex " + excerpt(word) + " of " + std::to_string(count_[vertex]) +
                   "; export the mesh again");
        remember(*index, vertex);
        corners_.push_back(static_cast<std::size_t>(*index > 0 ? *index - 1 : count_[vertex] + *index));
    }

    /// Without a texture or with a flat face there is a picture all the same, so a wrong index is left out.
    void read_other_index(std::string_view word, std::size_t of) {
        const std::optional<std::int64_t> index = to_number<std::int64_t>(word);
        if (index && *index > 0) {
            remember(*index, of);
        } else if (!index || *index == 0 || *index < -count_[of]) {
            if (unused_fault_[of].empty())
                unused_fault_[of] = line() + "a face names " + names[of] + " \"" + excerpt(word) + '"';
            return;
        }
        (of == normal ? corner_normals_ : corner_places_).back() =
            static_cast<std::size_t>(*index > 0 ? *index - 1 : count_[of] + *index);
    }

    [[nodiscard]] std::optional<Rgb> colour_at(std::size_t of) const {
        const auto found = colours_.find(of);
        return found == colours_.end() ? std::nullopt : std::optional(found->second);
    }

    /// Of a face with a texture.
    [[nodiscard]] TexturePoint place_at(std::size_t index) {
        if (!places_[index]) not_shown_.add(bad_places);
        return places_[index].value_or(TexturePoint{0, 0});
    }

    [[nodiscard]] std::optional<Point> normal_at(std::size_t index) {
        if (index >= normals_.size()) return std::nullopt; // none, or one that is not there
        if (!is_direction(normals_[index])) not_shown_.add(bad_normals);
        return normals_[index];
    }

    [[nodiscard]] Point vertex_at(std::size_t index) const {
        if (!vertex_faults_.empty()) {
            const auto fault = vertex_faults_.find(index);
            if (fault != vertex_faults_.end()) refuse_scene(file_, fault->second);
        }
        return vertices_[index];
    }

    void use_material(std::string_view rest) {
        const auto [place, is_new] = used_names_.emplace(std::string(trimmed(rest)), used_.size());
        if (is_new) used_.push_back({place->first, {}});
        current_ = place->second;
    }

    /// `has_places`: the face has places in textures.
    uint32_t material_at(std::optional<std::size_t> used, bool has_colours, bool has_places) {
        if (!used) {
            std::optional<uint32_t>& unnamed = has_colours ? coloured_ : unnamed_;
            if (!unnamed) unnamed = add_material(scene_, file_, "", grey(has_colours ? 1 : albedo_));
            return *unnamed;
        }
        auto& [name, indices] = used_[*used];
        std::optional<uint32_t>& index = indices[has_places ? 1 : 0];
        if (!index) index = make_material(name, has_places);
        return *index;
    }

    uint32_t make_material(const std::string& name, bool has_places) {
        Material* const material = find_material(name);
        if (material == nullptr) {
            if (missing_.insert(name).second)
                scene_.notes.push_back("material \"" + excerpt(name) +
                                       "\" is in no MTL file; --albedo stands in for it");
            return add_material(scene_, file_, name, grey(albedo_));
        }
        const NamedSurface& named = material->named;
        const MtlTextures& textures = named.textures;
        const bool has_textures = textures.colour || textures.emission || textures.opacity || textures.normal;
        auto& [without, with] = material->indices;
        std::optional<uint32_t>& index = has_textures && has_places ? with : without;
        if (index) return *index;
        if (!named.fault.empty()) throw headrace::Error{headrace::ErrorKind::invalid_argument, named.fault};
        if (!without && !with) {
            for (const std::string& note : named.notes) scene_.notes.push_back(note);
            for (const std::string& what : named.not_shown) not_shown_.add(what);
        }
        if (has_textures && !has_places) name_textures(textures);
        const SurfaceDescription surface =
            has_textures && has_places ? with_textures(named, material->file) : named.surface;
        index = add_material(scene_, material->file, named.name, surface);
        return *index;
    }

    /// Of faces without places in them.
    void name_textures(const MtlTextures& textures) {
        constexpr const char* why = "of faces without texture coordinates";
        if (textures.colour)
            not_shown_.add(std::string("textures (map_Kd, ") + why + "; --albedo stands in)");
        if (textures.emission) not_shown_.add(std::string("textures (map_Ke, ") + why + ')');
        if (textures.opacity) not_shown_.add(std::string("textures (map_d, ") + why + ')');
        if (textures.normal) not_shown_.add(std::string("textures (norm, ") + why + ')');
    }

    SurfaceDescription with_textures(const NamedSurface& named, const std::filesystem::path& mtl) {
        const MtlTextures& from = named.textures;
        SurfaceDescription surface = named.surface;
        const auto use_of = [&](const std::optional<MtlTexture>& texture, TexelMeaning meaning,
                                const char* what) {
            std::optional<TextureUse> use;
            if (!texture) return use;
            const ReadImage image = image_of(*texture, mtl, meaning);
            if (!image.place) {
                not_shown_.add(std::string("textures (") + what + ", " + image.fault + ')');
                return use;
            }
            use = texture->use;
            use->image = *image.place;
            return use;
        };
        SurfaceTextureUses& to = surface.textures;
        to.colour = use_of(from.colour, TexelMeaning::reflectance, "map_Kd; --albedo stands in");
        if (to.colour) surface.base = from.colour_factor;
        to.emission = use_of(from.emission, TexelMeaning::radiance, "map_Ke");
        if (to.emission) surface.emission = from.emission_factor;
        to.normal = use_of(from.normal, TexelMeaning::numbers, "norm");
        // One picture for both has its opacity beside its colours.
        const bool is_colour = from.colour && from.opacity && from.colour->name == from.opacity->name;
        to.opacity =
            use_of(from.opacity, is_colour ? TexelMeaning::reflectance : TexelMeaning::opacity, "map_d");
        if (!to.opacity) return surface;
        surface.opacity = from.opacity_factor;
        if (scene_.images[to.opacity->image].is_opaque) to.opacity.reset();
        if (to.opacity || surface.opacity < 1) surface.passing = Passing::its_share;
        return surface;
    }

    /// Names are relative to the MTL file; some exporters mean the OBJ file. Read once for each meaning.
    ReadImage image_of(const MtlTexture& texture, const std::filesystem::path& mtl, TexelMeaning meaning) {
        const std::filesystem::path folder = mtl.parent_path().lexically_relative(file_.parent_path());
        std::string found;
        for (const std::string_view name : possible_names(texture.name))
            for (const std::string& place : {(folder / name).string(), std::string(name)})
                if (found.empty() && !name.empty() && files_.exists(place)) found = place;
        if (found.empty()) {
            const std::string_view name = possible_names(texture.name).back();
            if (!name.empty()) files_.expect_inside((folder / name).string());
            return {std::nullopt, '"' + excerpt(texture.name) + "\" is not there"};
        }
        const auto [known, is_new] = images_.try_emplace(std::pair(found, meaning));
        if (is_new) known->second = add_image(scene_, files_, found, meaning);
        return known->second;
    }

    Material* find_material(std::string_view used) {
        for (const std::string_view name : possible_names(used)) {
            const auto found = materials_.find(name);
            if (found != materials_.end()) return &found->second;
        }
        for (const std::string_view name : possible_names(used)) {
            const auto other = other_names_.find(name);
            if (other != other_names_.end()) return &materials_.at(other->second);
        }
        return nullptr;
    }

    void note_fault_of_unused(const NamedSurface& named) {
        const std::string fault = !named.fault.empty() ? named.fault
                                                       : "material \"" + excerpt(named.name) +
                                                             "\": " + fault_of(named.surface).value_or("");
        if (!named.fault.empty() || fault_of(named.surface))
            scene_.notes.push_back(fault + " (it is not used)");
    }

    /// One name with white space within, or several. Only the files that are there can say which.
    void read_materials(std::string_view rest) {
        const std::string_view whole = trimmed(rest);
        if (possible_names(rest).back().empty()) {
            scene_.notes.push_back(line() + "mtllib names no file");
            return;
        }
        for (const std::string_view name : possible_names(rest))
            if (files_.exists(name)) return read_materials_of(name);
        bool found = false;
        std::vector<std::string_view> missing;
        for (std::string_view left = whole; !left.empty() && left.front() != '#'; left = trimmed(left)) {
            const std::string_view name = cut_file_name(left);
            if (files_.exists(name)) {
                read_materials_of(name);
                found = true;
            } else {
                missing.push_back(name);
            }
        }
        if (!found && whole.find('"') == whole.npos) missing = {possible_names(rest)[2]};
        for (const std::string_view name : missing) {
            files_.expect_inside(name);
            scene_.notes.push_back("there is no " + files_.place_of(name).string() +
                                   "; --albedo stands in for its materials");
        }
    }

    /// Cuts off what is in quotes, or as many words as together name a file, or one word.
    [[nodiscard]] std::string_view cut_file_name(std::string_view& left) const {
        if (left.front() == '"') {
            const std::string_view name = left.substr(1, left.find('"', 1) - 1);
            left.remove_prefix(std::min(name.size() + 2, left.size()));
            return name;
        }
        std::string_view after = left;
        std::size_t longest = 0, first = 0;
        for (int words = 0; words < 16 && !trimmed(after).empty();
             ++words) { // 16: so that the line's length squared is no matter
            static_cast<void>(next_word(after));
            const std::size_t size = left.size() - after.size();
            if (first == 0) first = size;
            if (files_.exists(left.substr(0, size))) longest = size;
        }
        const std::string_view name = left.substr(0, longest > 0 ? longest : first);
        left.remove_prefix(name.size());
        return name;
    }

    void read_materials_of(std::string_view name) {
        const std::filesystem::path file = files_.place_of(name);
        for (NamedSurface& material : read_mtl(file, files_.read_named(name), albedo_)) {
            const std::string own = material.name;
            for (const std::string_view other : possible_names(own)) other_names_.emplace(other, own);
            materials_.insert_or_assign(own, Material{std::move(material), file});
        }
    }

    const SceneFiles& files_;
    const std::filesystem::path& file_;
    TextLines lines_;
    float albedo_;
    Scene scene_;
    NotShown not_shown_;
    std::vector<Point> vertices_, normals_;
    std::vector<std::optional<TexturePoint>> places_;  ///< in textures; nothing: no numbers
    std::unordered_map<std::size_t, Rgb> colours_;     ///< of vertices that have one
    std::map<std::size_t, std::string> vertex_faults_; ///< what is wrong with a vertex, for when it is used
    std::vector<std::size_t> corners_, corner_normals_, corner_places_,
        face_ends_;                                                    ///< of all faces, one after the other
    std::map<std::pair<std::string, TexelMeaning>, ReadImage> images_; ///< by their files
    std::set<std::string> missing_;                                    ///< materials that are in no MTL file
    std::map<std::string, Material, std::less<>> materials_;
    std::map<std::string, std::string, std::less<>>
        other_names_; ///< of materials, without quotes and remarks
    std::map<std::string, std::size_t, std::less<>> used_names_;
    /// Names, and the materials made of each, for faces without places in textures and with.
    std::vector<std::pair<std::string, std::array<std::optional<uint32_t>, 2>>> used_;
    std::vector<std::optional<std::size_t>> face_materials_; ///< places in used_
    std::optional<std::size_t> current_;                     ///< none: nothing has been said yet
    std::optional<uint32_t> unnamed_, coloured_;             ///< of faces without a material
    std::string short_face_;                                 ///< the first face with fewer than three corners
    std::array<std::int64_t, 3> count_{}, largest_{}, largest_line_{};
    std::array<std::string, 3> unused_fault_;
};

} // namespace

Scene read_obj(const SceneFiles& files, std::string_view text, float albedo) {
    if (text.find('\0') != std::string_view::npos)
        refuse_scene(files.scene(), "is not text, so it is no OBJ file");
    return ObjReader(files, text, albedo).run();
}

} // namespace path_tracer
