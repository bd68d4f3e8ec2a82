// tests/end_to_end/glowing_triangle.hpp - a glTF file with one triangle, for tests of what is shown of it.
#pragma once
#include <string>

namespace headrace::end_to_end {

inline const std::string perspective_camera =
    R"({"type":"perspective","perspective":{"yfov":0.7853981633974483,"znear":0.1}})";

/// One triangle, (0, 0, 0) (1, 0, 0) (0, 1, 0), which glows red; its numbers are in the file `uri`.
inline std::string glowing_triangle(const std::string& uri, const std::string& nodes,
                                    const std::string& roots = "0",
                                    const std::string& camera = perspective_camera) {
    return R"({"asset":{"version":"2.0"},"scene":0,"scenes":[{"nodes":[)" + roots + R"(]}],"nodes":[)" +
           nodes +
           R"(],"meshes":[{"primitives":[{"attributes":{"POSITION":0},"material":0}]}],"materials":[{"emissiveFactor":[0.25,0,0],)"
           R"("pbrMetallicRoughness":{"baseColorFactor":[0,0,0,1],"metallicFactor":0}}],)"
           R"("cameras":[)" +
           camera +
           R"(],)"
           R"("accessors":[{"bufferView":0,"componentType":5126,"count":3,"type":"VEC3"}],)"
           R"("bufferViews":[{"buffer":0,"byteLength":36}],"buffers":[{"byteLength":36,"uri":")" +
           uri + R"("}]})";
}
inline std::string triangle_numbers() {
    constexpr float numbers[] = {0, 0, 0, 1, 0, 0, 0, 1, 0};
    return {reinterpret_cast<const char*>(numbers), sizeof numbers};
}

} // namespace headrace::end_to_end
