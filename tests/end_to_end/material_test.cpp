// Materials of glTF on every device: white ones under a white sky lose no light, and coloured ones in the
// light of a lamp look as they do on the processor.
#include "apps/gltf_builder.hpp"
#include "apps/hdr_builder.hpp"
#include "end_to_end/path_tracer.hpp"
#include <devices/two_private_cpus.hpp>

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

namespace headrace::end_to_end {
namespace {

constexpr int materials = 8;

/// Of all kinds, with this base colour.
std::array<std::string, materials> all_materials(const std::string& base) {
    const auto material = [&](const std::string& pbr, const std::string& extensions) {
        return R"({"pbrMetallicRoughness":{"baseColorFactor":)" + base + "," + pbr + R"(},"extensions":{)" +
               extensions + "}}";
    };
    const std::string glass = R"("KHR_materials_transmission":{"transmissionFactor":1})";
    return {
        material(R"("metallicFactor":1,"roughnessFactor":0.9)", ""),
        material(R"("metallicFactor":1,"roughnessFactor":0.3)", ""),
        material(R"("metallicFactor":0,"roughnessFactor":0.5)", ""),
        material(R"("metallicFactor":0,"roughnessFactor":0)",
                 R"("KHR_materials_clearcoat":{"clearcoatFactor":1,"clearcoatRoughnessFactor":0.2})"),
        material(R"("metallicFactor":0,"roughnessFactor":0.6)",
                 glass + R"(,"KHR_materials_volume":{"thicknessFactor":1})"),
        material(R"("metallicFactor":0,"roughnessFactor":0.4)", glass),
        material(R"("metallicFactor":0.5,"roughnessFactor":0.7)",
                 R"("KHR_materials_sheen":{"sheenColorFactor":[0.5,0.5,0.5],"sheenRoughnessFactor":0.5})"),
        material(R"("metallicFactor":0,"roughnessFactor":0.2)",
                 R"("KHR_materials_specular":{"specularFactor":0.5},"KHR_materials_ior":{"ior":2.5})")};
}

/// What shines on the boxes besides what is around them.
enum class Light : std::uint8_t { none, lamp, punctual };

/// A row of boxes, each of its own material, on a floor of the last one, below a lamp or a point, a spot and
/// the sun.
std::string scene_of(const std::array<std::string, materials>& list, Light light) {
    std::string bytes(8 * 12 + 36 * 2, '\0');
    const path_tracer::test::BoxParts box(0.4f);
    std::memcpy(bytes.data(), box.corners.data(), sizeof box.corners);
    std::memcpy(bytes.data() + sizeof box.corners, box.indices.data(), box.indices.size() * 2);

    std::string nodes, roots, meshes, written;
    int count = 0;
    const auto add = [&](const std::string& material, const std::string& place) {
        const std::string number = std::to_string(count++);
        const std::string comma = nodes.empty() ? "" : ",";
        nodes += comma + R"({"mesh":)" + number + place + "}";
        roots += comma + number;
        meshes +=
            comma + R"({"primitives":[{"attributes":{"POSITION":0},"indices":1,"material":)" + number + "}]}";
        written += comma + material;
    };
    for (int i = 0; i < materials; ++i)
        add(list[static_cast<std::size_t>(i)], R"(,"translation":[)" + std::to_string(i % 4 * 1.1 - 1.65) +
                                                   ",0," + std::to_string((i < 4 ? 0 : 1) * 1.2) +
                                                   R"(],"rotation":[0,0.2588,0,0.9659])");
    add(list.back(), R"(,"translation":[0,-0.9,0],"scale":[8,1,8])");
    if (light == Light::lamp)
        add(R"({"emissiveFactor":[1,1,1],"pbrMetallicRoughness":{"baseColorFactor":[0,0,0,1]},)"
            R"("extensions":{"KHR_materials_emissive_strength":{"emissiveStrength":5},"KHR_materials_specular":{"specularFactor":0}}})",
            R"(,"translation":[1,2.5,1],"scale":[2,0.1,2])");
    std::string lights;
    if (light == Light::punctual) {
        for (int i = 0; i < 3; ++i) { // turned, so that they shine downwards
            nodes +=
                R"(,{"translation":[)" + std::to_string(i - 1) +
                R"(,2,0.5],"rotation":[-0.7071068,0,0,0.7071068],"extensions":{"KHR_lights_punctual":{"light":)" +
                std::to_string(i) + "}}}";
            roots += ',' + std::to_string(count++);
        }
        lights =
            R"("extensionsUsed":["KHR_lights_punctual"],"extensions":{"KHR_lights_punctual":{"lights":[)"
            R"({"type":"point","intensity":4000,"color":[1,0.8,0.6],"range":9},{"type":"directional","intensity":700},)"
            R"({"type":"spot","intensity":6000,"spot":{"innerConeAngle":0.3,"outerConeAngle":0.9}}]}},)";
    }
    return R"({"asset":{"version":"2.0"},)" + lights + R"("scenes":[{"nodes":[)" + roots +
           R"(]}],"nodes":[)" + nodes + R"(],"meshes":[)" + meshes + R"(],"materials":[)" + written +
           R"(],"accessors":[{"bufferView":0,"componentType":5126,"type":"VEC3","count":8,"min":[-0.4,-0.4,-0.4],"max":[0.4,0.4,0.4]},)"
           R"({"bufferView":1,"componentType":5123,"type":"SCALAR","count":36}],"bufferViews":[{"buffer":0,"byteLength":96},)"
           R"({"buffer":0,"byteOffset":96,"byteLength":72}],"buffers":[{"byteLength":168,"uri":"data:application/octet-stream;base64,)" +
           path_tracer::test::base64(bytes) + R"("}]})";
}

