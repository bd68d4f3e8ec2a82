// Layers and header of OpenEXR pictures, on every device.
#include "end_to_end/path_tracer.hpp"

#include <ImfChannelList.h>
#include <ImfFrameBuffer.h>
#include <ImfHeader.h>
#include <ImfInputFile.h>
#include <ImfStringAttribute.h>

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

namespace headrace::end_to_end {
namespace {

constexpr int width = 37, height = 21;

class Layers : public testing::TestWithParam<const char*> {
protected:
    void SetUp() override {
        const std::string devices = GetParam();
        if (devices != test::two_private_cpus) HEADRACE_SKIP_WITHOUT(devices);
    }
    std::string rendered(const Options& scene, const char* devices, const std::string& name) {
        const Outcome outcome =
            run_path_tracer(folder_, scene + Options{"--devices", test::device_list(devices), "--width",
                                                     std::to_string(width), "--height",
                                                     std::to_string(height), "--spp", "5", "--out", name});
        EXPECT_EQ(outcome.exit_code, 0) << outcome.errors;
        return (folder_.path() / name).string();
    }
    static std::vector<float> channel(const std::string& file, const char* name) {
        Imf::InputFile exr(file.c_str());
        if (exr.header().channels().findChannel(name) == nullptr) return {};
        std::vector<float> values(std::size_t{width} * height);
        Imf::FrameBuffer frame;
        frame.insert(name, Imf::Slice(Imf::FLOAT, reinterpret_cast<char*>(values.data()), sizeof(float),
                                      sizeof(float) * width));
        exr.setFrameBuffer(frame);
        exr.readPixels(0, height - 1);
        return values;
    }
    Scratch folder_;
};

TEST_P(Layers, AreThoseOfTheProcessor) {
    const std::string here = rendered(matt_room(folder_), GetParam(), "here.exr"),
                      there = rendered(matt_room(folder_), "cpu", "there.exr");
    for (const char* name : {"albedo.R", "albedo.G", "albedo.B", "N.X", "N.Y", "N.Z", "Z"}) {
        const std::vector<float> a = channel(here, name), b = channel(there, name);
        ASSERT_EQ(a.size(), std::size_t{width} * height) << name;
        std::size_t differing = 0;
        for (std::size_t i = 0; i < a.size(); ++i)
            differing += std::abs(a[i] - b[i]) > 1e-4f * (1 + std::abs(b[i]));
        EXPECT_LE(differing, a.size() / 100) << name; // rounding decides at edges
    }
    for (std::size_t i = 0; i < channel(here, "Z").size(); ++i) {
        const double x = channel(here, "N.X")[i], y = channel(here, "N.Y")[i], z = channel(here, "N.Z")[i];
        ASSERT_LE(x * x + y * y + z * z, 1.0001);
        ASSERT_GT(channel(here, "Z")[i], 0);
    }
}

TEST_P(Layers, ShowADistanceFromTheSkyOnly) {
    const std::string file = rendered(convex_body(folder_, 0.65), GetParam(), "body.exr");
    const std::vector<float> z = channel(file, "Z"), albedo = channel(file, "albedo.G");
    const std::size_t middle = std::size_t{height / 2} * width + width / 2;
    EXPECT_TRUE(std::isinf(z[0]));
    EXPECT_EQ(albedo[0], 0);
    EXPECT_TRUE(std::isfinite(z[middle]));
    EXPECT_NEAR(albedo[middle], 0.65, 1e-5);
}

INSTANTIATE_TEST_SUITE_P(Devices, Layers, testing::ValuesIn(every_device),
                         [](const auto& chosen) { return test_name(chosen.param); });

TEST(Header, SaysHowThePictureWasMade) {
    const Scratch folder;
    const Outcome outcome = run_path_tracer(
        folder, convex_body(folder, 0.5) + Options{"--devices", "cpu", "--width", "8", "--height", "8",
                                                   "--spp", "5", "--out", "it's.exr"});
    ASSERT_EQ(outcome.exit_code, 0) << outcome.errors;
    const Imf::InputFile exr((folder.path() / "it's.exr").c_str());
    const auto text = [&](const char* name) {
        return exr.header().typedAttribute<Imf::StringAttribute>(name).value();
    };
    EXPECT_EQ(text("samples"), "5");
    EXPECT_NE(text("command").find("--spp 5 --out 'it'\\''s.exr'"), std::string::npos) << text("command");
    EXPECT_NE(text("software").find("headrace-path-tracer "), std::string::npos);
    EXPECT_FALSE(text("commit").empty());
}

} // namespace
} // namespace headrace::end_to_end
