// glTF with KHR_draco_mesh_compression: the same scene as without.
#include "apps/error_of.hpp"
#include "apps/gltf_primitive_writer.hpp"
#include "apps/png_builder.hpp"
#include "apps/seeds.hpp"
#include "scene.hpp"
#include "vector_math.hpp"
#include <core/scratch_folder.hpp>
#include <headrace/core/error.hpp>

#include <gtest/gtest.h>

#ifdef HEADRACE_DRACO
    #include <draco/compression/decode.h>
    #include <draco/compression/encode.h>
#endif

#include <algorithm>
#include <array>
#include <cmath>
#include <tuple>

namespace path_tracer::test {
namespace {

using headrace::test::mentions;
using headrace::test::ScratchFolder;

constexpr const char* required =
    R"(,"extensionsUsed":["KHR_draco_mesh_compression"],"extensionsRequired":["KHR_draco_mesh_compression"])";

#ifdef HEADRACE_DRACO

/// What vertices have, each `size` numbers of it.
struct Attribute {
    std::string name;
    draco::GeometryAttribute::Type kind;
    draco::DataType type;
    std::size_t size;
    std::string bytes; ///< of all vertices

    [[nodiscard]] std::size_t stride() const {
        return size * static_cast<std::size_t>(draco::DataTypeLength(type));
    }
    [[nodiscard]] std::string type_in_gltf() const {
        const bool is_fraction = !name.starts_with("JOINTS");
        return std::string(type == draco::DT_FLOAT32 ? R"("componentType":5126)"
                                                     : R"("componentType":5121)") +
               (type == draco::DT_FLOAT32 || !is_fraction ? "" : R"(,"normalized":true)") +
               R"(,"type":"VEC)" + std::to_string(size) + '"';
    }
};

struct Parts {
    std::size_t vertices = 0;
    std::vector<Attribute> attributes;
    std::vector<unsigned> indices;
};

/// How a mesh is compressed.
struct Method {
    bool is_sequential = false;
    int speed = 5;
    int bits = 0; ///< of numbers; 0: they stay floats
};

/// A compressed primitive, and what it ought to become.
struct Compressed {
    Parts decoded;
    std::string stream;
};

void fill(draco::Mesh& mesh, const Parts& parts) {
    mesh.set_num_points(static_cast<std::uint32_t>(parts.vertices));
    for (std::size_t i = 0; i + 3 <= parts.indices.size(); i += 3)
        mesh.AddFace({draco::PointIndex(parts.indices[i]), draco::PointIndex(parts.indices[i + 1]),
                      draco::PointIndex(parts.indices[i + 2])});
    for (const Attribute& part : parts.attributes) {
        draco::GeometryAttribute attribute;
        attribute.Init(part.kind, nullptr, static_cast<std::uint8_t>(part.size), part.type,
                       part.type != draco::DT_FLOAT32, static_cast<std::int64_t>(part.stride()), 0);
        const int id = mesh.AddAttribute(attribute, true, static_cast<std::uint32_t>(parts.vertices));
        for (std::uint32_t i = 0; i < parts.vertices; ++i)
            mesh.attribute(id)->SetAttributeValue(draco::AttributeValueIndex(i),
                                                  part.bytes.data() + i * part.stride());
    }
}

Compressed compressed(const Parts& parts, const Method& method) {
    draco::Mesh given;
    fill(given, parts);
    draco::Encoder encoder;
    encoder.SetEncodingMethod(method.is_sequential ? draco::MESH_SEQUENTIAL_ENCODING
                                                   : draco::MESH_EDGEBREAKER_ENCODING);
    encoder.SetSpeedOptions(method.speed, method.speed);
    if (method.bits != 0)
        for (const auto kind : {draco::GeometryAttribute::POSITION, draco::GeometryAttribute::NORMAL,
                                draco::GeometryAttribute::TEX_COORD})
            encoder.SetAttributeQuantization(kind, method.bits);
    draco::EncoderBuffer stream;
    EXPECT_TRUE(encoder.EncodeMeshToBuffer(given, &stream).ok());
    Compressed result{{}, {stream.data(), stream.size()}};

    draco::DecoderBuffer buffer;
    buffer.Init(stream.data(), stream.size());
    draco::Decoder decoder;
    const auto mesh = std::move(decoder.DecodeMeshFromBuffer(&buffer)).value();
    result.decoded.vertices = mesh->num_points();
    for (std::uint32_t i = 0; i < mesh->num_faces(); ++i)
        for (const draco::PointIndex& vertex : mesh->face(draco::FaceIndex(i)))
            result.decoded.indices.push_back(vertex.value());
    for (std::size_t k = 0; k < parts.attributes.size(); ++k) {
        Attribute part = parts.attributes[k];
        const draco::PointAttribute& attribute = *mesh->GetAttributeByUniqueId(static_cast<std::uint32_t>(k));
        part.bytes.resize(mesh->num_points() * part.stride());
        for (std::uint32_t i = 0; i < mesh->num_points(); ++i)
            attribute.GetMappedValue(draco::PointIndex(i), part.bytes.data() + i * part.stride());
        result.decoded.attributes.push_back(part);
    }
    return result;
}

class GltfDraco : public Seeded {
protected:
    /// With a texture, so that its coordinates count.
    GltfPrimitiveWriter writer() {
        GltfPrimitiveWriter writer;
        writer.primitive = R"(,"material":0)";
        writer.extra =
            R"(,"materials":[{"pbrMetallicRoughness":{"baseColorTexture":{"index":0},"metallicFactor":0}}],)"
            R"("textures":[{"source":0}],"images":[{"uri":"data:image/png;base64,)" +
            picture_ + R"("}])";
        return writer;
    }
    GltfPrimitiveWriter plain(const Parts& parts) {
        GltfPrimitiveWriter plain = writer();
        for (const Attribute& part : parts.attributes)
            plain.add_attribute(part.name, plain.add_accessor(plain.add_plain_view(part.bytes),
                                                              parts.vertices, part.type_in_gltf()));
        plain.add_indices(plain.add_accessor(plain.add_plain_view(bytes_of(parts.indices)),
                                             parts.indices.size(),
                                             R"("componentType":5125,"type":"SCALAR")"));
        return plain;
    }
    /// `accessor_extra`: what its accessors have besides what they are
    GltfPrimitiveWriter written(const Compressed& mesh, const std::string& accessor_extra = "") {
        GltfPrimitiveWriter compressed = writer();
        compressed.extra += required;
        std::string ids;
        for (const Attribute& part : mesh.decoded.attributes) {
            compressed.add_attribute(
                part.name, compressed.add_accessor(R"("count":)" + std::to_string(mesh.decoded.vertices) +
                                                   ',' + part.type_in_gltf() + accessor_extra));
            ids += (ids.empty() ? "\"" : ",\"") + part.name +
                   "\":" + std::to_string(&part - mesh.decoded.attributes.data());
        }
        compressed.add_indices(compressed.add_accessor(
            R"("count":)" + std::to_string(mesh.decoded.indices.size()) +
            R"(,"componentType":5123,"type":"SCALAR")" + accessor_extra)); // of which type is no matter
        compressed.primitive += R"(,"extensions":{"KHR_draco_mesh_compression":{"bufferView":)" +
                                std::to_string(compressed.add_plain_view(mesh.stream)) +
                                R"(,"attributes":{)" + ids + "}}}";
        return compressed;
    }
    Scene load(const std::string& name, const std::string& content) {
        return load_scene(folder_.write(name, content), 0.5f);
    }

    /// A hilly field of so many vertices along each side, with holes.
    Parts field(unsigned side) {
        Parts parts{.vertices = std::size_t{side} * side, .attributes = {}, .indices = {}};
        std::vector<float> positions, normals, places;
        std::vector<std::uint8_t> colours;
        for (unsigned i = 0; i < parts.vertices; ++i) {
            const unsigned row = i / side;
            for (const double part : {i % side + between(-0.3, 0.3), between(0, 1), row + 0.1})
                positions.push_back(static_cast<float>(part));
            for (const double part : {between(-0.3, 0.3), 1.0, between(-0.3, 0.3)})
                normals.push_back(static_cast<float>(part));
            for (int k = 0; k < 4; ++k) colours.push_back(static_cast<std::uint8_t>(whole_between(0, 255)));
            for (int k = 0; k < 2; ++k) places.push_back(static_cast<float>(between(0, 1)));
        }
        using draco::GeometryAttribute;
        parts.attributes = {
            {"POSITION", GeometryAttribute::POSITION, draco::DT_FLOAT32, 3, bytes_of(positions)},
            {"NORMAL", GeometryAttribute::NORMAL, draco::DT_FLOAT32, 3, bytes_of(normals)},
            {"COLOR_0", GeometryAttribute::COLOR, draco::DT_UINT8, 4, bytes_of(colours)},
            {"TEXCOORD_0", GeometryAttribute::TEX_COORD, draco::DT_FLOAT32, 2, bytes_of(places)}};
        for (unsigned i = 0; i + 1 < side; ++i)
            for (unsigned j = 0; j + 1 < side; ++j) {
                const unsigned corner = i * side + j;
                if (whole_between(0, 9) > 0)
                    parts.indices.insert(parts.indices.end(), {corner, corner + 1, corner + side});
                if (whole_between(0, 9) > 0)
                    parts.indices.insert(parts.indices.end(), {corner + 1, corner + side + 1, corner + side});
            }
        return parts;
    }

    std::string picture_ = base64(png_of({.samples = {200, 100, 50}}));
    ScratchFolder folder_;
};
/// The triangles, each from its least corner on, in an order of their own.
std::vector<std::array<std::tuple<double, double, double>, 3>> sorted_triangles(const Scene& scene) {
    std::vector<std::array<std::tuple<double, double, double>, 3>> all;
    for (const SceneTriangle& t : scene.triangles) {
        std::array corners{std::tuple(t.a.x, t.a.y, t.a.z), std::tuple(t.b.x, t.b.y, t.b.z),
                           std::tuple(t.c.x, t.c.y, t.c.z)};
        std::rotate(corners.begin(), std::min_element(corners.begin(), corners.end()), corners.end());
        all.push_back(corners);
    }
    std::sort(all.begin(), all.end());
    return all;
}

