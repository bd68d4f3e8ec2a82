// apps/path_tracer/read_ply.cpp - PLY, in text and in both byte orders: vertices and polygons.
#include "corner_shading.hpp"
#include "scene_readers.hpp"
#include "text_lines.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <initializer_list>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>

namespace path_tracer {
namespace {

enum class Format { ascii, little_endian, big_endian };
enum class Type : std::uint8_t { int8, uint8, int16, uint16, int32, uint32, float32, float64 };

struct TypeName {
    std::string_view name;
    Type type;
};
constexpr std::array<TypeName, 16> type_names = {{{"char", Type::int8},
                                                  {"int8", Type::int8},
                                                  {"uchar", Type::uint8},
                                                  {"uint8", Type::uint8},
                                                  {"short", Type::int16},
                                                  {"int16", Type::int16},
                                                  {"ushort", Type::uint16},
                                                  {"uint16", Type::uint16},
                                                  {"int", Type::int32},
                                                  {"int32", Type::int32},
                                                  {"uint", Type::uint32},
                                                  {"uint32", Type::uint32},
                                                  {"float", Type::float32},
                                                  {"float32", Type::float32},
                                                  {"double", Type::float64},
                                                  {"float64", Type::float64}}};

std::size_t size_of(Type type) {
    constexpr std::array<std::size_t, 8> sizes = {1, 1, 2, 2, 4, 4, 4, 8};
    return sizes[static_cast<std::size_t>(type)];
}

/// What stands for 1 where numbers of the type are fractions.
double largest_of(Type type) {
    constexpr std::array<double, 8> largest = {0x7f, 0xff, 0x7fff, 0xffff, 0x7fffffff, 0xffffffff, 1, 1};
    return largest[static_cast<std::size_t>(type)];
}

struct Property {
    std::string name;
    Type type;
    bool is_list = false;
    Type count_type = Type::uint8;
};
struct Element {
    std::string name;
    std::uint64_t count = 0;
    std::vector<Property> properties;
};

class PlyReader {
public:
    PlyReader(const SceneFiles& files, std::string_view bytes)
        : files_(files), file_(files.scene()), rest_(bytes), size_(bytes.size()) {}

    Scene run(float albedo) {
        read_header();
        std::uint64_t faces = 0;
        for (const Element& element : elements_) {
            if (element.name == "vertex") check_vertices(element);
            if (element.name == "face" || element.name == "tristrips") faces += element.count;
            name_what_is_not_shown(element);
        }
        if (faces == 0) refuse("has no triangles; export a mesh, not points");
        for (const Element& element : elements_) read_element(element);

        Scene scene;
        std::optional<uint32_t> plain;
        const auto without_texture = [&] {
            if (!plain) plain = add_material(scene, file_, "", grey(colours_.empty() ? albedo : 1));
            return *plain;
        };
        const std::vector<uint32_t> textured = textured_materials(scene);
        std::vector<Point> corners, normals;
        std::vector<CornerColour> colours;
        std::vector<TexturePoint> places;
        std::size_t begin = 0;
        for (std::size_t face = 0; face < faces_.size();
             ++face) { // vertices may come after faces, so not before now
            const Face& own = faces_[face];
            corners.clear();
            normals.clear();
            colours.clear();
            places.clear();
            const uint32_t of_texture = own.texture < textured.size() ? textured[own.texture] : none;
            const bool is_textured = of_texture != none;
            for (; begin < own.end; ++begin) {
                if (is_textured) places.push_back(place_in_texture(begin));
                corners.push_back(position_at(corners_[begin]));
                if (has_normals_) normals.push_back(normal_at(corners_[begin]));
                if (!colours_.empty() && !is_textured) colours.push_back({colours_[corners_[begin]]});
            }
            if (corners.size() < 3)
                has_short_face_ = true;
            else
                add_polygon(scene, {corners, normals, colours, places},
                            is_textured ? of_texture : without_texture());
        }
        if (has_short_face_) scene.notes.emplace_back("a face has fewer than three corners; it is left out");
        const bool is_text = format_ == Format::ascii;
        if (is_text ? !next_line().empty() : !rest_.empty())
            scene.notes.push_back((is_text ? "line " + std::to_string(line_) + " and what follows"
                                           : std::to_string(rest_.size()) + " bytes at the end") +
                                  ": is more than the header declares, and not read");
        not_shown_.report_to(scene);
        return scene;
    }

private:
    [[noreturn]] void refuse(const std::string& what) const { refuse_scene(file_, what); }

