// glTF with EXT_meshopt_compression: the same scene as without.
#include "apps/error_of.hpp"
#include "apps/gltf_primitive_writer.hpp"
#include "apps/seeds.hpp"
#include "scene.hpp"
#include <core/scratch_folder.hpp>
#include <headrace/core/error.hpp>

#include <gtest/gtest.h>

#ifdef HEADRACE_MESHOPTIMIZER
    #include <meshoptimizer.h>
#endif

#include <algorithm>
#include <cmath>
#include <cstring>

namespace path_tracer::test {
namespace {

using headrace::test::ScratchFolder;

constexpr const char* floats = R"("componentType":5126,"type":"VEC3")";
constexpr const char* required =
    R"(,"extensionsUsed":["EXT_meshopt_compression"],"extensionsRequired":["EXT_meshopt_compression"])";

#ifdef HEADRACE_MESHOPTIMIZER

/// A view: what it becomes, and how it is compressed.
struct Compressed {
    std::string bytes; ///< that it becomes
    std::string stream;
    std::size_t count, stride;
    std::string mode, filter = "NONE";
};

Compressed attributes(const std::string& bytes, std::size_t stride, const std::string& raw,
                      const std::string& filter = "NONE") {
    const std::size_t count = raw.size() / stride;
    std::vector<unsigned char> stream(meshopt_encodeVertexBufferBound(count, stride));
    stream.resize(meshopt_encodeVertexBuffer(stream.data(), stream.size(), raw.data(), count, stride));
    return {bytes, bytes_of(stream), count, stride, "ATTRIBUTES", filter};
}

/// As 16 or 32 bits, by the number of bytes that each has.
std::string packed(const std::vector<unsigned>& indices, std::size_t stride) {
    if (stride == 4) return bytes_of(indices);
    return bytes_of(std::vector<std::uint16_t>(indices.begin(), indices.end()));
}

Compressed indices(const std::vector<unsigned>& given, std::size_t stride, bool are_triangles) {
    std::vector<unsigned char> stream(std::max(meshopt_encodeIndexBufferBound(given.size(), 1 << 16),
                                               meshopt_encodeIndexSequenceBound(given.size(), 1 << 16)));
    stream.resize(
        are_triangles
            ? meshopt_encodeIndexBuffer(stream.data(), stream.size(), given.data(), given.size())
            : meshopt_encodeIndexSequence(stream.data(), stream.size(), given.data(), given.size()));
    // The codec of triangles may begin a triangle at another corner.
    std::vector<unsigned> decoded(given);
    if (are_triangles &&
        meshopt_decodeIndexBuffer(decoded.data(), decoded.size(), 4, stream.data(), stream.size()) != 0)
        ADD_FAILURE() << "what was encoded is not decoded";
    return {packed(decoded, stride), bytes_of(stream), given.size(), stride,
            are_triangles ? "TRIANGLES" : "INDICES"};
}

class GltfMeshopt : public Seeded {
protected:
    /// `fallback`: the buffer where the plain numbers would be
    static std::size_t add_view(GltfPrimitiveWriter& writer, const Compressed& view, bool is_compressed,
                                std::size_t fallback) {
        const std::string stride =
            view.mode == "ATTRIBUTES" ? R"(,"byteStride":)" + std::to_string(view.stride) : "";
        if (!is_compressed) return writer.add_plain_view(view.bytes, stride);
        return writer.add_view(R"("buffer":)" + std::to_string(fallback) + R"(,"byteLength":)" +
                               std::to_string(view.bytes.size()) + stride +
                               R"(,"extensions":{"EXT_meshopt_compression":{"buffer":0,"byteOffset":)" +
                               std::to_string(writer.add_bytes(view.stream)) + R"(,"byteLength":)" +
                               std::to_string(view.stream.size()) + R"(,"byteStride":)" +
                               std::to_string(view.stride) + R"(,"count":)" + std::to_string(view.count) +
                               R"(,"mode":")" + view.mode + '"' +
                               (view.filter == "NONE" ? "" : R"(,"filter":")" + view.filter + '"') + "}}");
    }