double area(const Scene& scene) {
    double sum = 0;
    for (const SceneTriangle& t : scene.triangles) sum += length(cross(t.b - t.a, t.c - t.a)) / 2;
    return sum;
}

TEST_F(GltfDraco, AllMethodsShowTheSameScene) {
    const Parts parts = field(static_cast<unsigned>(whole_between(3, 20)));
    const Scene given = load("g.gltf", plain(parts).embedded());
    for (const Method& method : {Method{true, 5, 0}, Method{true, 5, 14}, Method{false, 0, 14},
                                 Method{false, 5, 14}, Method{false, 10, 14}, Method{false, 5, 0}}) {
        SCOPED_TRACE(testing::Message() << method.is_sequential << ' ' << method.speed << ' ' << method.bits);
        const Compressed mesh = compressed(parts, method);
        const GltfPrimitiveWriter file = written(mesh);
        const Scene plain_scene = load("p.gltf", plain(mesh.decoded).embedded());
        for (const Scene& scene : {load("c.gltf", file.embedded()), load("c.glb", file.binary())}) {
            expect_same(scene, plain_scene);
            EXPECT_EQ(scene.notes.size(), 0u) << scene.notes.at(0);
            EXPECT_EQ(scene.places.size(), scene.triangles.size());
            EXPECT_EQ(scene.colours.size(), scene.triangles.size());
            if (method.bits == 0)
                EXPECT_EQ(sorted_triangles(scene), sorted_triangles(given));
            else
                EXPECT_NEAR(area(scene), area(given), 0.01 * area(given)); // of 14 bits
        }
    }
}