    // ---- textures, as MeshLab and others name them in remarks

    static constexpr uint32_t none = SceneTriangle::none;

    /// A material for each texture; `none` where it cannot be shown.
    std::vector<uint32_t> textured_materials(Scene& scene) {
        std::vector<uint32_t> materials;
        for (const std::string& name : textures_) {
            const auto lost = [&](const std::string& why) {
                not_shown_.add("textures (TextureFile, " + why + ')');
                materials.push_back(none);
            };
            if (!has_places_ && wedges_.empty()) {
                lost("without texture coordinates");
                continue;
            }
            const ReadImage image = add_image(scene, files_, name, TexelMeaning::reflectance);
            if (!image.place) {
                lost(image.fault);
                continue;
            }
            SurfaceDescription surface = grey(1);
            surface.textures.colour = TextureUse{};
            surface.textures.colour->image = *image.place;
            materials.push_back(add_material(scene, file_, "", surface));
            if (!colours_.empty()) not_shown_.add("vertex colours beside a texture");
        }
        return materials;
    }

    /// Of a corner, by its place among all corners. v is up in the file, and down in a picture.
    [[nodiscard]] TexturePoint place_in_texture(std::size_t corner) {
        const auto wedge = wedges_.find(corner);
        if (wedge == wedges_.end() && !has_places_) return {0, 0};
        const auto& [u, v] = wedge != wedges_.end() ? wedge->second : places_[corners_[corner]];
        const std::optional<TexturePoint> place_there = texture_point(u, 1 - v);
        if (!place_there) not_shown_.add(bad_places);
        return place_there.value_or(TexturePoint{0, 0});
    }

    std::string_view header_line() {
        const auto end = rest_.find('\n');
        if (end > 4096) // or not there
            refuse("the PLY header does not end; copy the file again");
        std::string_view line = rest_.substr(0, end);
        rest_.remove_prefix(end + 1);
        ++line_;
        while (!line.empty() && std::string_view(" \t\r").find(line.back()) != std::string_view::npos)
            line.remove_suffix(1);
        return line;
    }

    static void split(std::string_view line, std::vector<std::string_view>& words) {
        words.clear();
        for (std::string_view word = next_word(line); !word.empty(); word = next_word(line))
            words.push_back(word);
    }
    static std::vector<std::string_view> words_of(std::string_view line) {
        std::vector<std::string_view> words;
        split(line, words);
        return words;
    }

    void check_vertices(const Element& element) {
        if (vertices_ > 0) refuse("declares vertices twice; export the mesh again");
        vertices_ = element.count;
        for (const char* name : {"x", "y", "z"}) {
            const auto is_it = [name](const Property& property) {
                return property.name == name && !property.is_list;
            };
            if (std::count_if(element.properties.begin(), element.properties.end(), is_it) != 1)
                refuse(std::string("has vertices without one ") + name + "; export the mesh again");
        }
        parts_of_vertex_.assign(element.properties.size(), std::nullopt);
        static_cast<void>(find_parts(element, {"x", "y", "z"}, place));
        has_normals_ = find_parts(element, {"nx", "ny", "nz"}, normal);
        for (const auto& [u, v] : place_names) {
            if (textures_.empty()) break; // else they are not used, and may be wrong
            has_places_ = find_parts(element, {u, v}, texture);
            if (has_places_) break;
        }
        for (const auto& names : colour_names) {
            has_colours_ = find_parts(element, {names[0], names[1], names[2]}, colour);
            if (!has_colours_) continue;
            static_cast<void>(find_parts(element, {names[3]}, opacity));
            break;
        }
    }

