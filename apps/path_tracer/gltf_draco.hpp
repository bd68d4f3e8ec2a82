// apps/path_tracer/gltf_draco.hpp - primitives that KHR_draco_mesh_compression has compressed. Google's
// library decodes them. A program that was built without it reads none.
#pragma once
#include "gltf_file.hpp"

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

namespace draco {
class Mesh;
}

namespace path_tracer {

/// Whether this program was built with Draco.
[[nodiscard]] bool reads_draco();

/// What a stream is decoded to: triangles, and numbers of vertices that have names of their own.
class DracoMesh {
public:
    struct Limits {
        std::uint64_t room;                     ///< bytes that may be needed, about
        std::optional<std::uint64_t> indices{}; ///< how many there must be
    };
    /// The fault says what is wrong with the stream; empty: nothing.
    struct Decoded;
    [[nodiscard]] static Decoded decode(std::string_view stream, const Limits& limits);

    [[nodiscard]] std::uint64_t vertices() const;
    /// Three for each triangle. They may name vertices that there are not.
    [[nodiscard]] std::vector<std::uint32_t> indices() const;
    /// Of all vertices: the attribute whose unique id this is, as elements of `size` numbers of glTF's type
    /// `component`, packed. Nothing: it is not there, or is of another kind.
    [[nodiscard]] std::optional<std::string> attribute(std::uint64_t id, std::uint64_t component,
                                                       std::size_t size) const;

private:
    std::shared_ptr<const draco::Mesh> mesh_; ///< without a fault not null
};

struct DracoMesh::Decoded {
    DracoMesh mesh{};
    std::uint64_t bytes = 0; ///< that it needed, about
    std::string fault{};
};

/// What a file has of it. Each stream is decoded when a primitive is the first to need it.
class GltfDraco {
public:
    explicit GltfDraco(GltfFile& file) : file_(file) {}

    /// A compressed primitive. Valid as long as what made it.
    struct Primitive {
        std::size_t view; ///< where the stream is
        const DracoMesh* mesh;
        const GltfAccessor* indices;
        const Json* attributes; ///< their ids by name
    };
    /// Nothing: it is not compressed, or this program was built without Draco.
    /// Errors  invalid_argument: the stream is damaged, or not what the primitive says
    [[nodiscard]] std::optional<Primitive> primitive(const Json& json, const std::string& which);

    /// The numbers of an attribute, as the accessor at `index` describes them: see GltfFile::accessor. Null:
    /// the stream does not have it, so that the accessor does.
    [[nodiscard]] const GltfAccessor* attribute(const Primitive& primitive, const std::string& name,
                                                std::size_t index, std::string_view type,
                                                const std::string& of);

private:
    struct Stream {
        DracoMesh mesh;
        std::vector<std::uint32_t> packed;
        GltfAccessor indices;
    };
    struct Attribute {
        std::string packed;
        GltfAccessor accessor;
    };
    const Stream& stream(std::size_t view, std::optional<std::uint64_t> promised, const std::string& which);

    GltfFile& file_;
    std::map<std::size_t, Stream> streams_;
    /// Of a view and an id, for an accessor and the type that was asked for.
    std::map<std::tuple<std::size_t, std::uint64_t, std::size_t, std::string_view>, Attribute> attributes_;
};

} // namespace path_tracer