TEST_F(GltfDraco, OneStreamMayBeShownManyTimes) {
    GltfPrimitiveWriter file = written(compressed(field(5), {}));
    std::string text = file.embedded();
    const std::size_t once = load("a.gltf", text).triangles.size();
    const std::string nodes = R"("scenes":[{"nodes":[0]}],"nodes":[{"mesh":0}])";
    text.replace(text.find(nodes), nodes.size(),
                 R"("scenes":[{"nodes":[0,1]}],"nodes":[{"mesh":0},{"mesh":0,"translation":[100,0,0]}])");
    EXPECT_EQ(load("a.gltf", text).triangles.size(), 2 * once);
}

TEST_F(GltfDraco, ThatJointsAndTargetsMoveIsMoved) {
    Parts parts = field(6);
    std::vector<std::uint8_t> joints, weights;
    for (std::size_t i = 0; i < parts.vertices; ++i)
        for (int k = 0; k < 4; ++k) {
            joints.push_back(static_cast<std::uint8_t>(whole_between(0, 1)));
            weights.push_back(k == 3 ? 255 : static_cast<std::uint8_t>(whole_between(0, 80)));
        }
    using draco::GeometryAttribute;
    parts.attributes.push_back(
        {"JOINTS_0", GeometryAttribute::GENERIC, draco::DT_UINT8, 4, bytes_of(joints)});
    parts.attributes.push_back(
        {"WEIGHTS_0", GeometryAttribute::GENERIC, draco::DT_UINT8, 4, bytes_of(weights)});
    for (const Method& method : {Method{true, 5, 0}, Method{false, 5, 14}}) {
        const Compressed mesh = compressed(parts, method);
        std::vector<float> moves; // in the order of the stream: no extension compresses targets
        for (std::size_t i = 0; i < 3 * mesh.decoded.vertices; ++i)
            moves.push_back(static_cast<float>(between(-1, 1)));
        const auto moved = [&](GltfPrimitiveWriter file) {
            file.primitive +=
                R"(,"targets":[{"POSITION":)" +
                std::to_string(file.add_accessor(file.add_plain_view(bytes_of(moves)), mesh.decoded.vertices,
                                                 R"("componentType":5126,"type":"VEC3")")) +
                "}]";
            file.extra += R"(,"skins":[{"joints":[1,2]}])";
            std::string text = file.embedded();
            const std::string nodes = R"("nodes":[{"mesh":0}])";
            text.replace(text.find(nodes), nodes.size(),
                         R"("nodes":[{"mesh":0,"skin":0,"weights":[0.5]},{"translation":[9,0,0]},)"
                         R"({"scale":[1,3,1],"translation":[0,7,0]}])");
            return load("m.gltf", text);
        };
        const Scene scene = moved(written(mesh));
        expect_same(scene, moved(plain(mesh.decoded)));
        EXPECT_GT(surroundings_of(scene).hi.y, 7);
    }
}

