// apps/path_tracer/read_ply.cpp - PLY, in text and in both byte orders: vertices and polygons.
#include "scene_readers.hpp"
#include "text_lines.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <string>

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

std::string as_text(double number) {
    std::array<char, 32> text{};
    std::snprintf(text.data(), text.size(), "%.12g", number);
    return text.data();
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
    PlyReader(const std::filesystem::path& file, std::string_view bytes) : file_(file), rest_(bytes) {}

    Scene run(float albedo) {
        read_header();
        std::uint64_t faces = 0;
        for (const Element& element : elements_) {
            if (element.name == "vertex") vertices_ = element.count;
            if (element.name == "face") faces = element.count;
        }
        if (faces == 0) refuse("has no triangles; export a mesh, not points");
        for (const Element& element : elements_) read_element(element);

        Scene scene;
        const uint32_t material = add_material(scene, file_, "", grey(albedo));
        std::vector<Point> corners;
        std::size_t begin = 0;
        for (const std::size_t end : face_ends_) { // vertices may come after faces, so not before now
            corners.clear();
            for (; begin < end; ++begin) corners.push_back(positions_[corners_[begin]]);
            add_polygon(scene, corners, material);
        }
        return scene;
    }

private:
    [[noreturn]] void refuse(const std::string& what) const { refuse_scene(file_, what); }

    std::string_view header_line() {
        const auto end = rest_.find('\n');
        if (end == std::string_view::npos || end > 4096)
            refuse("the PLY header does not end; copy the file again");
        std::string_view line = rest_.substr(0, end);
        rest_.remove_prefix(end + 1);
        if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
        return line;
    }

    static std::vector<std::string_view> words_of(std::string_view line) {
        std::vector<std::string_view> words;
        while (true) {
            const auto begin = line.find_first_not_of(" \t");
            if (begin == std::string_view::npos) return words;
            const auto end = std::min(line.find_first_of(" \t", begin), line.size());
            words.push_back(line.substr(begin, end - begin));
            line.remove_prefix(end);
        }
    }

    void read_header() {
        if (rest_.substr(0, 3) != "ply") refuse("does not begin with \"ply\", so it is no PLY file");
        static_cast<void>(header_line());
        bool has_format = false;
        for (std::string_view line = header_line(); line != "end_header"; line = header_line()) {
            const auto words = words_of(line);
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
        const auto read_one = element.name == "vertex" ? &PlyReader::read_vertex
                              : element.name == "face" ? &PlyReader::read_face
                                                       : &PlyReader::skip_one;
        for (std::uint64_t i = 0; i < element.count; ++i) (this->*read_one)(element, i);
    }

    void read_vertex(const Element& element, std::uint64_t number) {
        Point position{0, 0, 0};
        for (const Property& property : element.properties) {
            double* const coordinate = property.name == "x"   ? &position.x
                                       : property.name == "y" ? &position.y
                                       : property.name == "z" ? &position.z
                                                              : nullptr;
            if (coordinate == nullptr || property.is_list) {
                skip(property);
                continue;
            }
            const double value = next(property.type);
            if (!(std::abs(value) <= farthest_coordinate))
                refuse("vertex " + std::to_string(number) + ": " + property.name +
                       " is not finite or too large; export the mesh again");
            *coordinate = value;
        }
        positions_.push_back(position);
    }

    void read_face(const Element& element, std::uint64_t number) {
        for (const Property& property : element.properties) {
            if (!property.is_list || (property.name != "vertex_indices" && property.name != "vertex_index")) {
                skip(property);
                continue;
            }
            for (double left = next(property.count_type); left > 0; --left) {
                const double index = next(property.type);
                if (!(index >= 0 && index < static_cast<double>(vertices_)))
                    refuse("face " + std::to_string(number) + ": names vertex " + as_text(index) + " of " +
                           std::to_string(vertices_) + " (they count from 0); export the mesh again");
                corners_.push_back(static_cast<std::size_t>(index));
            }
            face_ends_.push_back(corners_.size());
        }
    }

    void skip_one(const Element& element, std::uint64_t) {
        for (const Property& property : element.properties) skip(property);
    }
    void skip(const Property& property) {
        for (double left = property.is_list ? next(property.count_type) : 1; left > 0; --left)
            static_cast<void>(next(property.type));
    }

    /// The next number of the body; every type fits into a double.
    double next(Type type) { return format_ == Format::ascii ? next_word() : next_binary(type); }

    [[noreturn]] void refuse_truncated() const {
        refuse("is truncated: the body ends too early; copy or export it again");
    }

    double next_word() {
        const auto begin = rest_.find_first_not_of(" \t\r\n");
        if (begin == std::string_view::npos) refuse_truncated();
        const auto end = std::min(rest_.find_first_of(" \t\r\n", begin), rest_.size());
        const std::string_view word = rest_.substr(begin, end - begin);
        rest_.remove_prefix(end);
        const std::optional<double> value = to_number<double>(word);
        if (!value) refuse("has \"" + excerpt(word) + "\" where a number belongs; export the mesh again");
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

    const std::filesystem::path& file_;
    std::string_view rest_;
    Format format_ = Format::ascii;
    std::vector<Element> elements_;
    std::uint64_t vertices_ = 0; ///< promised by the header
    std::vector<Point> positions_;
    std::vector<std::size_t> corners_, face_ends_; ///< of all faces, one after the other
};

} // namespace

Scene read_ply(const std::filesystem::path& file, std::string_view bytes, float albedo) {
    return PlyReader(file, bytes).run(albedo);
}

} // namespace path_tracer