    /// The numbers of a vertex that are used: three, three, two, three and one.
    static constexpr std::size_t place = 0, normal = 3, texture = 6, colour = 8, opacity = 11,
                                 part_count = 12;
    static constexpr std::array<std::array<std::string_view, 2>, 4> place_names = {
        {{"s", "t"}, {"u", "v"}, {"texture_u", "texture_v"}, {"s0", "t0"}}};
    /// Red, green, blue, opacity.
    static constexpr std::array<std::array<std::string_view, 4>, 3> colour_names = {
        {{"red", "green", "blue", "alpha"},
         {"r", "g", "b", "a"},
         {"diffuse_red", "diffuse_green", "diffuse_blue", "diffuse_alpha"}}};

    /// Notes which properties are the parts from `first` on. False, and nothing is noted, if one is not
    /// there.
    bool find_parts(const Element& element, std::initializer_list<std::string_view> names,
                    std::size_t first) {
        auto parts = parts_of_vertex_;
        std::size_t part = first;
        for (const std::string_view name : names) {
            bool is_there = false;
            for (std::size_t i = 0; i < parts.size(); ++i)
                if (element.properties[i].name == name && !element.properties[i].is_list) {
                    parts[i] = part;
                    is_there = true;
                }
            if (!is_there) return false;
            ++part;
        }
        parts_of_vertex_ = std::move(parts);
        return true;
    }

    static bool has_corners(const Property& property) {
        return property.is_list && (property.name == "vertex_indices" || property.name == "vertex_index");
    }

    static bool is_colour(std::string_view property) {
        for (const std::string_view prefix : {"diffuse_", "ambient_"})
            if (property.starts_with(prefix)) property.remove_prefix(prefix.size());
        return property == "red" || property == "green" || property == "blue" || property == "alpha" ||
               property == "r" || property == "g" || property == "b" || property == "a";
    }

    void name_what_is_not_shown(const Element& element) {
        constexpr std::array<std::string_view, 17> no_matter = {
            "x", "y",         "z",         "nx",       "ny",        "nz",    "s",  "t", "u",
            "v", "texture_u", "texture_v", "texcoord", "texnumber", "flags", "s0", "t0"};
        if (element.name != "vertex" && element.name != "face" && element.name != "tristrips") {
            if (element.count > 0) not_shown_.add("element " + excerpt(element.name));
            return;
        }
        const bool is_vertex = element.name == "vertex";
        for (std::size_t i = 0; i < element.properties.size(); ++i) {
            const Property& property = element.properties[i];
            if (has_corners(property) || (is_vertex && parts_of_vertex_[i]) ||
                std::find(no_matter.begin(), no_matter.end(), property.name) != no_matter.end())
                continue;
            not_shown_.add((is_vertex ? "vertex " : "face ") +
                           (is_colour(property.name) ? "colours" : "property " + excerpt(property.name)));
        }
    }

    void read_header() {
        if (rest_.substr(0, 3) != "ply") refuse("does not begin with \"ply\", so it is no PLY file");
        static_cast<void>(header_line());
        bool has_format = false;
        for (std::string_view line = header_line(); line != "end_header"; line = header_line()) {
            const auto words = words_of(line);
            if (words.size() > 2 && words[0] == "comment" && words[1] == "TextureFile")
                textures_.emplace_back(line.substr(static_cast<std::size_t>(words[2].data() - line.data())));
            if (words.empty() || words[0] == "comment" || words[0] == "obj_info") continue;
            if (words[0] == "format" && words.size() == 3) {
                read_format(words[1]);
                has_format = true;
            } else if (words[0] == "element" && words.size() == 3) {
                declare_element(words[1], words[2]);
            } else if (words[0] == "property" && !elements_.empty()) {
                read_property(words);
            } else {
                refuse("the PLY header has the line \"" + std::string(line.substr(0, 60)) +
                       "\"; export the mesh again");
            }
        }
        if (!has_format) refuse("the PLY header names no format; export the mesh again");
    }

    void read_format(std::string_view name) {
        if (name == "ascii")
            format_ = Format::ascii;
        else if (name == "binary_little_endian")
            format_ = Format::little_endian;
        else if (name == "binary_big_endian")
            format_ = Format::big_endian;
        else
            refuse("the PLY format \"" + std::string(name) +
                   "\" is unknown; use ascii or binary_little_endian");
    }