TEST_F(GltfDraco, AttributesThatTheStreamLacksArePlain) {
    Parts parts = field(6);
    const Scene plain_scene = load("p.gltf", plain(parts).embedded());
    const Attribute colours = parts.attributes[2];
    parts.attributes.erase(parts.attributes.begin() + 2);
    GltfPrimitiveWriter file = written(compressed(parts, {true, 5, 0})); // which keeps the order of vertices
    file.add_attribute("COLOR_0", file.add_accessor(file.add_plain_view(colours.bytes), parts.vertices,
                                                    colours.type_in_gltf()));
    expect_same(load("c.gltf", file.embedded()), plain_scene);
}

TEST_F(GltfDraco, PlainNumbersBesideItAreNotRead) {
    const Compressed mesh = compressed(field(6), {});
    const Scene plain_scene = load("p.gltf", plain(mesh.decoded).embedded());
    // View 0 is the stream itself, which makes no sense as numbers.
    expect_same(load("c.gltf", written(mesh, R"(,"bufferView":0)").embedded()), plain_scene);
    GltfPrimitiveWriter file = written(mesh, R"(,"bufferView":1)");
    file.add_buffer(R"("byteLength":99999,"uri":"lost.bin")");
    file.add_view(R"("buffer":1,"byteLength":99999)");
    const Scene scene = load("f.gltf", file.embedded());
    expect_same(scene, plain_scene);
    EXPECT_EQ(scene.notes.size(), 0u) << scene.notes.at(0);
}

