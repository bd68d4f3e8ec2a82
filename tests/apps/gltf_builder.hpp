// tests/apps/gltf_builder.hpp - glTF with one buffer of 3 positions and 3 indices, to be bent where a test
// wants it.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

namespace path_tracer::test {

inline std::string base64(const std::string& bytes) {
    constexpr char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    std::string text;
    for (std::size_t i = 0; i < bytes.size(); i += 3) {
        std::uint32_t bits = 0;
        for (std::size_t j = 0; j < 3; ++j)
            bits = bits << 8 | (i + j < bytes.size() ? static_cast<unsigned char>(bytes[i + j]) : 0u);
        for (std::size_t j = 0; j < 4; ++j)
            text += i + j <= bytes.size() ? letters[bits >> (18 - 6 * j) & 63] : '=';
    }
    return text;
}

/// A .glb of this JSON and its binary chunk.
inline std::string glb_of(std::string text, std::string bytes) {
    std::string glb = "glTF";
    text.resize((text.size() + 3) / 4 * 4, ' ');
    bytes.resize((bytes.size() + 3) / 4 * 4, '\0');
    const auto word = [&glb](std::size_t value) {
        const auto fixed = static_cast<std::uint32_t>(value);
        glb.append(reinterpret_cast<const char*>(&fixed), 4);
    };
    word(2);
    word(28 + text.size() + bytes.size());
    word(text.size());
    glb += "JSON" + text;
    word(bytes.size());
    return glb + std::string("BIN\0", 4) + bytes;
}

/// A box around the origin, from -half to half: corners, and triangles that run counter-clockwise as seen
/// from outside.
struct BoxParts {
    std::array<float, 24> corners{};
    std::vector<std::uint16_t> indices{};

    explicit BoxParts(float half) {
        for (std::size_t i = 0; i < 8; ++i)
            for (std::size_t axis = 0; axis < 3; ++axis)
                corners[3 * i + axis] = (i >> axis & 1) != 0 ? half : -half;
        for (const auto& [a, b, c, d] : {std::array<std::uint16_t, 4>{0, 4, 6, 2},
                                         {1, 3, 7, 5},
                                         {0, 1, 5, 4},
                                         {2, 6, 7, 3},
                                         {0, 2, 3, 1},
                                         {4, 5, 7, 6}})
            for (const std::uint16_t index : {a, b, c, a, c, d}) indices.push_back(index);
    }
};

struct GltfParts {
    std::vector<float> positions = {0, 0, 0, 1, 0, 0, 0, 1, 0};
    std::vector<std::uint16_t> indices = {0, 1, 2};
    int position_count = 3, index_count = 3, byte_length = 42;
    std::string primitive_extra; ///< such as `,"material":0`
    std::string nodes = R"({"mesh":0})";
    std::string roots = "0";
    std::string extra; ///< such as `,"materials":[...]`

    [[nodiscard]] std::string buffer() const {
        std::string bytes(positions.size() * 4 + indices.size() * 2, '\0');
        std::memcpy(bytes.data(), positions.data(), positions.size() * 4);
        std::memcpy(bytes.data() + positions.size() * 4, indices.data(), indices.size() * 2);
        return bytes;
    }
    /// `uri`: what is behind the buffer; empty: a .glb's binary chunk.
    [[nodiscard]] std::string json(const std::string& uri) const {
        return R"({"asset":{"version":"2.0"},"scene":0,"scenes":[{"nodes":[)" + roots + R"(]}],"nodes":[)" +
               nodes + R"(],"meshes":[{"primitives":[{"attributes":{"POSITION":0},"indices":1)" +
               primitive_extra +
               R"(}]}],"accessors":[{"bufferView":0,"componentType":5126,"type":"VEC3","min":[0,0,0],"max":[1,1,0],"count":)" +
               std::to_string(position_count) +
               R"(},{"bufferView":1,"componentType":5123,"type":"SCALAR","count":)" +
               std::to_string(index_count) +
               R"(}],"bufferViews":[{"buffer":0,"byteLength":36},{"buffer":0,"byteOffset":36,"byteLength":6}],"buffers":[{"byteLength":)" +
               std::to_string(byte_length) + (uri.empty() ? "" : R"(,"uri":")" + uri + '"') + "}]" + extra +
               "}";
    }
    [[nodiscard]] std::string embedded() const {
        return json("data:application/octet-stream;base64," + base64(buffer()));
    }
    [[nodiscard]] std::string binary() const { return glb_of(json(""), buffer()); }
};

} // namespace path_tracer::test
