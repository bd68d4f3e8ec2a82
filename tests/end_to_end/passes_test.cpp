// Pictures whose samples come together in passes: adaptive ones, those that end when time is up, and those
// that are written as they grow. In a glowing room every sample is right, so every pixel is, however many
// samples it has.
#include "end_to_end/path_tracer.hpp"
#include <core/eventually.hpp>

#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <csignal>
#include <filesystem>
#include <string>
#include <tuple>

namespace headrace::end_to_end {
namespace {

constexpr double albedo = 0.8;
const double radiance = (1 - std::pow(albedo, 5)) / (1 - albedo);

void expect_glowing(const Image& image) {
    for (const float value : image.values) ASSERT_NEAR(value, radiance, 1e-4 * radiance); // see film_sums.hpp
}

/// Device, kernel.
class Passes : public testing::TestWithParam<std::tuple<const char*, const char*>> {
protected:
    void SetUp() override {
        const std::string devices = std::get<0>(GetParam());
        if (devices != test::two_private_cpus) HEADRACE_SKIP_WITHOUT(devices);
    }
    /// Of so many pixels, on the device and with the kernel.
    static Options picture(const char* width, const char* height) {
        return {"--devices", test::device_list(std::get<0>(GetParam())),
                "--kernel",  std::get<1>(GetParam()),
                "--width",   width,
                "--height",  height};
    }
    Options room(const char* width = "37", const char* height = "21") {
        return glowing_room(folder_, albedo) + picture(width, height) +
               Options{"--max-depth", "5", "--no-direct-light"};
    }
    Scratch folder_;
};

TEST_P(Passes, AdaptivePicturesCountTheSamplesOfEachPixel) {
    // Tiles of nothing but glow are good at once; those of the furnished room are not.
    expect_glowing(render(folder_, room() + Options{"--adaptive", "0.01"}));
    const Options furnished = matt_room(folder_) + picture("37", "21");
    const Image adaptive = render(folder_, furnished + Options{"--adaptive", "0.2", "--spp", "2000"});
    const Image plain = render(folder_, furnished + Options{"--spp", "400"});
    double sum = 0, plain_sum = 0;
    for (std::size_t i = 0; i < plain.values.size(); ++i) {
        sum += static_cast<double>(adaptive.values[i]);
        plain_sum += static_cast<double>(plain.values[i]);
    }
    EXPECT_NEAR(sum / plain_sum, 1, 0.03); // 777 pixels, each 0.2 off at most
}

TEST_P(Passes, EndWhenTimeIsUp) {
    const auto begin = std::chrono::steady_clock::now();
    expect_glowing(render(folder_, room() + Options{"--time", "0.2", "--spp", "1000000000"})); // days
    EXPECT_LT(std::chrono::steady_clock::now() - begin, headrace::test::hang_limit);
    // Each pixel has a sample in any case.
    expect_glowing(render(folder_, room() + Options{"--time", "0.000001"}));
    expect_glowing(render(folder_, room() + Options{"--time", "0.000001", "--adaptive", "1e-9"}));
    expect_glowing(
        render(folder_, room() + Options{"--time", "0.2", "--adaptive", "1e-9", "--spp", "1000000000"}));
    expect_glowing(render(folder_, room() + Options{"--time", "100", "--spp", "7"}));
}

TEST_P(Passes, SamplesBeyondWhatFloatsAddUpAreRightToo) {
    const Options small = room("2", "2");
    expect_glowing(render(folder_, small + Options{"--spp", "200000"})); // as floats 1 % off
    expect_glowing(render(folder_, small + Options{"--spp", "200000", "--adaptive", "1e-12"}));
}

INSTANTIATE_TEST_SUITE_P(Devices, Passes,
                         testing::Combine(testing::ValuesIn(every_device),
                                          testing::Values("consumer", "producer")),
                         [](const auto& chosen) {
                             return test_name(std::get<0>(chosen.param)) + "_" + std::get<1>(chosen.param);
                         });

TEST(GrowingPictures, AreWholeWheneverTheyAreLookedAt) {
    const Scratch folder;
    const std::filesystem::path file = folder.path() / "grows.pfm";
    const Options room = glowing_room(folder, albedo) +
                         Options{"--devices",   "cpu", "--width",           "37",    "--height", "21",
                                 "--max-depth", "5",   "--no-direct-light", "--out", "grows.pfm"};
    for (const Options& more :
         {Options{"--time", "600"}, Options{"--time", "600", "--adaptive", "1e-9", "--spp", "1000000"}}) {
        std::filesystem::remove(file);
        Program program = start_path_tracer(folder, room + more + Options{"--save-every", "0.05"});
        ASSERT_TRUE(headrace::test::eventually(
            [&] { return std::filesystem::exists(file) || !program.is_running(); }));
        const Image image = read_pfm(file); // never half of it
        program.interrupt(SIGINT);
        EXPECT_NE(program.wait().exit_code, 0);
        expect_glowing(image);
    }
}

} // namespace
} // namespace headrace::end_to_end