TEST_F(GltfDraco, StripsAreTheirTriangles) {
    const Compressed mesh = compressed(field(6), {});
    const Scene plain_scene = load("p.gltf", plain(mesh.decoded).embedded());
    GltfPrimitiveWriter file = written(mesh);
    file.primitive += R"(,"mode":5)";
    expect_same(load("s.gltf", file.embedded()), plain_scene);
    file = written(mesh);
    file.primitive += R"(,"mode":6)";
    expect_refused(file.embedded(), "mode 6");
}

TEST_F(GltfDraco, WhatIsNotUsedMayBeDamaged) {
    GltfPrimitiveWriter file = written(compressed(field(4), {}));
    file.meshes =
        R"(,{"primitives":[{"attributes":{"POSITION":0},"extensions":{"KHR_draco_mesh_compression":7}}]})";
    EXPECT_GT(load("u.gltf", file.embedded()).triangles.size(), 0u);
}

TEST_F(GltfDraco, TruncatedStreamsAreReadOrRefused) {
    for (const Method& method : {Method{true, 5, 0}, Method{true, 5, 11}, Method{false, 5, 11}}) {
        const Compressed whole = compressed(field(6), method);
        for (std::size_t left = 0; left < whole.stream.size(); left += 1 + whole.stream.size() / 60) {
            Compressed mesh = whole;
            mesh.stream.resize(left);
            if (left < whole.stream.size() / 2) {
                expect_refused(written(mesh).embedded(), "KHR_draco_mesh_compression");
                continue;
            }
            expect_read_or_refused(written(mesh).embedded()); // of the last bytes, not all are looked at
        }
    }
}

TEST_F(GltfDraco, FlippedBytesAreReadOrRefused) {
    for (const Method& method :
         {Method{true, 5, 0}, Method{true, 5, 11}, Method{false, 0, 11}, Method{false, 5, 11}}) {
        const Compressed whole = compressed(field(8), method);
        for (int i = 0; i < 100; ++i) {
            Compressed mesh = whole;
            for (int flips = whole_between(1, 3); flips > 0; --flips)
                mesh.stream[static_cast<std::size_t>(whole_between(
                    0, static_cast<int>(mesh.stream.size()) - 1))] = static_cast<char>(whole_between(0, 255));
            expect_read_or_refused(written(mesh).embedded());
        }
    }
}

// The library takes seconds for a single one that it believes: see Promise::allows_prediction.
TEST_F(GltfDraco, HugeNumbersAnywhereEndSoon) {
    bool is_noticed = false;
    for (const Method& method : {Method{false, 0, 11}, Method{true, 5, 11}}) {
        const Compressed whole = compressed(field(4), method);
        for (std::size_t place = 11; place + 4 <= whole.stream.size(); ++place) {
            Compressed mesh = whole;
            mesh.stream.replace(place, 4, "\xff\xff\xff\x7f");
            try {
                static_cast<void>(read_bytes(written(mesh).embedded()));
            } catch (const headrace::Error& error) {
                EXPECT_TRUE(error.is_users_mistake()) << error.what();
                is_noticed = is_noticed || mentions(error, "2147483647 steps");
            }
        }
    }
    EXPECT_TRUE(is_noticed);
}