    /// A primitive of positions and indices, and perhaps more.
    struct Parts {
        Compressed positions, indices;
        std::string type = floats; ///< of the positions
        std::vector<std::pair<std::string, Compressed>> more{};
    };
    GltfPrimitiveWriter written(const Parts& parts, bool is_compressed) {
        GltfPrimitiveWriter writer;
        std::size_t fallback = 0;
        if (is_compressed) {
            fallback = writer.add_buffer(fallback_);
            writer.extra = required;
        }
        const auto view = [&](const Compressed& what) {
            return add_view(writer, what, is_compressed, fallback);
        };
        writer.add_attribute("POSITION",
                             writer.add_accessor(view(parts.positions), parts.positions.count, parts.type));
        for (const auto& [name, what] : parts.more)
            writer.add_attribute(
                name, writer.add_accessor(view(what), what.count,
                                          name == "NORMAL"
                                              ? R"("componentType":5120,"normalized":true,"type":"VEC3")"
                                              : R"("componentType":5121,"normalized":true,"type":"VEC4")"));
        writer.add_indices(writer.add_accessor(view(parts.indices), parts.indices.count,
                                               parts.indices.stride == 2
                                                   ? R"("componentType":5123,"type":"SCALAR")"
                                                   : R"("componentType":5125,"type":"SCALAR")"));
        return writer;
    }
    Scene load(const std::string& name, const std::string& content) {
        return load_scene(folder_.write(name, content), 0.5f);
    }
    void expect_same_scene(const Parts& parts) {
        const GltfPrimitiveWriter compressed = written(parts, true);
        const Scene plain = load("p.gltf", written(parts, false).embedded());
        for (const Scene& scene :
             {load("c.gltf", compressed.embedded()), load("c.glb", compressed.binary())}) {
            expect_same(scene, plain);
            EXPECT_EQ(scene.notes.size(), 0u) << scene.notes.at(0);
        }
    }

    std::vector<float> random_floats(std::size_t count, double least, double most) {
        std::vector<float> numbers(count);
        for (float& number : numbers) number = static_cast<float>(between(least, most));
        return numbers;
    }
    std::vector<unsigned> random_indices(std::size_t count, int vertices) {
        std::vector<unsigned> numbers(count);
        for (unsigned& number : numbers) number = static_cast<unsigned>(whole_between(0, vertices - 1));
        return numbers;
    }
    Parts random_parts(int vertices, std::size_t stride, bool are_triangles) {
        const std::string positions =
            bytes_of(random_floats(static_cast<std::size_t>(vertices) * 3, -10, 10));
        return {attributes(positions, 12, positions),
                indices(random_indices(3 * static_cast<std::size_t>(whole_between(50, 400)), vertices),
                        stride, are_triangles)};
    }