    void declare_element(std::string_view name, std::string_view count) {
        Element element{std::string(name), 0, {}};
        const std::optional<std::int64_t> number = to_number<std::int64_t>(count);
        if (!number || *number < 0)
            refuse("the PLY header counts \"" + std::string(count) + "\" of " + element.name +
                   "; export the mesh again");
        element.count = static_cast<std::uint64_t>(*number);
        elements_.push_back(std::move(element));
    }

    void read_property(const std::vector<std::string_view>& words) {
        const bool is_list = words.size() == 5 && words[1] == "list";
        if (words.size() != 3 && !is_list)
            refuse("the PLY header has a property of unknown form; export the mesh again");
        Property property{std::string(words.back()), type_named(words[words.size() - 2]), is_list,
                          Type::uint8};
        if (is_list) property.count_type = type_named(words[2]);
        elements_.back().properties.push_back(std::move(property));
    }

    Type type_named(std::string_view name) const {
        const auto found = std::find_if(type_names.begin(), type_names.end(),
                                        [name](const TypeName& known) { return known.name == name; });
        if (found == type_names.end())
            refuse("the PLY type \"" + std::string(name) + "\" is unknown; export the mesh again");
        return found->type;
    }

    void read_element(const Element& element) {
        // Before anything is made for the count: is the file long enough for it at all?
        std::size_t least = 0;
        for (const Property& property : element.properties)
            least += format_ == Format::ascii
                         ? 2
                         : size_of(property.is_list ? property.count_type : property.type);
        if (element.count > 0 && (least == 0 || element.count > (rest_.size() + 1) / least))
            refuse("is truncated: " + std::to_string(element.count) + " x " + element.name +
                   " do not fit into the " + std::to_string(rest_.size()) +
                   " bytes that are left; copy or export it again");
        const auto read_one = element.name == "vertex"      ? &PlyReader::read_vertex
                              : element.name == "face"      ? &PlyReader::read_face
                              : element.name == "tristrips" ? &PlyReader::read_strips
                                                            : &PlyReader::skip_one;
        for (std::uint64_t i = 0; i < element.count; ++i) {
            if (format_ == Format::ascii) begin_row(element);
            (this->*read_one)(element, i);
        }
    }

    /// The next line with something on it; empty at the end.
    std::string_view next_line() {
        while (!rest_.empty()) {
            const auto end = std::min(rest_.find('\n'), rest_.size());
            std::string_view line = rest_.substr(0, end);
            rest_.remove_prefix(std::min(end + 1, rest_.size()));
            ++line_;
            if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
            if (line.find_first_not_of(" \t") != std::string_view::npos) return line;
        }
        return {};
    }

    /// A line of text is one of the element, with as many words as its properties take: one more or less, and
    /// all that follows would be read askew.
    void begin_row(const Element& element) {
        const std::string_view line = next_line();
        if (line.empty()) refuse_truncated();
        split(line, row_);
        place_ = 0;
        std::uint64_t width = 0;
        for (const Property& property : element.properties) {
            ++width;
            if (property.is_list && width <= row_.size())
                width += list_size(to_number<double>(row_[width - 1]).value_or(0));
        }
        if (width == row_.size()) return;
        refuse((rest_.empty() && row_.size() < width ? "is truncated: line " : "line ") +
               std::to_string(line_) + " has " + std::to_string(row_.size()) +
               " numbers, and the header declares " + std::to_string(width) + " for this " +
               excerpt(element.name) + "; export the mesh again");
    }

    [[nodiscard]] std::uint64_t list_size(double count) const {
        if (!(count >= 0 && count <= static_cast<double>(size_) && count == std::floor(count)))
            refuse("has a list of " + as_text(count) + " elements; export the mesh again");
        return static_cast<std::uint64_t>(count);
    }

