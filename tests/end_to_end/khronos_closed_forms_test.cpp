// Models like Khronos' sample models on every device, where there are closed forms: plates that parallel rays
// from +z show, 8 x 8 pixels each.
#include "apps/model_writer.hpp"
#include "end_to_end/path_tracer.hpp"
#include <devices/two_private_cpus.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <fstream>
#include <functional>
#include <numbers>
#include <string>

namespace headrace::end_to_end {
namespace {

using path_tracer::test::ModelWriter;
using path_tracer::test::rectangle;
using path_tracer::test::Shape;
using Json = nlohmann::json;
using Direction = std::array<double, 3>;

constexpr double pi = std::numbers::pi;
constexpr double lumens = 683;   // in one unit of the program
constexpr std::size_t plate = 8; // pixels along each side

/// Lambert alone.
Json matt(double albedo) {
    return {
        {"pbrMetallicRoughness", {{"baseColorFactor", {albedo, albedo, albedo, 1}}, {"metallicFactor", 0}}},
        {"extensions", {{"KHR_materials_specular", {{"specularFactor", 0}}}}}};
}

class KhronosClosedForms : public testing::TestWithParam<const char*> {
protected:
    void SetUp() override {
        const std::string devices = GetParam();
        if (devices != test::two_private_cpus) HEADRACE_SKIP_WITHOUT(devices);
    }
    /// Columns x rows of plates around the origin, each 2 units wide.
    [[nodiscard]] Image shown(ModelWriter& writer, std::size_t columns, std::size_t rows, int samples,
                              const char* sky) const {
        folder_.write("model.gltf", writer.text());
        return render(folder_,
                      {"--scene", "model.gltf", "--camera", "0,0,20,0,0,0,45", "--orthographic",
                       std::to_string(2 * rows), "--width", std::to_string(plate * columns), "--height",
                       std::to_string(plate * rows), "--spp", std::to_string(samples), "--sky", sky,
                       "--max-depth", "3", "--devices", test::device_list(GetParam())});
    }
    /// Calls `test` for each pixel of a plate with its value, and the column and row in the plate.
    static void for_each_pixel(const Image& image, std::size_t number,
                               const std::function<void(const float*, int, int)>& test) {
        const std::size_t columns = image.width / plate;
        for (std::size_t k = 0; k < plate * plate; ++k)
            test(image.pixel(number % columns * plate + k % plate, number / columns * plate + k / plate),
                 static_cast<int>(k % plate), static_cast<int>(k / plate));
    }
    /// Where a plate is.
    static Json place_of(std::size_t number, std::size_t columns, std::size_t rows) {
        const std::size_t column = number % columns, row = number / columns;
        return {{"translation",
                 {2 * static_cast<double>(column) + 1 - static_cast<double>(columns),
                  static_cast<double>(rows) - 1 - 2 * static_cast<double>(row), 0}}};
    }

