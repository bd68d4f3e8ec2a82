// apps/path_tracer/gltf_draco.cpp - see gltf_draco.hpp.
#include "gltf_draco.hpp"
#include "gltf_extensions.hpp"

#ifdef HEADRACE_DRACO
    #include <draco/compression/entropy/symbol_decoding.h>
    #include <draco/compression/mesh/mesh_edgebreaker_decoder.h>
    #include <draco/compression/mesh/mesh_sequential_decoder.h>
    #include <draco/core/varint_decoding.h>
#endif

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>
#include <new>
#include <stdexcept>
#include <utility>

namespace path_tracer {
namespace {

std::string other_indices(std::uint64_t has, std::uint64_t promised) {
    return "has " + std::to_string(has) + " indices, and their accessor " + std::to_string(promised);
}

} // namespace

#ifdef HEADRACE_DRACO

namespace {

/// About what the library needs for a triangle: corners, their neighbours, the order in which it goes along.
constexpr std::uint64_t bytes_of_triangle = 64;
/// The same for each attribute that has seams: a vertex and an edge for each corner.
constexpr std::uint64_t bytes_of_seams = 16;

/// Looks at what a stream promises before there is room for it.
class Promise {
public:
    explicit Promise(const DracoMesh::Limits& limits) : limits_(limits) {}

    /// `seams`: attributes that have their own connectivity
    bool allows_triangles(std::uint64_t triangles, std::uint64_t seams) {
        if (limits_.indices && triangles * 3 != *limits_.indices) {
            fault_ = other_indices(triangles * 3, *limits_.indices);
            return false;
        }
        return allows(triangles, bytes_of_triangle + seams * bytes_of_seams, "triangles");
    }

    bool allows_attributes(const draco::PointCloud& points) {
        std::uint64_t bytes = 0;
        for (std::int32_t i = 0; i < points.num_attributes(); ++i) {
            const draco::PointAttribute& attribute = *points.attribute(i);
            const auto size = std::max(draco::DataTypeLength(attribute.data_type()), 0);
            // As they are stored, as integers before, and which of them each vertex has.
            bytes += std::uint64_t{attribute.num_components()} * (static_cast<std::uint64_t>(size) + 4) + 4;
        }
        return allows(points.num_points(), bytes, "vertices");
    }

    /// The library goes as many steps along the coordinates of a texture as the stream says: two billion of
    /// them take seconds. So their number, which is behind all values of the attribute, is looked up.
    /// `stream`: is behind the bytes that name the prediction and its transform
    bool allows_prediction(draco::DecoderBuffer stream, std::uint32_t numbers, std::uint8_t numbers_of_each,
                           std::uint32_t corners) {
        const auto method = stream.data_head()[-2];
        if (method == draco::MESH_PREDICTION_TEX_COORDS_DEPRECATED) {
            fault_ = "has a prediction of an older version";
            return false;
        }
        std::uint8_t is_compressed = 0, bytes_of_each = 0;
        if (method != draco::MESH_PREDICTION_TEX_COORDS_PORTABLE || !stream.Decode(&is_compressed))
            return true;
        if (is_compressed != 0) {
            std::vector<std::uint32_t> values(numbers);
            if (!draco::DecodeSymbols(numbers, numbers_of_each, &stream, values.data())) return true;
        } else if (stream.Decode(&bytes_of_each)) {
            stream.Advance(std::int64_t{bytes_of_each} * numbers);
        }
        std::int32_t steps = 0;
        if (!stream.Decode(&steps) || steps <= static_cast<std::int64_t>(corners)) return true;
        fault_ = "promises " + std::to_string(steps) + " steps along " + std::to_string(corners) + " corners";
        return false;
    }

    [[nodiscard]] const std::string& fault() const { return fault_; }
    [[nodiscard]] std::uint64_t bytes() const { return bytes_; }

private:
    bool allows(std::uint64_t count, std::uint64_t bytes_of_each, const char* what) {
        if (bytes_of_each != 0 && count > (limits_.room - bytes_) / bytes_of_each) {
            fault_ = "promises " + std::to_string(count) + ' ' + what +
                     ", which is too much for a file of this size";
            return false;
        }
        bytes_ += count * bytes_of_each;
        return true;
    }