    std::string fallback_ =
        R"("byteLength":1000000,"extensions":{"EXT_meshopt_compression":{"fallback":true}})";
    ScratchFolder folder_;
};
TEST_F(GltfMeshopt, AllModesShowTheSameScene) {
    for (const bool are_triangles : {true, false})
        for (const std::size_t stride : {2, 4}) {
            SCOPED_TRACE(std::to_string(stride) + (are_triangles ? " triangles" : " indices"));
            const int vertices = whole_between(3, 2000);
            Parts parts = random_parts(vertices, stride, are_triangles);
            std::vector<std::int8_t> normals(static_cast<std::size_t>(vertices) * 4);
            std::vector<std::uint8_t> colours(normals.size());
            for (std::int8_t& part : normals) part = static_cast<std::int8_t>(whole_between(-127, 127));
            for (std::uint8_t& part : colours) part = static_cast<std::uint8_t>(whole_between(0, 255));
            parts.more = {{"NORMAL", attributes(bytes_of(normals), 4, bytes_of(normals))},
                          {"COLOR_0", attributes(bytes_of(colours), 4, bytes_of(colours))}};
            expect_same_scene(parts);
        }
}

/// Places that a filter has room for: each is four numbers, of which three are shown.
TEST_F(GltfMeshopt, AllFiltersShowTheSameScene) {
    constexpr std::size_t vertices = 300;
    const auto unit = [&](bool is_quaternion) {
        std::vector<float> all;
        for (std::size_t i = 0; i < vertices; ++i) {
            std::vector<float> one = random_floats(is_quaternion ? 4 : 3, -1, 1);
            float squares = 0;
            for (const float part : one) squares += part * part;
            const auto largest = std::max_element(one.begin(), one.end(),
                                                  [](float a, float b) { return std::abs(a) < std::abs(b); });
            // A quaternion and its negative are the same turn, of which the filter keeps one.
            const float scale = (is_quaternion && *largest < 0 ? -1.0f : 1.0f) / std::sqrt(squares);
            for (float& part : one) part *= scale;
            one.resize(4);
            all.insert(all.end(), one.begin(), one.end());
        }
        return all;
    };
    const auto expect_near = [](const std::string& bytes, const std::vector<float>& given, auto number,
                                double tolerance) {
        for (std::size_t i = 0; i < given.size(); ++i) {
            std::memcpy(&number, bytes.data() + i * sizeof number, sizeof number);
            const double scale = sizeof number == 4 ? 1 : sizeof number == 2 ? 32767 : 127;
            ASSERT_NEAR(number / scale, given[i], tolerance) << i;
        }
    };
    const Compressed order = indices(random_indices(600, 300), 2, true);
    for (const std::size_t stride : {4, 8}) {
        SCOPED_TRACE(stride);
        std::vector<float> given = unit(false);
        std::string raw(vertices * stride, '\0');
        meshopt_encodeFilterOct(raw.data(), vertices, stride, stride == 4 ? 8 : 12, given.data());
        std::string bytes = raw;
        meshopt_decodeFilterOct(bytes.data(), vertices, stride);
        // Of 8 bits and of 12, with the corners of the octahedron stretched by up to three.
        if (stride == 4)
            expect_near(bytes, given, std::int8_t{}, 0.03);
        else
            expect_near(bytes, given, std::int16_t{}, 2e-3);
        expect_same_scene({attributes(bytes, stride, raw, "OCTAHEDRAL"), order,
                           stride == 4 ? R"("componentType":5120,"normalized":true,"type":"VEC3")"
                                       : R"("componentType":5122,"normalized":true,"type":"VEC3")"});
    }
    {
        std::vector<float> given = unit(true);
        std::string raw(vertices * 8, '\0');
        meshopt_encodeFilterQuat(raw.data(), vertices, 8, 12, given.data());
        std::string bytes = raw;
        meshopt_decodeFilterQuat(bytes.data(), vertices, 8);
        expect_near(bytes, given, std::int16_t{}, 2e-3); // the largest part takes the errors of the others
        expect_same_scene({attributes(bytes, 8, raw, "QUATERNION"), order,
                           R"("componentType":5122,"normalized":true,"type":"VEC3")"});
    }
    {
        std::vector<float> given = random_floats(vertices * 3, -1, 1);
        std::string raw(vertices * 12, '\0');
        meshopt_encodeFilterExp(raw.data(), vertices, 12, 15, given.data());
        std::string bytes = raw;
        meshopt_decodeFilterExp(bytes.data(), vertices, 12);
        expect_near(bytes, given, float{}, 1e-4); // of 15 bits, one is the sign
        expect_same_scene({attributes(bytes, 12, raw, "EXPONENTIAL"), order});
    }
}

TEST_F(GltfMeshopt, TheFallbackIsNotRead) {
    const Parts parts = random_parts(20, 2, true);
    const Scene plain = load("p.gltf", written(parts, false).embedded());
    for (const char* buffer : {R"("byteLength":1000000)", R"("byteLength":1000000,"uri":"lost.bin")",
                               R"("byteLength":1000000,"uri":"data:a;base64,AAAA")"}) {
        fallback_ = buffer;
        const Scene scene = load("f.gltf", written(parts, true).embedded());
        expect_same(scene, plain);
        EXPECT_EQ(scene.notes.size(), 0u) << scene.notes.at(0);
    }
}

TEST_F(GltfMeshopt, WhatIsNotUsedMayBeDamaged) {
    Parts parts = random_parts(20, 2, true);
    GltfPrimitiveWriter writer = written(parts, true);
    parts.positions.mode = "NONSENSE";
    writer.add_accessor(add_view(writer, parts.positions, true, 1), 20, floats);
    EXPECT_GT(load("u.gltf", writer.embedded()).triangles.size(), 0u);
}

TEST_F(GltfMeshopt, TruncatedStreamsAreRefused) {
    for (const bool are_triangles : {false, true}) {
        const Parts whole = random_parts(12, 2, are_triangles);
        for (const bool is_of_indices : {false, true}) {
            const std::size_t size = (is_of_indices ? whole.indices : whole.positions).stream.size();
            for (std::size_t left = 0; left < size; left += 1 + size / 40) {
                Parts parts = whole;
                (is_of_indices ? parts.indices : parts.positions).stream.resize(left);
                expect_refused(written(parts, true).embedded(), "EXT_meshopt_compression");
            }
        }
    }
}

TEST_F(GltfMeshopt, FlippedBytesAreReadOrRefused) {
    const Parts whole[] = {random_parts(60, 2, false), random_parts(60, 2, true)};
    for (int i = 0; i < 600; ++i) {
        Parts parts = whole[i % 2];
        std::string& stream = (i % 4 < 2 ? parts.indices : parts.positions).stream;
        for (int flips = whole_between(1, 4); flips > 0; --flips)
            stream[static_cast<std::size_t>(whole_between(0, static_cast<int>(stream.size()) - 1))] =
                static_cast<char>(whole_between(0, 255));
        expect_read_or_refused(written(parts, true).embedded());
    }
}

TEST_F(GltfMeshopt, WhatTheExtensionDoesNotAllowIsRefused) {
    const Parts parts = random_parts(48, 2, true);
    const std::string good = written(parts, true).embedded();
    const auto expect_bent = [&](const std::string& from, const std::string& to, const std::string& word) {
        std::string text = good;
        const std::size_t place = text.find(from);
        ASSERT_NE(place, std::string::npos) << from;
        expect_refused(text.replace(place, from.size(), to), word);
    };
    const std::string mode = R"("mode":"ATTRIBUTES")", stride = R"(,"byteStride":12,"count":48)";
    const std::string triangles = R"(,"byteStride":2,"count":)" + std::to_string(parts.indices.count);
    expect_bent(mode, R"("mode":"MAGIC")", "MAGIC");
    expect_bent(mode, R"("mode":3)", "mode");
    expect_bent(mode, R"("mode":"TRIANGLES")", "byteStride");
    expect_bent(mode, R"("mode":"ATTRIBUTES","filter":"BLUR")", "BLUR");
    expect_bent(mode, R"("mode":"ATTRIBUTES","filter":"OCTAHEDRAL")", "OCTAHEDRAL");
    expect_bent(mode, R"("mode":"ATTRIBUTES","filter":"QUATERNION")", "QUATERNION");
    expect_bent(R"("mode":"TRIANGLES")", R"("mode":"TRIANGLES","filter":"EXPONENTIAL")", "EXPONENTIAL");
    for (const char* wrong : {"0", "2", "10", "260", "4294967296"})
        expect_bent(stride, R"(,"byteStride":)" + std::string(wrong) + R"(,"count":48)", "byteStride");
    expect_bent(stride, R"(,"byteStride":8,"count":72)", "otherwise");
    expect_bent(stride, R"(,"byteStride":-12,"count":48)", "size");
    for (const char* wrong : {"47", "49"})
        expect_bent(stride, R"(,"byteStride":12,"count":)" + std::string(wrong), "otherwise");
    for (const char* wrong : {"480000", "1000000000000"})
        expect_bent(stride, R"(,"byteStride":12,"count":)" + std::string(wrong), "too few");
    expect_bent(triangles, R"(,"byteStride":3,"count":3)", "neither 2 nor 4");
    expect_bent(triangles, R"(,"byteStride":2,"count":4)", "not triangles");
    expect_bent(triangles, R"(,"byteStride":2,"count":3000000)", "too few");
    expect_bent(R"("EXT_meshopt_compression":{"buffer":0)", R"("EXT_meshopt_compression":{"buffer":7)", "7");
    expect_bent(R"("EXT_meshopt_compression":{"buffer":0)", R"("EXT_meshopt_compression":{"buffer":1)",
                "no data");
    expect_bent(R"({"buffer":0,"byteOffset":0)", R"({"buffer":0,"byteOffset":99999)", "reaches past");
}

#else

using headrace::test::error_of;
using headrace::test::mentions;

TEST(GltfMeshopt, IsRefusedInWordsWithoutTheLibrary) {
    const ScratchFolder folder;
    GltfPrimitiveWriter writer;
    writer.add_buffer(R"("byteLength":36,"extensions":{"EXT_meshopt_compression":{"fallback":true}})");
    writer.add_attribute(
        "POSITION",
        writer.add_accessor(
            writer.add_view(R"("buffer":1,"byteLength":36,"extensions":{"EXT_meshopt_compression":{}})"), 3,
            floats));
    const auto refusal = [&] {
        return error_of(
            [&] { static_cast<void>(load_scene(folder.write("a.gltf", writer.embedded()), 0.5f)); });
    };
    EXPECT_TRUE(mentions(refusal(), "libmeshoptimizer-dev"));
    writer.extra = required;
    EXPECT_TRUE(mentions(refusal(), "EXT_meshopt_compression"));
}

TEST(GltfMeshopt, ShowsTheSameScene) {
    GTEST_SKIP() << "this was built without meshoptimizer (libmeshoptimizer-dev)";
}

#endif

} // namespace
} // namespace path_tracer::test
