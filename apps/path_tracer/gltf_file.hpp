// apps/path_tracer/gltf_file.hpp - what a .gltf or .glb holds: JSON, and numbers in buffers. Nothing is taken
// on trust, and only what is asked for is looked at.
#pragma once
#include "scene_readers.hpp"

#include <nlohmann/json.hpp>

#include <array>
#include <cmath>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace path_tracer {

using Json = nlohmann::json;

/// The numbers of an accessor, each of which exists. Valid as long as its file.
class GltfAccessor {
public:
    [[nodiscard]] std::uint64_t count() const { return count_; }
    /// An unsigned integer: of an accessor of those.
    [[nodiscard]] std::uint64_t index(std::uint64_t i) const;
    /// The first three numbers of an element, of any type, which become fractions of their range if they are
    /// normalised.
    [[nodiscard]] Point point(std::uint64_t i) const;
    /// The same of up to four numbers; those that elements do not have are 0.
    [[nodiscard]] std::array<double, 4> numbers(std::uint64_t i) const;
    /// The same of a matrix, column by column.
    [[nodiscard]] std::array<double, 16> matrix(std::uint64_t i) const;
    /// Whether numbers are unsigned integers as they are.
    [[nodiscard]] bool has_whole_numbers() const;
    /// Whether numbers are floats, or normalised and not below 0.
    [[nodiscard]] bool has_fractions() const;
    /// Of an element.
    [[nodiscard]] std::size_t size() const { return size_; }
    /// glTF's number of the type of its numbers.
    [[nodiscard]] std::uint64_t component() const { return component_; }

    /// Its numbers are here, without gaps between them.
    void read_from(const char* packed);

private:
    friend class GltfFile;
    [[nodiscard]] const char* element(std::uint64_t i) const;
    /// As many numbers of an element as it has and there is room for.
    void read(std::uint64_t i, std::span<double> numbers) const;

    std::uint64_t count_ = 0, stride_ = 0;
    std::size_t size_ = 1;        ///< numbers of an element
    std::uint64_t component_ = 0; ///< glTF's number of the type
    bool is_normalized_ = false;
    const char* data_ = nullptr;                    ///< null: zeros
    std::map<std::uint64_t, const char*> replaced_; ///< elements of a sparse accessor
};

class GltfFile {
public:
    /// Reads the container. Errors  invalid_argument
    GltfFile(const SceneFiles& files, std::string_view bytes);

    [[nodiscard]] const Json& root() const { return root_; }
    [[noreturn]] void refuse(const std::string& what) const;

    [[nodiscard]] const Json& list(const char* name) const { return list(root_, name); }
    /// object[name], which must be a list; an empty one if there is none.
    [[nodiscard]] const Json& list(const Json& object, const char* name) const;
    [[nodiscard]] std::uint64_t size(const Json& object, const char* name, std::uint64_t fallback) const;
    [[nodiscard]] double number(const Json& object, const char* name, double fallback) const;
    [[nodiscard]] std::string text(const Json& object, const char* name) const;
    /// The place in `name` that object[key] names; nothing if the object has no such key.
    [[nodiscard]] std::optional<std::size_t> reference(const Json& object, const char* key,
                                                       const char* name) const;
    /// As many numbers as `values` has, into it; what it holds stays if there is no such key.
    template <std::size_t N>
    void numbers(const Json& object, const char* name, std::array<double, N>& values) const {
        const auto found = object.find(name);
        if (found == object.end()) return;
        bool fits = found->is_array() && found->size() == N;
        for (std::size_t i = 0; fits && i < N; ++i) {
            const Json& value = (*found)[i];
            fits = value.is_number() && std::abs(value.get<double>()) <= farthest_coordinate;
            if (fits) values[i] = value.get<double>();
        }
        if (!fits)
            refuse('"' + std::string(name) + "\" is no list of " + std::to_string(N) +
                   " finite numbers; export it again");
    }

    /// The accessor at `index`, of elements of `type`: "SCALAR" (unsigned integers), "VEC2", "VEC3", "VEC4"
    /// or "MAT4" (floats). Reads its buffers. `of`: for messages
    [[nodiscard]] GltfAccessor accessor(std::size_t index, std::string_view type, const std::string& of);
    /// The same without its numbers, which are elsewhere: GltfAccessor::read_from.
    [[nodiscard]] GltfAccessor described(std::size_t index, std::string_view type,
                                         const std::string& of) const;
    /// As many indices as there are in `packed`, of 32 bits.
    [[nodiscard]] static GltfAccessor indices(const std::vector<std::uint32_t>& packed);

    /// All bytes of a bufferView: those of its buffer, or what they are once decoded.
    [[nodiscard]] std::string_view bytes_of_view(std::size_t index);
    /// An accessor's numbers were read elsewhere: the buffer that it names may stay unread.
    void leave_buffer_of(std::size_t accessor);

    /// How many bytes all that is still compressed may take once it is decoded. A few bytes can promise any
    /// number of triangles: what takes more is there to fill the memory.
    [[nodiscard]] std::uint64_t room() const;
    void take_room(std::uint64_t bytes) { decoded_bytes_ += bytes; }

    /// The bytes of a picture, or the file that has them, or why there are none.
    struct Image {
        std::string name; ///< for messages
        std::string bytes{}, file{}, fault{};
    };
    [[nodiscard]] Image image(std::size_t index);

    /// Buffers that nothing has asked for, each with its name.
    [[nodiscard]] std::vector<std::string> unread_buffers() const;

private:
    /// Where `count` elements begin that object["bufferView"] and object["byteOffset"] name, all of them
    /// there. `stride`: gets their distance; null if they have to be packed.
    const char* view(const Json& object, std::uint64_t count, std::uint64_t element, std::uint64_t* stride);
    void read_sparse(const Json& sparse, std::uint64_t element, GltfAccessor& result);
    std::string_view open_glb(std::string_view bytes);
    /// The bytes that object["buffer"], object["byteOffset"] and object["byteLength"] name.
    std::string_view bytes_of(const Json& object);
    /// Of a bufferView with EXT_meshopt_compression.
    std::string decode(std::size_t index, const Json& view, const Json& compression);
    std::string_view buffer(std::size_t index);
    /// The buffer that view["buffer"] names may stay unread; no such buffer is no fault.
    void leave_buffer(const Json& view);
    std::string read_buffer(std::size_t index, const Json& json) const;
    /// What a URI names: data within it, or a file. Nothing: data that is not base64.
    [[nodiscard]] std::optional<std::string> read_uri(const std::string& uri) const;
    [[nodiscard]] std::string file_of(const std::string& uri) const;

    const SceneFiles& files_;
    std::string_view binary_; ///< the chunk of a .glb
    Json root_;
    std::map<std::size_t, std::string> buffers_; ///< those that were needed
    std::map<std::size_t, std::string> decoded_; ///< bufferViews that were compressed
    std::set<std::size_t> left_buffers_;         ///< those that something else stands in for
    std::uint64_t decoded_bytes_ = 0;
};

} // namespace path_tracer
