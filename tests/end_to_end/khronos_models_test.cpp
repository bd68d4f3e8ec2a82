// Models like Khronos' sample models on every device, against what the reference tracer makes of them
// (tests/apps/reference_pictures, made by tests/apps/make_reference_pictures.cpp). The tolerance of each
// material is in tests/apps/khronos_models.cpp.
#include "apps/khronos_models.hpp"
#include "apps/reference_picture.hpp"
#include "end_to_end/path_tracer.hpp"
#include <devices/two_private_cpus.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <filesystem>
#include <sstream>
#include <string>
#include <tuple>

namespace headrace::end_to_end {
namespace {

using path_tracer::test::KhronosModel;
using path_tracer::test::ReferencePicture;
using path_tracer::test::ReferencePixel;
using path_tracer::test::ReferenceView;

constexpr int seeds = 2, samples = 384; // pictures, and paths of a pixel in each

/// Devices, and the number of a model.
class KhronosModels : public testing::TestWithParam<std::tuple<const char*, std::size_t>> {
protected:
    void SetUp() override {
        const std::string devices = std::get<0>(GetParam());
        if (devices != test::two_private_cpus) HEADRACE_SKIP_WITHOUT(devices);
    }
};

const std::vector<KhronosModel>& models() {
    static const std::vector<KhronosModel> all = path_tracer::test::khronos_models();
    return all;
}

Options seen_as(const ReferenceView& view) {
    std::ostringstream camera, sky;
    camera << view.eye.x << ',' << view.eye.y << ',' << view.eye.z << ',' << view.target.x << ','
           << view.target.y << ',' << view.target.z << ',' << view.vertical_fov_degrees;
    sky << view.sky.x << ',' << view.sky.y << ',' << view.sky.z;
    return {"--camera",       camera.str(),
            "--orthographic", std::to_string(view.orthographic_height),
            "--sky",          sky.str(),
            "--max-depth",    std::to_string(view.max_depth),
            "--width",        std::to_string(view.width),
            "--height",       std::to_string(view.height)};
}

/// Pictures of a model with different random numbers.
std::vector<Image> shown_on(const char* devices, const KhronosModel& model) {
    const Scratch folder;
    folder.write("model.gltf", model.gltf);
    std::vector<Image> pictures;
    for (int seed = 1; seed <= seeds; ++seed)
        pictures.push_back(render(folder, Options{"--scene", "model.gltf", "--spp", std::to_string(samples),
                                                  "--seed", std::to_string(seed), "--shadow-rays", "2",
                                                  "--devices", test::device_list(devices)} +
                                              seen_as(model.view())));
    return pictures;
}

/// Sums over some pixels in one colour. The noise of the program is what its pictures show, so that it does
/// not matter how it finds light.
struct Sums {
    double shown = 0, expected = 0, variance = 0; ///< variance: of the difference

    void add(const std::vector<Image>& pictures, std::size_t value, double mean, double error) {
        double sum = 0, squares = 0;
        for (const Image& picture : pictures) {
            const double number{picture.values[value]};
            sum += number / seeds;
            squares += number * number / seeds;
        }
        shown += sum;
        expected += mean;
        variance += error * error + std::max(0.0, squares - sum * sum) / (seeds - 1);
    }
    void expect_alike(const path_tracer::test::ModelCell& cell, const char* where) const {
        const double noise = std::sqrt(variance);
        EXPECT_NEAR(shown, expected, cell.tolerance * expected + 5 * noise) << cell.name << ", " << where;
    }
};

/// Each cell as a whole, and each quarter of it.
void expect_like(const std::vector<Image>& pictures, const ReferencePicture& expected,
                 const KhronosModel& model) {
    for (const Image& picture : pictures) {
        ASSERT_EQ(picture.width, expected.width);
        ASSERT_EQ(picture.height, expected.height);
    }
    constexpr std::size_t size = KhronosModel::cell;
    for (std::size_t i = 0; i < model.cells.size(); ++i)
        for (std::size_t colour = 0; colour < 3; ++colour) {
            Sums all;
            std::array<Sums, 4> quarters;
            for (std::size_t k = 0; k < size * size; ++k) {
                const std::size_t column = k % size, row = k / size;
                const std::size_t pixel =
                    (i / model.columns * size + row) * expected.width + i % model.columns * size + column;
                const ReferencePixel& there = expected.pixels[pixel];
                const auto part = [colour](path_tracer::test::Vector of_all) {
                    return std::array{of_all.x, of_all.y, of_all.z}[colour];
                };
                for (Sums* sums : {&all, &quarters[column / (size / 2) + row / (size / 2) * 2]})
                    sums->add(pictures, 3 * pixel + colour, part(there.mean), part(there.standard_error));
            }
            all.expect_alike(model.cells[i], "all of it");
            const std::array<const char*, 4> names = {"upper left", "upper right", "lower left",
                                                      "lower right"};
            for (std::size_t k = 0; k < names.size(); ++k) quarters[k].expect_alike(model.cells[i], names[k]);
        }
}

TEST_P(KhronosModels, LookAsTheReferenceHasThem) {
    const auto& [devices, number] = GetParam();
    const KhronosModel& model = models()[number];
    expect_like(shown_on(devices, model),
                path_tracer::test::read_picture(std::filesystem::path(HEADRACE_REFERENCE_PICTURES) /
                                                (model.name + ".exr")),
                model);
}

INSTANTIATE_TEST_SUITE_P(Devices, KhronosModels,
                         testing::Combine(testing::ValuesIn(every_device),
                                          testing::Range(std::size_t{0}, models().size())),
                         [](const auto& chosen) {
                             return test_name(std::get<0>(chosen.param)) + "_" +
                                    models()[std::get<1>(chosen.param)].name;
                         });

} // namespace
} // namespace headrace::end_to_end
