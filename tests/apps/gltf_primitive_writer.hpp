// tests/apps/gltf_primitive_writer.hpp - glTF of one primitive, put together part by part, and what scenes of
// such have in common.
#pragma once
#include "apps/error_of.hpp"
#include "apps/gltf_builder.hpp"
#include "scene_readers.hpp"
#include <headrace/core/error.hpp>

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace path_tracer::test {

/// The numbers one behind the other, as a file has them.
template <class Number>
std::string bytes_of(const std::vector<Number>& numbers) {
    return {reinterpret_cast<const char*>(numbers.data()), numbers.size() * sizeof(Number)};
}

class GltfPrimitiveWriter {
public:
    /// Appends to buffer 0, and returns where.
    std::size_t add_bytes(const std::string& bytes) {
        buffer_.resize((buffer_.size() + 3) / 4 * 4, '\0');
        const std::size_t begin = buffer_.size();
        buffer_ += bytes;
        return begin;
    }
    /// These return the place in their list. `json`: without its braces
    std::size_t add_view(const std::string& json) { return add(views_, view_count_, json); }
    std::size_t add_accessor(const std::string& json) { return add(accessors_, accessor_count_, json); }
    std::size_t add_buffer(const std::string& json) { return add(buffers_, buffer_count_, json); }
    std::size_t add_plain_view(const std::string& bytes, const std::string& more = "") {
        return add_view(R"("buffer":0,"byteOffset":)" + std::to_string(add_bytes(bytes)) +
                        R"(,"byteLength":)" + std::to_string(bytes.size()) + more);
    }
    /// `type`: such as `"componentType":5126,"type":"VEC3"`
    std::size_t add_accessor(std::size_t view, std::size_t count, const std::string& type) {
        return add_accessor(R"("bufferView":)" + std::to_string(view) + R"(,"count":)" +
                            std::to_string(count) + ',' + type);
    }
    void add_attribute(const std::string& name, std::size_t accessor) {
        attributes += (attributes.empty() ? "\"" : ",\"") + name + "\":" + std::to_string(accessor);
    }
    void add_indices(std::size_t accessor) { primitive += R"(,"indices":)" + std::to_string(accessor); }

    [[nodiscard]] std::string json(const std::string& uri) const {
        return R"({"asset":{"version":"2.0"},"scenes":[{"nodes":[0]}],"nodes":[{"mesh":0}],"meshes":[{"primitives":[{"attributes":{)" +
               attributes + "}" + primitive + "}]}" + meshes + R"(],"accessors":[)" + accessors_ +
               R"(],"bufferViews":[)" + views_ + R"(],"buffers":[{"byteLength":)" +
               std::to_string(buffer_.size()) + (uri.empty() ? "" : R"(,"uri":")" + uri + '"') + "}" +
               (buffers_.empty() ? "" : "," + buffers_) + "]" + extra + "}";
    }
    [[nodiscard]] std::string embedded() const {
        return json("data:application/octet-stream;base64," + base64(buffer_));
    }
    [[nodiscard]] std::string binary() const { return glb_of(json(""), buffer_); }

    std::string attributes, primitive; ///< what is in them and behind them
    std::string meshes;                ///< others, which nothing shows: such as `,{"primitives":[]}`
    std::string extra;                 ///< such as `,"materials":[...]`

private:
    static std::size_t add(std::string& list, std::size_t& count, const std::string& json) {
        list += (list.empty() ? "{" : ",{") + json + "}";
        return count++;
    }

    std::string buffer_, buffers_, views_, accessors_;
    std::size_t view_count_ = 0, accessor_count_ = 0, buffer_count_ = 1;
};

/// What a file with these bytes and no other beside it is read as.
inline Scene read_bytes(const std::string& bytes) {
    return read_gltf(SceneFiles("no folder/r.gltf", {}), bytes, 0.5f);
}

/// A damaged file is refused in words, if anything of it is noticed.
inline void expect_read_or_refused(const std::string& bytes) {
    try {
        static_cast<void>(read_bytes(bytes));
    } catch (const headrace::Error& error) {
        EXPECT_TRUE(error.is_users_mistake()) << error.what();
    }
}

inline void expect_refused(const std::string& bytes, const std::string& word) {
    const headrace::Error error = headrace::test::error_of([&] { static_cast<void>(read_bytes(bytes)); });
    EXPECT_TRUE(error.is_users_mistake() && headrace::test::mentions(error, word) &&
                headrace::test::mentions(error, "r.gltf"))
        << word << ": " << error.what();
}

/// Both show the same triangles, with all that their corners have.
inline void expect_same(const Scene& left, const Scene& right) {
    ASSERT_EQ(left.triangles.size(), right.triangles.size());
    EXPECT_EQ(left.normals, right.normals);
    for (std::size_t i = 0; i < left.triangles.size(); ++i) {
        const SceneTriangle &a = left.triangles[i], &b = right.triangles[i];
        ASSERT_TRUE(a.a == b.a && a.b == b.b && a.c == b.c && a.normals == b.normals &&
                    a.colours == b.colours && a.places == b.places)
            << "triangle " << i;
    }
    ASSERT_EQ(left.colours.size(), right.colours.size());
    for (std::size_t i = 0; i < left.colours.size(); ++i)
        for (std::size_t k = 0; k < 3; ++k) {
            const CornerColour &a = left.colours[i][k], &b = right.colours[i][k];
            ASSERT_TRUE(a.colour.r == b.colour.r && a.colour.g == b.colour.g && a.colour.b == b.colour.b &&
                        a.opacity == b.opacity)
                << "colour " << i;
        }
    ASSERT_EQ(left.places.size(), right.places.size());
    for (std::size_t i = 0; i < left.places.size(); ++i)
        for (std::size_t k = 0; k < 3; ++k)
            ASSERT_TRUE(left.places[i][k].u == right.places[i][k].u &&
                        left.places[i][k].v == right.places[i][k].v)
                << "place " << i;
}

} // namespace path_tracer::test