    void read_vertex(const Element& element, std::uint64_t number) {
        std::array<double, part_count> parts{};
        parts[opacity] = 1;
        for (std::size_t i = 0; i < element.properties.size(); ++i) {
            const Property& property = element.properties[i];
            const std::optional<std::size_t> part = parts_of_vertex_[i];
            if (!part) {
                skip(property);
                continue;
            }
            double& value = parts[*part] = next(property.type);
            if (*part >= colour) value /= largest_of(property.type);
            if (*part < normal && !(std::abs(value) <= farthest_coordinate) &&
                vertex_faults_.count(positions_.size()) == 0)
                vertex_faults_[positions_.size()] = "vertex " + std::to_string(number) + ": " +
                                                    property.name +
                                                    " is not finite or too large; export the mesh again";
        }
        const auto point = [&parts](std::size_t first) {
            return Point{parts[first], parts[first + 1], parts[first + 2]};
        };
        positions_.push_back(point(place));
        if (has_normals_) normals_.push_back(point(normal));
        if (has_places_) places_.push_back({parts[texture], parts[texture + 1]});
        if (!has_colours_) return;
        if (parts[opacity] < 1) not_shown_.add("vertex opacity");
        const auto linear = linear_colour({parts[colour], parts[colour + 1], parts[colour + 2]});
        if (!linear) not_shown_.add(bad_colours);
        colours_.push_back(linear.value_or(Rgb{1, 1, 1}));
    }

    [[nodiscard]] Point normal_at(std::size_t index) {
        if (!is_direction(normals_[index])) not_shown_.add(bad_normals);
        return normals_[index];
    }

    /// Refuses a vertex that is not right: only now it is used.
    [[nodiscard]] Point position_at(std::size_t index) const {
        if (!vertex_faults_.empty()) {
            const auto fault = vertex_faults_.find(index);
            if (fault != vertex_faults_.end()) refuse(fault->second);
        }
        return positions_[index];
    }

    std::size_t read_corner(const Property& property, const char* of, std::uint64_t number,
                            double index) const {
        if (!(index >= 0 && index < static_cast<double>(vertices_) && index == std::floor(index)))
            refuse(std::string(of) + ' ' + std::to_string(number) + ": names vertex " + as_text(index) +
                   " of " + std::to_string(vertices_) + " (they count from 0) in " + property.name +
                   "; export the mesh again");
        return static_cast<std::size_t>(index);
    }

    void read_face(const Element& element, std::uint64_t number) {
        const std::size_t begin = corners_.size(), first_face = faces_.size();
        std::vector<double> wedges; // u and v of each corner, which may come before the corners
        double texture_number = 0;
        for (const Property& property : element.properties) {
            const bool is_of_texture = !textures_.empty(); // else it is not used, and may be wrong
            if (is_of_texture && property.name == "texcoord" && property.is_list) {
                for (std::uint64_t left = list_size(next(property.count_type)); left > 0; --left)
                    wedges.push_back(next(property.type));
            } else if (is_of_texture && property.name == "texnumber" && !property.is_list) {
                texture_number = next(property.type);
            } else if (!has_corners(property)) {
                skip(property);
            } else {
                for (std::uint64_t left = list_size(next(property.count_type)); left > 0; --left)
                    corners_.push_back(read_corner(property, "face", number, next(property.type)));
                faces_.push_back({corners_.size(), 0});
            }
        }
        for (std::size_t face = first_face; face < faces_.size(); ++face)
            faces_[face].texture =
                texture_number >= 0 && texture_number < static_cast<double>(textures_.size())
                    ? static_cast<std::size_t>(texture_number)
                    : textures_.size();
        if (wedges.empty()) return;
        if (wedges.size() != 2 * (corners_.size() - begin))
            return not_shown_.add("texture coordinates of faces that are not two for each corner");
        for (std::size_t i = 0; begin + i < corners_.size(); ++i)
            wedges_.emplace(begin + i, std::pair(wedges[2 * i], wedges[2 * i + 1]));
    }