    DracoMesh::Limits limits_;
    std::string fault_;
    std::uint64_t bytes_ = 0;
};

/// Both of the library's decoders ask the promise at the last place before they make room.
class SequentialDecoder final : public draco::MeshSequentialDecoder {
public:
    explicit SequentialDecoder(Promise& promise) : promise_(promise) {}

protected:
    bool DecodeConnectivity() override {
        draco::DecoderBuffer ahead = *buffer();
        std::uint32_t triangles = 0;
        return draco::DecodeVarint(&triangles, &ahead) && promise_.allows_triangles(triangles, 0) &&
               MeshSequentialDecoder::DecodeConnectivity();
    }
    bool DecodeAllAttributes() override {
        return promise_.allows_attributes(*point_cloud()) && MeshSequentialDecoder::DecodeAllAttributes();
    }

private:
    Promise& promise_;
};

class EdgebreakerDecoder final : public draco::MeshEdgebreakerDecoder {
public:
    /// `stream`: the one that it will decode
    EdgebreakerDecoder(Promise& promise, const draco::DecoderBuffer& stream)
        : promise_(promise), stream_(stream) {}

    /// Where a prediction is made, which is the only place that asks. Null: it does without connectivity.
    const draco::MeshAttributeIndicesEncodingData* GetAttributeEncodingData(int attribute) const override {
        const auto* const found = MeshEdgebreakerDecoder::GetAttributeEncodingData(attribute);
        if (found == nullptr) return nullptr;
        const std::uint8_t numbers = point_cloud()->attribute(attribute)->num_components();
        const auto values = static_cast<std::uint32_t>(found->num_values);
        const bool is_allowed =
            promise_.allows_prediction(stream_, values * numbers, numbers, mesh()->num_faces() * 3);
        return is_allowed ? found : nullptr;
    }

protected:
    bool DecodeConnectivity() override {
        draco::DecoderBuffer ahead = *buffer();
        std::uint32_t vertices = 0, triangles = 0;
        std::uint8_t seams = 0;
        return draco::DecodeVarint(&vertices, &ahead) && draco::DecodeVarint(&triangles, &ahead) &&
               ahead.Decode(&seams) && promise_.allows_triangles(triangles, seams) &&
               MeshEdgebreakerDecoder::DecodeConnectivity();
    }
    bool DecodeAllAttributes() override {
        return promise_.allows_attributes(*point_cloud()) && MeshEdgebreakerDecoder::DecodeAllAttributes();
    }

private:
    Promise& promise_;
    const draco::DecoderBuffer& stream_;
};

/// Null if there is no such method.
std::unique_ptr<draco::MeshDecoder> decoder_of(std::uint8_t method, Promise& promise,
                                               const draco::DecoderBuffer& stream) {
    if (method == draco::MESH_SEQUENTIAL_ENCODING) return std::make_unique<SequentialDecoder>(promise);
    if (method == draco::MESH_EDGEBREAKER_ENCODING)
        return std::make_unique<EdgebreakerDecoder>(promise, stream);
    return nullptr;
}

/// Types that glTF has: the library would take a byte of 2 for a bool.
bool is_of_gltf(draco::DataType type) {
    return type == draco::DT_INT8 || type == draco::DT_UINT8 || type == draco::DT_INT16 ||
           type == draco::DT_UINT16 || type == draco::DT_UINT32 || type == draco::DT_FLOAT32;
}

template <class Number>
std::optional<std::string> packed(const draco::PointAttribute& attribute, std::uint32_t vertices) {
    const std::size_t element = attribute.num_components() * sizeof(Number);
    std::string bytes(vertices * element, '\0');
    std::array<Number, 4> numbers{};
    for (std::uint32_t vertex = 0; vertex < vertices; ++vertex) {
        const draco::AttributeValueIndex value = attribute.mapped_index(draco::PointIndex(vertex));
        if (value.value() >= attribute.size() || !attribute.ConvertValue<Number>(value, numbers.data()))
            return std::nullopt;
        std::memcpy(bytes.data() + vertex * element, numbers.data(), element);
    }
    return bytes;
}

} // namespace

bool reads_draco() { return true; }

DracoMesh::Decoded DracoMesh::decode(std::string_view stream, const Limits& limits) {
    const auto buffer_of = [stream] {
        draco::DecoderBuffer buffer;
        buffer.Init(stream.data(), stream.size());
        return buffer;
    };
    draco::DecoderBuffer ahead = buffer_of(), buffer = buffer_of();
    draco::DracoHeader header;
    if (!draco::PointCloudDecoder::DecodeHeader(&ahead, &header).ok())
        return {.fault = "is no stream of Draco's"};
    // Older ones are read along ways that glTF has no use for.
    if (header.version_major != 2 || header.version_minor != 2)
        return {.fault = "has a stream of version " + std::to_string(header.version_major) + '.' +
                         std::to_string(header.version_minor) + ", and not 2.2 as glTF has"};
    Promise promise(limits);
    const auto decoder = decoder_of(header.encoder_method, promise, buffer);
    if (decoder == nullptr || header.encoder_type != draco::TRIANGULAR_MESH)
        return {.fault = "has a stream that is not of triangles"};
    const char* const no_memory = "promises more than there is memory for";
    try {
        const auto mesh = std::make_shared<draco::Mesh>();
        const bool is_whole = decoder->Decode(draco::DecoderOptions(), &buffer, mesh.get()).ok();
        if (!promise.fault().empty()) return {.fault = promise.fault()};
        if (!is_whole) return {.fault = "cannot be decoded: it is damaged or truncated"};
        Decoded decoded{.bytes = promise.bytes()};
        decoded.mesh.mesh_ = mesh;
        return decoded;
    } catch (const std::bad_alloc&) {
        return {.fault = no_memory};
    } catch (const std::length_error&) { // what a vector throws that is asked for even more
        return {.fault = no_memory};
    }
}

std::uint64_t DracoMesh::vertices() const { return mesh_->num_points(); }

std::vector<std::uint32_t> DracoMesh::indices() const {
    std::vector<std::uint32_t> indices;
    indices.reserve(std::size_t{mesh_->num_faces()} * 3);
    for (std::uint32_t i = 0; i < mesh_->num_faces(); ++i)
        for (const draco::PointIndex& vertex : mesh_->face(draco::FaceIndex(i)))
            indices.push_back(vertex.value());
    return indices;
}

std::optional<std::string> DracoMesh::attribute(std::uint64_t id, std::uint64_t component,
                                                std::size_t size) const {
    constexpr std::uint64_t signed_byte = 5120, unsigned_byte = 5121, signed_short = 5122,
                            unsigned_short = 5123, single = 5126;
    if (id > std::numeric_limits<std::uint32_t>::max()) return std::nullopt;
    const auto* const found = mesh_->GetAttributeByUniqueId(static_cast<std::uint32_t>(id));
    const std::uint32_t vertices = mesh_->num_points();
    if (found == nullptr || found->num_components() != size || size > 4 || !is_of_gltf(found->data_type()) ||
        (!found->is_mapping_identity() && found->indices_map_size() < vertices) ||
        found->buffer() == nullptr ||
        found->size() > found->buffer()->data_size() / static_cast<std::size_t>(found->byte_stride()))
        return std::nullopt;
    switch (component) {
    case signed_byte:
        return packed<std::int8_t>(*found, vertices);
    case unsigned_byte:
        return packed<std::uint8_t>(*found, vertices);
    case signed_short:
        return packed<std::int16_t>(*found, vertices);
    case unsigned_short:
        return packed<std::uint16_t>(*found, vertices);
    case single:
        return packed<float>(*found, vertices);
    default:
        return std::nullopt;
    }
}

#else

bool reads_draco() { return false; }

DracoMesh::Decoded DracoMesh::decode(std::string_view /*stream*/, const Limits& /*limits*/) {
    return {.fault = "cannot be decoded, because this program was built without Draco"};
}

std::uint64_t DracoMesh::vertices() const { return 0; }

std::vector<std::uint32_t> DracoMesh::indices() const { return {}; }

std::optional<std::string> DracoMesh::attribute(std::uint64_t /*id*/, std::uint64_t /*component*/,
                                                std::size_t /*size*/) const {
    return std::nullopt;
}

#endif

std::optional<GltfDraco::Primitive> GltfDraco::primitive(const Json& json, const std::string& which) {
    constexpr std::uint64_t triangles = 4, strip = 5;
    const Json* const compression = extension(json, "KHR_draco_mesh_compression");
    if (compression == nullptr || !reads_draco()) return std::nullopt;
    const auto view = file_.reference(*compression, "bufferView", "bufferViews");
    const auto attributes = compression->find("attributes");
    if (!view || attributes == compression->end() || !attributes->is_object())
        file_.refuse(which +
                     " (KHR_draco_mesh_compression) has no bufferView or attributes; export it again");
    const std::uint64_t mode = file_.size(json, "mode", triangles);
    if (mode != triangles && mode != strip)
        file_.refuse(which + " (KHR_draco_mesh_compression) has the mode " + std::to_string(mode) +
                     ", which Draco has not; export it as triangles");
    std::optional<std::uint64_t> promised;
    if (const auto indices = file_.reference(json, "indices", "accessors")) {
        // A strip's are those of the strip that the triangles may become.
        const std::uint64_t count = file_.size(file_.list("accessors")[*indices], "count", 0);
        if (mode == triangles) promised = count;
        file_.leave_buffer_of(*indices);
    }
    const Stream& found = stream(*view, promised, which);
    return Primitive{*view, &found.mesh, &found.indices, &*attributes};
}

const GltfDraco::Stream& GltfDraco::stream(std::size_t view, std::optional<std::uint64_t> promised,
                                           const std::string& which) {
    auto known = streams_.find(view);
    if (known == streams_.end()) {
        const std::string_view bytes = file_.bytes_of_view(view);
        DracoMesh::Decoded decoded = DracoMesh::decode(bytes, {file_.room(), promised});
        if (!decoded.fault.empty())
            file_.refuse(which + " (KHR_draco_mesh_compression) " + decoded.fault + "; export it again");
        file_.take_room(decoded.bytes);
        known = streams_.emplace(view, Stream{std::move(decoded.mesh), {}, {}}).first;
        known->second.packed = known->second.mesh.indices();
        known->second.indices = GltfFile::indices(known->second.packed);
    }
    if (const std::uint64_t count = known->second.indices.count(); promised && count != *promised)
        file_.refuse(which + " (KHR_draco_mesh_compression) " + other_indices(count, *promised) +
                     "; export it again");
    return known->second;
}

const GltfAccessor* GltfDraco::attribute(const Primitive& primitive, const std::string& name,
                                         std::size_t index, std::string_view type, const std::string& of) {
    if (!primitive.attributes->contains(name)) return nullptr;
    const std::uint64_t id = file_.size(*primitive.attributes, name.c_str(), 0);
    const auto key = std::tuple(primitive.view, id, index, type);
    auto known = attributes_.find(key);
    if (known == attributes_.end()) {
        GltfAccessor accessor = file_.described(index, type, of);
        if (accessor.count() != primitive.mesh->vertices())
            file_.refuse(of + " (KHR_draco_mesh_compression) has " +
                         std::to_string(primitive.mesh->vertices()) + " vertices, and the accessor has " +
                         std::to_string(accessor.count()) + "; export it again");
        const std::uint64_t bytes = accessor.count() * accessor.size() * 4;
        if (bytes > file_.room())
            file_.refuse(of + " (KHR_draco_mesh_compression) is too much for a file of this size; export it "
                              "again");
        std::optional<std::string> packed =
            primitive.mesh->attribute(id, accessor.component(), accessor.size());
        if (!packed)
            file_.refuse(of + " (KHR_draco_mesh_compression) is not the attribute " + std::to_string(id) +
                         " of the stream, or not of this type; export it again");
        file_.take_room(bytes);
        file_.leave_buffer_of(index);
        known = attributes_.emplace(key, Attribute{*std::move(packed), std::move(accessor)}).first;
        known->second.accessor.read_from(known->second.packed.data());
    }
    return &known->second.accessor;
}

} // namespace path_tracer