    Scratch folder_;
};

double linear(int sample) {
    const double number = sample / 255.0;
    return number <= 0.04045 ? number / 12.92 : std::pow((number + 0.055) / 1.055, 2.4);
}

TEST_P(KhronosClosedForms, TextureCoordinateTest) {
    constexpr int clamps = 33071, mirrors = 33648, repeats = 10497;
    struct Plate {
        const char* name;
        int wrap;
        Json transform;
        std::function<std::array<int, 2>(int, int)> texel; ///< column and row that a pixel shows
    };
    const std::vector<Plate> plates = {
        {"as it is", repeats, nullptr,
         [](int i, int j) {
             return std::array{i / 2, j / 2};
         }},
        {"repeats",
         repeats,
         {{"scale", {2, 2}}},
         [](int i, int j) {
             return std::array{i % 4, j % 4};
         }},
        {"mirrors",
         mirrors,
         {{"scale", {2, 2}}},
         [](int i, int j) {
             return std::array{std::min(i, 7 - i), std::min(j, 7 - j)};
         }},
        {"keeps its edge",
         clamps,
         {{"scale", {2, 2}}, {"offset", {-0.5, -0.5}}},
         [](int i, int j) {
             return std::array{std::clamp(i - 2, 0, 3), std::clamp(j - 2, 0, 3)};
         }},
        {"repeats below 0",
         repeats,
         {{"offset", {-0.25, -0.5}}},
         [](int i, int j) {
             return std::array{(i / 2 + 3) % 4, (j / 2 + 2) % 4};
         }},
        {"mirrors below 0",
         mirrors,
         {{"offset", {-1, -2}}},
         [](int i, int j) {
             return std::array{3 - i / 2, j / 2};
         }},
        // Both are examples of the extension's text.
        {"its lower left quarter, turned clockwise",
         repeats,
         {{"offset", {0, 1}}, {"rotation", pi / 2}, {"scale", {0.5, 0.5}}},
         [](int i, int j) {
             return std::array{j / 4, 3 - i / 4};
         }},
        {"upside down", repeats, {{"offset", {0, 1}}, {"scale", {1, -1}}}, [](int i, int j) {
             return std::array{i / 2, 3 - j / 2};
         }}};
    std::vector<std::uint16_t> samples;
    const auto sample = [](int column, int row, int part) {
        return std::array{40 + 60 * column, 250 - 50 * row,
                          90 + 10 * column + 30 * row}[static_cast<std::size_t>(part)];
    };
    for (int row = 0; row < 4; ++row)
        for (int column = 0; column < 4; ++column)
            for (const int part : {0, 1, 2, 3})
                samples.push_back(static_cast<std::uint16_t>(part == 3 ? 255 : sample(column, row, part)));
    ModelWriter writer;
    for (std::size_t i = 0; i < plates.size(); ++i) {
        const Json sampler = {{"magFilter", 9728}, {"wrapS", plates[i].wrap}, {"wrapT", plates[i].wrap}};
        Json material = matt(1);
        Json& texture = material["pbrMetallicRoughness"]["baseColorTexture"];
        texture = {{"index", writer.texture(4, 4, samples, sampler)}};
        if (!plates[i].transform.is_null())
            texture["extensions"]["KHR_texture_transform"] = plates[i].transform;
        writer.shown(rectangle(-1, -1, 1, 1), writer.material(material), place_of(i, 4, 2));
    }
    const Image image = shown(writer, 4, 2, 4, "1,1,1");
    for (std::size_t number = 0; number < plates.size(); ++number)
        for_each_pixel(image, number, [&](const float* pixel, int i, int j) {
            const auto [column, row] = plates[number].texel(i, j);
            for (int part = 0; part < 3; ++part) // texels are floats of 16 bits
                ASSERT_NEAR(double{pixel[part]}, linear(sample(column, row, part)), 1e-3)
                    << plates[number].name << ", pixel " << i << ' ' << j;
        });
}

TEST_P(KhronosClosedForms, AlphaBlendModeTest) {
    constexpr double albedo = 0.2; // before a sky of 1
    struct Plate {
        const char* mode;
        double cutoff, factor;
        bool has_corners; ///< opacity from 0 on the left to 1 on the right
    };
    constexpr std::array<Plate, 6> plates = {{{"OPAQUE", 0.5, 0.3, true},
                                              {"MASK", 0.5, 1, true},
                                              {"MASK", 0.25, 1, true},
                                              {"MASK", 0.375, 0.5, true},
                                              {"BLEND", 0.5, 1, true},
                                              {"BLEND", 0.5, 0.4, false}}};
    ModelWriter writer;
    for (std::size_t i = 0; i < plates.size(); ++i) {
        Json material = matt(albedo);
        material["alphaMode"] = plates[i].mode;
        if (plates[i].cutoff != 0.5) material["alphaCutoff"] = plates[i].cutoff; // which is the default
        material["pbrMetallicRoughness"]["baseColorFactor"][3] = plates[i].factor;
        Shape shape = rectangle(-1, -1, 1, 1);
        if (plates[i].has_corners) shape.colours = {1, 1, 1, 0, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 0};
        writer.shown(shape, writer.material(material), place_of(i, 3, 2));
    }
    constexpr int samples = 128;
    const Image image = shown(writer, 3, 2, samples, "1,1,1");
    for (std::size_t number = 0; number < plates.size(); ++number) {
        const auto& [mode, cutoff, factor, has_corners] = plates[number];
        std::array<double, plate> columns{};
        for_each_pixel(image, number, [&](const float* pixel, int i, int) {
            columns[static_cast<std::size_t>(i)] += double{pixel[0]} / plate;
        });
        for (std::size_t i = 0; i < plate; ++i) {
            const double opacity = factor * (has_corners ? (static_cast<double>(i) + 0.5) / plate : 1);
            double there = opacity; // the share of the column in which the plate is
            if (mode == std::string("OPAQUE")) there = 1;
            if (mode == std::string("MASK")) there = opacity >= cutoff ? 1 : 0;
            const double noise =
                (1 - albedo) * std::sqrt(there * (1 - there) / (samples * static_cast<double>(plate)));
            EXPECT_NEAR(columns[i], 1 - there * (1 - albedo), 5 * noise + 1e-4)
                << mode << ", cutoff " << cutoff << ", column " << i;
        }
    }
}

TEST_P(KhronosClosedForms, LightsPunctualLamp) {
    constexpr double albedo = 0.8, turn = 0.3, range = 6, inner = 0.15, outer = 0.5, strength = 5;
    constexpr Direction place = {0.5, -0.25, 3};
    struct Lamp {
        Json json;
        std::function<double(double distance, double cone_cosine)> fading; ///< of strength / distance^2
    };
    const double inner_cosine = std::cos(inner), outer_cosine = std::cos(outer);
    const std::vector<Lamp> lamps = {
        {{{"type", "point"}}, [](double, double) { return 1.0; }},
        {{{"type", "point"}, {"range", range}},
         [](double distance, double) { return std::clamp(1 - std::pow(distance / range, 4), 0.0, 1.0); }},
        {{{"type", "spot"}, {"spot", {{"innerConeAngle", inner}, {"outerConeAngle", outer}}}},
         [=](double, double cosine) {
             return std::pow(std::clamp((cosine - outer_cosine) / (inner_cosine - outer_cosine), 0.0, 1.0),
                             2);
         }},
        {{{"type", "directional"}}, [](double distance, double) { return distance * distance; }}};
    // The lamps' node is turned around y, and scaled, which does not matter.
    const Direction axis = {-std::sin(turn), 0, -std::cos(turn)};
    for (Lamp lamp : lamps) {
        ModelWriter writer;
        writer.shown(rectangle(-8, -8, 8, 8), writer.material(matt(albedo)));
        lamp.json["intensity"] = strength * lumens;
        writer.light(lamp.json, {{"translation", place},
                                 {"rotation", {0, std::sin(turn / 2), 0, std::cos(turn / 2)}},
                                 {"scale", {2, 2, 2}}});
        const Image image = shown(writer, 1, 1, 256, "0,0,0");
        const auto at = [&](double x, double y) {
            const Direction way = {place[0] - x, place[1] - y, place[2]};
            const double distance = std::hypot(way[0], way[1], way[2]);
            const double cone = -(way[0] * axis[0] + way[1] * axis[1] + way[2] * axis[2]) / distance;
            const double cosine = lamp.json["type"] == "directional" ? -axis[2] : way[2] / distance;
            return albedo / pi * strength * cosine / (distance * distance) * lamp.fading(distance, cone);
        };
        for_each_pixel(image, 0, [&](const float* pixel, int i, int j) {
            constexpr int fine = 8;
            double expected = 0;
            for (int k = 0; k < fine * fine; ++k) {
                const int column = k % fine, row = k / fine;
                expected +=
                    at((i + (column + 0.5) / fine) / 4 - 1, 1 - (j + (row + 0.5) / fine) / 4) / (fine * fine);
            }
            // Within a pixel, light changes by up to a third at the edge of the cone: five errors of 256
            // places.
            EXPECT_NEAR(double{pixel[0]}, expected, 0.02 * expected + 1e-3)
                << lamp.json["type"] << ", pixel " << i << ' ' << j;
        });
    }
}

/// Lambert with a shading normal, before a directional light of strength 1 from `light`; the plate faces +z.
double lit(double albedo, const Direction& shading, const Direction& light) {
    const double cosine = shading[0] * light[0] + shading[1] * light[1] + shading[2] * light[2];
    return albedo / pi * std::max(0.0, cosine) * 2 / (1 + shading[2]); // corner_shading.h: lambert_lobe
}

TEST_P(KhronosClosedForms, NegativeScaleTest) {
    constexpr double albedo = 0.9, turn = 0.5; // of the light, towards +x
    const std::vector<Direction> scales = {{1, 1, 1}, {-1, 1, 1}, {1, 1, -1}, {-1, -1, -1}};
    constexpr std::array<int, 3> leaning = {204, 128, 230}; // in a texture: towards +u
    ModelWriter writer;
    Json mapped = matt(albedo);
    mapped["normalTexture"] = {
        {"index", writer.texture(1, 1, {leaning[0], leaning[1], leaning[2], 255}, Json::object())}};
    const std::size_t of_corners = writer.material(matt(albedo)), of_texture = writer.material(mapped);
    Shape leans = rectangle(-1, -1, 1, 1);
    for (int corner = 0; corner < 4; ++corner) leans.normals.insert(leans.normals.end(), {0.6, 0.0, 0.8});
    for (std::size_t i = 0; i < 8; ++i) {
        Json node = place_of(i, 4, 2);
        node["scale"] = scales[i % 4];
        writer.shown(i < 4 ? leans : rectangle(-1, -1, 1, 1), i < 4 ? of_corners : of_texture, node);
    }
    writer.light({{"type", "directional"}, {"intensity", lumens}},
                 {{"rotation", {0, std::sin(turn / 2), 0, std::cos(turn / 2)}}});
    const Direction light = {std::sin(turn), 0, std::cos(turn)};
    const Image image = shown(writer, 4, 2, 4, "0,0,0");
    for (std::size_t number = 0; number < 8; ++number) {
        Direction normal = {0.6, 0, 0.8};
        if (number >= 4) {
            double size = 0;
            for (std::size_t k = 0; k < 3; ++k) normal[k] = 2 * leaning[k] / 255.0 - 1;
            size = std::hypot(normal[0], normal[1], normal[2]);
            for (double& part : normal) part /= size;
        }
        // By the inverse of the scale; seen from behind, it is the other way round.
        const Direction& scale = scales[number % 4];
        const double side = scale[2] < 0 ? -1 : 1;
        for (std::size_t k = 0; k < 3; ++k) normal[k] *= side * scale[k];
        const double expected = lit(albedo, normal, light);
        for_each_pixel(image, number, [&](const float* pixel, int i, int j) {
            ASSERT_NEAR(double{pixel[0]}, expected, 1e-3 * expected)
                << "plate " << number << ", pixel " << i << ' ' << j;
        });
    }
}

TEST_P(KhronosClosedForms, VertexColorTest) {
    constexpr double albedo = 0.9;
    ModelWriter writer;
    Shape shape = rectangle(-1, -1, 1, 1);
    for (const auto& [x, y] : {std::array{0.0, 0.0}, {1.0, 0.0}, {1.0, 1.0}, {0.0, 1.0}})
        shape.colours.insert(shape.colours.end(), {x, y, 0.2 + 0.3 * x + 0.4 * y, 1});
    writer.shown(shape, writer.material(matt(albedo)));
    constexpr int samples = 256;
    const Image image = shown(writer, 1, 1, samples, "1,1,1");
    for_each_pixel(image, 0, [&](const float* pixel, int i, int j) {
        const double x = (i + 0.5) / plate, y = 1 - (j + 0.5) / plate;
        // Uniform in the pixel: its width over the square root of 12, five errors of the mean.
        const double noise = 5 / std::sqrt(12.0 * samples) / plate;
        EXPECT_NEAR(double{pixel[0]}, albedo * x, noise);
        EXPECT_NEAR(double{pixel[1]}, albedo * y, noise);
        EXPECT_NEAR(double{pixel[2]}, albedo * (0.2 + 0.3 * x + 0.4 * y), noise);
    });
}

/// A still picture shows what is between corners, and of animations nothing, however they interpolate.
TEST_P(KhronosClosedForms, InterpolationTest) {
    constexpr double albedo = 0.7;
    ModelWriter writer;
    Shape shape = rectangle(-1, -1, 1, 1);
    for (const double x : {-0.6, 0.6, 0.6, -0.6}) shape.normals.insert(shape.normals.end(), {x, 0, 0.8});
    writer.shown(shape, writer.material(matt(albedo)));
    writer.light({{"type", "directional"}, {"intensity", lumens}}, Json::object());
    const std::size_t times = writer.numbers("SCALAR", 1, {0, 1}),
                      shifts = writer.numbers("VEC3", 3, {5, 5, 5, 6, 6, 6}),
                      curve = writer.numbers("VEC3", 3, std::vector<double>(18, 7.0));
    Json samplers = Json::array(), channels = Json::array();
    for (const char* kind : {"STEP", "LINEAR", "CUBICSPLINE"}) {
        const bool is_curve = kind == std::string("CUBICSPLINE");
        channels.push_back(
            {{"sampler", samplers.size()}, {"target", {{"node", 0}, {"path", "translation"}}}});
        samplers.push_back(
            {{"input", times}, {"output", is_curve ? curve : shifts}, {"interpolation", kind}});
    }
    writer.push("animations", {{"samplers", samplers}, {"channels", channels}});
    const Image image = shown(writer, 1, 1, 256, "0,0,0");
    for_each_pixel(image, 0, [&](const float* pixel, int i, int j) {
        const double x = 0.6 * (2 * (i + 0.5) / plate - 1), size = std::hypot(x, 0.8);
        const double expected = lit(albedo, {x / size, 0, 0.8 / size}, {0, 0, 1});
        EXPECT_NEAR(double{pixel[0]}, expected, 0.005 * expected) << "pixel " << i << ' ' << j;
    });
    const Outcome outcome = Program(HEADRACE_PATH_TRACER, // not quietly
                                    {"--scene", "model.gltf", "--spp", "1", "--width", "8", "--height", "8",
                                     "--devices", test::device_list(GetParam()), "--out", "note.pfm"},
                                    folder_.path())
                                .wait();
    EXPECT_NE(outcome.errors.find("animations"), std::string::npos) << outcome.errors;
}

INSTANTIATE_TEST_SUITE_P(Devices, KhronosClosedForms, testing::ValuesIn(every_device),
                         [](const auto& chosen) { return test_name(chosen.param); });

} // namespace
} // namespace headrace::end_to_end