    /// Each vertex makes a triangle with the two before it, turned the other way every second time; -1 begins
    /// anew.
    void read_strips(const Element& element, std::uint64_t number) {
        for (const Property& property : element.properties) {
            if (!has_corners(property)) {
                skip(property);
                continue;
            }
            std::size_t length = 0, before_last = 0, last = 0;
            for (std::uint64_t left = list_size(next(property.count_type)); left > 0; --left) {
                const double index = next(property.type);
                if (index == -1) {
                    length = 0;
                    continue;
                }
                const std::size_t corner = read_corner(property, "strip", number, index);
                if (++length >= 3) {
                    const bool is_turned = length % 2 == 0;
                    for (const std::size_t of :
                         {is_turned ? last : before_last, is_turned ? before_last : last, corner})
                        corners_.push_back(of);
                    faces_.push_back({corners_.size(), 0});
                }
                before_last = std::exchange(last, corner);
            }
        }
    }

    void skip_one(const Element& element, std::uint64_t) {
        if (format_ == Format::ascii) return; // its line is gone already
        for (const Property& property : element.properties) skip(property);
    }
    void skip(const Property& property) {
        std::uint64_t left = property.is_list ? list_size(next(property.count_type)) : 1;
        if (format_ == Format::ascii)
            place_ += left; // whatever it says
        else
            for (; left > 0; --left) static_cast<void>(next(property.type));
    }

    /// The next number of the body; every type fits into a double.
    double next(Type type) { return format_ == Format::ascii ? next_in_row() : next_binary(type); }

    [[noreturn]] void refuse_truncated() const {
        refuse("is truncated: the body ends too early; copy or export it again");
    }

    double next_in_row() {
        const std::string_view word = row_[place_++]; // begin_row has counted them
        const std::optional<double> value = to_number<double>(word);
        if (!value)
            refuse("line " + std::to_string(line_) + " has \"" + excerpt(word) +
                   "\" where a number belongs; export the mesh again");
        return *value;
    }

    template <class T>
    double take() {
        if (rest_.size() < sizeof(T)) refuse_truncated();
        std::array<char, sizeof(T)> bytes;
        std::copy_n(rest_.data(), sizeof(T), bytes.data());
        rest_.remove_prefix(sizeof(T));
        if ((format_ == Format::big_endian) == (std::endian::native == std::endian::little))
            std::reverse(bytes.begin(), bytes.end());
        return static_cast<double>(std::bit_cast<T>(bytes));
    }

    double next_binary(Type type) {
        switch (type) {
        case Type::int8:
            return take<std::int8_t>();
        case Type::uint8:
            return take<std::uint8_t>();
        case Type::int16:
            return take<std::int16_t>();
        case Type::uint16:
            return take<std::uint16_t>();
        case Type::int32:
            return take<std::int32_t>();
        case Type::uint32:
            return take<std::uint32_t>();
        case Type::float32:
            return take<float>();
        case Type::float64:
            return take<double>();
        }
        refuse_truncated();
    }

    struct Face {
        std::size_t end;     ///< of its corners
        std::size_t texture; ///< its number; none: as many as there are
    };

    const SceneFiles& files_;
    const std::filesystem::path& file_;
    std::string_view rest_;
    Format format_ = Format::ascii;
    std::vector<Element> elements_;
    std::uint64_t vertices_ = 0; ///< promised by the header
    std::size_t size_;           ///< of the file
    std::int64_t line_ = 0;      ///< that came last, from 1; of the header alone if the body is binary
    std::vector<std::string_view> row_;
    std::size_t place_ = 0; ///< in row_
    NotShown not_shown_;
    bool has_short_face_ = false;
    std::map<std::size_t, std::string> vertex_faults_; ///< what is wrong with a vertex, for when it is used
    std::vector<std::optional<std::size_t>> parts_of_vertex_;             ///< what each of its properties is
    bool has_normals_ = false, has_colours_ = false, has_places_ = false; ///< vertices
    std::vector<std::string> textures_;                                   ///< names of their files
    std::vector<std::pair<double, double>> places_;                       ///< of vertices in textures
    std::unordered_map<std::size_t, std::pair<double, double>> wedges_;   ///< of corners, by their number
    std::vector<Rgb> colours_;
    std::vector<Point> positions_, normals_;
    std::vector<std::size_t> corners_; ///< of all faces, one after the other
    std::vector<Face> faces_;
};

} // namespace

Scene read_ply(const SceneFiles& files, std::string_view bytes, float albedo) {
    return PlyReader(files, bytes).run(albedo);
}

} // namespace path_tracer