class Materials : public testing::TestWithParam<const char*> {
protected:
    void SetUp() override {
        const std::string devices = GetParam();
        if (devices != test::two_private_cpus) HEADRACE_SKIP_WITHOUT(devices);
    }
    Image shown(const std::string& gltf, const char* devices, const Options& more,
                const char* camera = "0,2.5,5,0,0,0.5,40") {
        folder_.write("scene.gltf", gltf);
        return render(folder_, Options{"--scene", "scene.gltf", "--camera", camera, "--devices",
                                       test::device_list(devices), "--width", "64", "--height", "36"} +
                                   more);
    }
    void expect_lit_as_on_the_processor(const std::string& gltf, const Options& light) {
        const Options options = light + Options{"--spp", "16", "--max-depth", "6"};
        const Image on_processor = shown(gltf, "cpu", options);
        for (const char* kernel : {"consumer", "producer"}) {
            const Image here = shown(gltf, GetParam(), options + Options{"--kernel", kernel});
            ASSERT_EQ(here.values.size(), on_processor.values.size());
            const Likeness found = likeness(here, on_processor);
            // Rounding sends some samples elsewhere, and 16 of them are a pixel.
            EXPECT_LT(found.differing, here.values.size() / 12) << kernel;
            EXPECT_NEAR(found.sum / found.other_sum, 1, 5e-3) << kernel;
            EXPECT_GT(found.sum / static_cast<double>(here.values.size()), 0.1);
        }
    }

    Scratch folder_;
};

TEST_P(Materials, WhiteOnesLoseNoLight) {
    for (const char* kernel : {"consumer", "producer"}) {
        const Image image = shown(scene_of(all_materials("[1,1,1,1]"), Light::none), GetParam(),
                                  {"--sky", "1,1,1", "--spp", "128", "--max-depth", "200", "--roulette-from",
                                   "0", "--kernel", kernel});
        // In blocks that are smaller than the boxes.
        constexpr std::size_t across = 8, down = 4;
        for (std::size_t row = 0; row < 36; row += down)
            for (std::size_t column = 0; column < 64; column += across) {
                double sum = 0;
                for (std::size_t y = 0; y < down; ++y)
                    for (std::size_t i = 0; i < 3 * across; ++i)
                        sum += static_cast<double>(image.values[3 * ((row + y) * 64 + column) + i]);
                EXPECT_NEAR(sum / (3 * across * down), 1, 0.05) << kernel << ", " << column << ", " << row;
            }
    }
}

TEST_P(Materials, AreLitAsOnTheProcessor) {
    expect_lit_as_on_the_processor(scene_of(all_materials("[0.8,0.5,0.2,1]"), Light::lamp),
                                   {"--sky", "0.2,0.3,0.4"});
}

TEST_P(Materials, AreLitByAnEnvironmentAsOnTheProcessor) {
    std::vector<path_tracer::Rgb> sky;
    for (int i = 0; i < 16 * 8; ++i) {
        const auto grey = static_cast<float>(i % 7) * 0.1f;
        sky.push_back({grey, 0.3f, 0.7f - grey});
    }
    sky[3 * 16 + 5] = {60, 50, 40}; // the sun
    folder_.write("sky.hdr", path_tracer::test::hdr_of(16, 8, sky));
    const Options options{"--environment",       "sky.hdr", "--environment-rotate", "70",
                          "--environment-scale", "0.5"};
    for (const Light light : {Light::none, Light::lamp})
        expect_lit_as_on_the_processor(scene_of(all_materials("[0.8,0.5,0.2,1]"), light), options);
}

TEST_P(Materials, AreLitByLightsWithoutExtentAsOnTheProcessor) {
    expect_lit_as_on_the_processor(scene_of(all_materials("[0.8,0.5,0.2,1]"), Light::punctual),
                                   {"--sky", "0,0,0"});
}

TEST_P(Materials, EnvironmentsAreScaledAndTurned) {
    folder_.write(
        "sky.hdr",
        path_tracer::test::hdr_of(
            4, 2, {{1, 1, 1}, {2, 2, 2}, {4, 4, 4}, {8, 8, 8}, {1, 1, 1}, {2, 2, 2}, {4, 4, 4}, {8, 8, 8}}));
    // Between the middles of two columns it is their mean: towards -z that of the second and the third.
    const auto seen = [&](const char* degrees, const char* scale) {
        const Image image = shown(scene_of(all_materials("[1,1,1,1]"), Light::none), GetParam(),
                                  {"--environment", "sky.hdr", "--environment-rotate", degrees,
                                   "--environment-scale", scale, "--spp", "4"},
                                  "0,50,0,0,50,-1,0.1");
        return static_cast<double>(image.values[std::size_t{3} * (18 * 64 + 32)]);
    };
    EXPECT_NEAR(seen("0", "1"), 3, 0.02);
    EXPECT_NEAR(seen("0", "2"), 6, 0.04);
    EXPECT_NEAR(seen("90", "1"), 6, 0.02); // what was to the right is before us
    EXPECT_NEAR(seen("-90", "1"), 1.5, 0.02);
    EXPECT_NEAR(seen("360", "1"), 3, 0.02);
}

INSTANTIATE_TEST_SUITE_P(Devices, Materials, testing::ValuesIn(every_device),
                         [](const auto& chosen) { return test_name(chosen.param); });

} // namespace
} // namespace headrace::end_to_end
