// tests/apps/gltf_crowd.hpp - a glTF file that shows one box in many places, by EXT_mesh_gpu_instancing.
#pragma once
#include "apps/gltf_builder.hpp"

#include <array>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

namespace path_tracer::test {

struct GltfCrowd {
    std::vector<std::array<float, 3>> shifts;
    std::vector<std::array<float, 4>> turns;
    std::vector<std::array<float, 3>> scales;
    std::string material = "{}";
    std::string node; ///< more of the node, such as `,"scale":[1,2,1]`
    /// Of the extension; those that are there name accessors 2, 3 and 4.
    std::string attributes = R"("TRANSLATION":2,"ROTATION":3,"SCALE":4)";

    [[nodiscard]] std::string gltf() const {
        std::string bytes, views, accessors;
        const auto add = [&](const void* data, std::size_t size, const std::string& accessor) {
            const std::string number = std::to_string(count_of(views)), comma = views.empty() ? "" : ",";
            views += comma + R"({"buffer":0,"byteOffset":)" + std::to_string(bytes.size()) +
                     R"(,"byteLength":)" + std::to_string(size) + "}";
            accessors += comma + R"({"bufferView":)" + number + accessor + "}";
            bytes.append(static_cast<const char*>(data), size);
        };
        const auto of_floats = [](const char* type, std::size_t count) {
            return R"(,"componentType":5126,"type":")" + std::string(type) + R"(","count":)" +
                   std::to_string(count);
        };
        const BoxParts box(0.5f);
        add(box.corners.data(), sizeof box.corners,
            of_floats("VEC3", 8) + R"(,"min":[-0.5,-0.5,-0.5],"max":[0.5,0.5,0.5])");
        add(box.indices.data(), box.indices.size() * 2,
            R"(,"componentType":5123,"type":"SCALAR","count":36)");
        add(shifts.data(), shifts.size() * 12, of_floats("VEC3", shifts.size()));
        add(turns.data(), turns.size() * 16, of_floats("VEC4", turns.size()));
        add(scales.data(), scales.size() * 12, of_floats("VEC3", scales.size()));
        return R"({"asset":{"version":"2.0"},"extensionsUsed":["EXT_mesh_gpu_instancing"],)"
               R"("extensionsRequired":["EXT_mesh_gpu_instancing"],"scenes":[{"nodes":[0]}],)"
               R"("nodes":[{"mesh":0,"extensions":{"EXT_mesh_gpu_instancing":{"attributes":{)" +
               attributes + "}}}" + node +
               R"(}],"meshes":[{"primitives":[{"attributes":{"POSITION":0},"indices":1,"material":0}]}],)"
               R"("materials":[)" +
               material + R"(],"accessors":[)" + accessors + R"(],"bufferViews":[)" + views +
               R"(],"buffers":[{"byteLength":)" + std::to_string(bytes.size()) +
               R"(,"uri":"data:application/octet-stream;base64,)" + base64(bytes) + R"("}]})";
    }

private:
    static std::size_t count_of(const std::string& views) {
        std::size_t count = 0;
        for (const char letter : views) count += letter == '{';
        return count;
    }
};

} // namespace path_tracer::test
