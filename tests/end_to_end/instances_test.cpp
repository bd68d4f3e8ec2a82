// Instances on every device: a heap of boxes looks as it does on the processor, where each box has triangles
// of its own.
#include "apps/gltf_crowd.hpp"
#include "end_to_end/path_tracer.hpp"
#include <devices/two_private_cpus.hpp>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <random>
#include <string>

namespace headrace::end_to_end {
namespace {

/// 1365 boxes, half metal and half paint, are few enough to be triangles of the scene; the same and two more,
/// which lie in others, are instances.
path_tracer::test::GltfCrowd heap(bool is_of_instances) {
    std::mt19937 random(5);
    std::uniform_real_distribution<float> uniform(-1, 1);
    path_tracer::test::GltfCrowd heap;
    heap.material = R"({"pbrMetallicRoughness":{"baseColorFactor":[0.9,0.6,0.3,1],"metallicFactor":0.5,)"
                    R"("roughnessFactor":0.4}})";
    heap.node = R"(,"scale":[1,1,-1])"; // mirrors all of it
    for (int i = 0; i < 1365; ++i) {
        heap.shifts.push_back({4 * uniform(random), 2 * uniform(random), 4 * uniform(random)});
        heap.turns.push_back({uniform(random), uniform(random), uniform(random), 1.1f + uniform(random)});
        heap.scales.push_back({0.4f, 0.3f + 0.2f * uniform(random), 0.3f + 0.2f * uniform(random)});
    }
    for (std::size_t i = 0; is_of_instances && i < 2; ++i) {
        heap.shifts.push_back(heap.shifts[i]);
        heap.turns.push_back(heap.turns[i]);
        heap.scales.push_back(heap.scales[i]);
        for (float& part : heap.scales.back()) part *= 0.5f;
    }
    return heap;
}

class InstancesOnDevices : public testing::TestWithParam<const char*> {};

TEST_P(InstancesOnDevices, LookAsTrianglesOfTheSceneDo) {
    const std::string devices = GetParam();
    if (devices != test::two_private_cpus) HEADRACE_SKIP_WITHOUT(devices);
    const Scratch folder;
    folder.write("flat.gltf", heap(false).gltf());
    folder.write("instances.gltf", heap(true).gltf());
    const auto shown = [&](const char* file, const char* on, const char* kernel) {
        return render(folder, {"--scene", file, "--camera", "0,3,9,0,0,0,45", "--devices",
                               test::device_list(on), "--width", "64", "--height", "36", "--spp", "16",
                               "--max-depth", "6", "--kernel", kernel, "--report", "report.json"});
    };
    const Image flat = shown("flat.gltf", "cpu", "consumer");
    for (const char* kernel : {"consumer", "producer"}) {
        const Image here = shown("instances.gltf", GetParam(), kernel);
        const auto report = nlohmann::json::parse(std::ifstream(folder.path() / "report.json"));
        EXPECT_EQ(report.at("instances"), 1367);
        EXPECT_EQ(report.at("triangles"), 12);
        ASSERT_EQ(here.values.size(), flat.values.size());
        const Likeness found = likeness(here, flat);
        // Rounding sends some samples elsewhere, and 16 of them are a pixel.
        EXPECT_LT(found.differing, here.values.size() / 10) << kernel;
        EXPECT_NEAR(found.sum / found.other_sum, 1, 5e-3) << kernel;
    }
}

TEST_P(InstancesOnDevices, HaveLayers) {
    const std::string devices = GetParam();
    if (devices != test::two_private_cpus) HEADRACE_SKIP_WITHOUT(devices);
    const Scratch folder;
    folder.write("instances.gltf", heap(true).gltf());
    const Outcome outcome =
        run_path_tracer(folder, {"--scene", "instances.gltf", "--devices", test::device_list(GetParam()),
                                 "--width", "32", "--height", "18", "--spp", "1", "--out", "layers.exr"});
    EXPECT_EQ(outcome.exit_code, 0) << outcome.errors;
    EXPECT_TRUE(std::filesystem::exists(folder.path() / "layers.exr"));
}

INSTANTIATE_TEST_SUITE_P(Devices, InstancesOnDevices, testing::ValuesIn(every_device),
                         [](const auto& chosen) { return test_name(chosen.param); });

} // namespace
} // namespace headrace::end_to_end