TEST_F(GltfDraco, WhatDoesNotFitIsRefused) {
    const Compressed mesh = compressed(field(6), {});
    const std::string good = written(mesh).embedded();
    const auto expect_bent = [&](const std::string& from, const std::string& to, const std::string& word) {
        std::string text = good;
        const std::size_t place = text.find(from);
        ASSERT_NE(place, std::string::npos) << from;
        expect_refused(text.replace(place, from.size(), to), word);
    };
    const std::string ids = R"("attributes":{"POSITION":0,"NORMAL":1,)";
    expect_bent(ids, R"("attributes":{"POSITION":0,"NORMAL":77,)", "NORMAL");
    expect_bent(ids, R"("attributes":{"POSITION":4294967296,"NORMAL":1,)", "POSITION");
    expect_bent(ids, R"("attributes":{"POSITION":"0","NORMAL":1,)", "POSITION");
    expect_bent(ids, R"("attributes":{"POSITION":3,"NORMAL":1,)", "POSITION"); // has two numbers
    expect_bent(R"("KHR_draco_mesh_compression":{"bufferView":0)",
                R"("KHR_draco_mesh_compression":{"bufferView":9)", "bufferView");
    expect_bent(R"("KHR_draco_mesh_compression":{"bufferView":0)",
                R"("KHR_draco_mesh_compression":{"view":0)", "bufferView");
    const std::string vertices = R"("count":)" + std::to_string(mesh.decoded.vertices);
    const std::string indices = R"("count":)" + std::to_string(mesh.decoded.indices.size()) + ',';
    for (const char* wrong : {"0", "3", "1000", "1000000000000"}) {
        expect_bent(vertices + ',', R"("count":)" + std::string(wrong) + ',', "vertices");
        expect_bent(indices, R"("count":)" + std::string(wrong) + ',', "indices");
    }
}

TEST_F(GltfDraco, StreamsThatPromiseTooMuchAreRefused) {
    const auto varint = [](std::uint32_t number) {
        std::string bytes;
        for (; number >= 128; number >>= 7) bytes += static_cast<char>((number & 127) | 128);
        return bytes + static_cast<char>(number);
    };
    const std::string head("DRACO\2\2\1", 8);
    Compressed mesh = compressed(field(3), {});
    const auto expect_promise = [&](const std::string& rest, const std::string& word) {
        mesh.stream = head + rest + std::string(100, '\0');
        GltfPrimitiveWriter file = written(mesh);
        std::string text = file.embedded();
        const std::size_t indices = text.find(R"(,"indices":)"); // so that nothing else says how many
        text.erase(indices, text.find(',', indices + 1) - indices);
        expect_refused(text, word);
    };
    const std::string edgebreaker = std::string("\1\0\0\0", 4), sequential("\0\0\0", 3);
    expect_promise(edgebreaker + varint(1000000000) + varint(1000000000), "promises 1000000000 triangles");
    expect_promise(edgebreaker + varint(1000000) + varint(1000000) + '\xff', "promises 1000000 triangles");
    expect_promise(sequential + varint(4294967295) + varint(4294967295), "promises 4294967295 triangles");
    expect_promise(std::string("\2\0\0", 3), "not of triangles");
    mesh.stream = "DRACO";
    expect_refused(written(mesh).embedded(), "no stream");
    mesh.stream = "DRACO\1\1\1\1" + std::string(100, '\0');
    expect_refused(written(mesh).embedded(), "version 1.1");
}

#else

using headrace::test::error_of;

TEST(GltfDraco, IsRefusedInWordsWithoutTheLibrary) {
    const ScratchFolder folder;
    GltfParts parts;
    parts.extra = R"(,"extensionsUsed":["KHR_draco_mesh_compression"])";
    parts.primitive_extra = R"(,"extensions":{"KHR_draco_mesh_compression":{"bufferView":7}})";
    const auto load = [&](const std::string& text) { return load_scene(folder.write("d.gltf", text), 0.5f); };
    EXPECT_EQ(load(parts.embedded()).triangles.size(), 1u);
    EXPECT_EQ(load(parts.embedded()).notes.size(), 0u); // nothing is missing
    std::string text = parts.embedded();                // without the plain numbers nothing is left to show
    text.replace(text.find(R"("accessors":[{"bufferView":0,)"), 29, R"("accessors":[{)");
    EXPECT_TRUE(mentions(error_of([&] { static_cast<void>(load(text)); }), "libdraco-dev"));
    parts.extra += required;
    EXPECT_TRUE(mentions(error_of([&] { static_cast<void>(load(parts.embedded())); }), "draco"));
}

TEST(GltfDraco, ShowsTheSameScene) { GTEST_SKIP() << "this was built without Draco (libdraco-dev)"; }

#endif

} // namespace
} // namespace path_tracer::test
