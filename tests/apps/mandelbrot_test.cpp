// The zoom on every device beside a plain loop, what the host makes of it, and who computes what.
#include "mandelbrot.kernels.hpp"
#include "zoom.hpp"

#include <devices/devices_fixture.hpp>

#include "picture.hpp"

#include <png.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <complex>
#include <mutex>
#include <set>
#include <vector>

namespace mandelbrot {
namespace {

using controller_program::Machine;
using headrace::test::OnDevices;
using headrace::test::test_name;
using Picture = std::vector<int>;

const Window whole{-2.5, 1.5, -1.125, 1.125};
/// Of about 1e-9: floats would show some dozen different pixels.
const Window deep{-0.743643887037151 - 1e-9, -0.743643887037151 + 1e-9, 0.131825904205330 - 1e-9,
                  0.131825904205330 + 1e-9};

/// Pictures as `devices` compute them, and how often each was finished.
struct Computed {
    std::vector<Picture> pictures;
    std::vector<int> finished;
};
Computed compute(const std::string& devices, Size size, const std::vector<Window>& windows, int threshold,
                 bool asynchronous = true, int threads = 3) {
    controller_program::CommonOptions options;
    options.asynchronous = asynchronous;
    options.devices = devices;
    Machine machine("test", options);
    Zoom zoom(machine, size, threads);
    Computed computed{std::vector<Picture>(windows.size()), std::vector<int>(windows.size())};
    std::mutex mutex;
    zoom.compute(windows, threshold, [&](std::size_t number, headrace::In<int> steps) {
        const std::scoped_lock lock(mutex);
        computed.pictures[number].assign(steps.begin(), steps.end());
        ++computed.finished[number];
    });
    return computed;
}

/// The paper's loop, in `Real`s.
template <class Real>
Picture reference(Size size, const Window& window, int threshold) {
    const Raster<Real> raster = window.raster<Real>(size.width, size.height);
    Picture picture;
    for (int row = 0; row < size.height; ++row)
        for (int column = 0; column < size.width; ++column) {
            const Real x0 = raster.x + raster.dx * static_cast<Real>(column);
            const Real y0 = raster.y + raster.dy * static_cast<Real>(row);
            Real x = 0, y = 0;
            int steps = 0;
            while (x * x + y * y <= 4 && steps < threshold) {
                const Real next = x * x - y * y + x0;
                y = 2 * x * y + y0;
                x = next;
                ++steps;
            }
            picture.push_back(steps);
        }
    return picture;
}

/// How many pixels of a hundred differ.
double percent_different(const Picture& a, const Picture& b) {
    EXPECT_EQ(a.size(), b.size());
    double different = 0;
    for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i) different += a[i] != b[i];
    return 100 * different / static_cast<double>(a.size());
}

class ZoomOn : public OnDevices {
protected:
    /// None where no compiler joins multiplications and additions; else steps near the set's edge differ.
    static constexpr double allowed_percent = HEADRACE_SAME_BITS ? 0 : 3;
};
INSTANTIATE_TEST_SUITE_P(Every, ZoomOn, headrace::test::every_device(), test_name);

TEST_P(ZoomOn, CountsTheStepsOfThePlainLoop) {
    for (const Size size : {Size{1, 1}, {33, 7}, {201, 151}, {64, 1}, {1, 70}}) {
        const Computed computed = compute(GetParam(), size, {whole}, 300);
        EXPECT_LE(percent_different(computed.pictures[0], reference<float>(size, whole, 300)),
                  allowed_percent)
            << size.width << " x " << size.height;
    }
    const Size size{61, 47};
    for (const int threshold : {1, 2, 7, 8, 9, 1000})
        EXPECT_LE(percent_different(compute(GetParam(), size, {whole}, threshold).pictures[0],
                                    reference<float>(size, whole, threshold)),
                  allowed_percent)
            << threshold;
}

TEST_P(ZoomOn, GoesOnInDoublesWhereFloatsEnd) {
    const Size size{75, 51};
    const Picture expected = reference<double>(size, deep, 2000);
    ASSERT_GT(std::set<int>(expected.begin(), expected.end()).size(), 50u) << "the window shows something";
    EXPECT_LE(percent_different(compute(GetParam(), size, {deep}, 2000).pictures[0], expected),
              allowed_percent);
}

TEST_P(ZoomOn, FinishesEveryFrameOnceInBothModes) {
    const std::vector<Window> windows = zoom_from(whole, 0.1, 40);
    const Size size{65, 33};
    const Computed asynchronous = compute(GetParam(), size, windows, 100, true);
    const Computed synchronous = compute(GetParam(), size, windows, 100, false);
    EXPECT_EQ(asynchronous.finished, std::vector<int>(40, 1));
    EXPECT_EQ(synchronous.finished, std::vector<int>(40, 1));
    EXPECT_EQ(asynchronous.pictures, synchronous.pictures);
    for (const std::size_t frame : {0u, 1u, 17u, 39u})
        EXPECT_LE(
            percent_different(asynchronous.pictures[frame], reference<float>(size, windows[frame], 100)),
            allowed_percent)
            << frame;
}

class ZoomOnSeveral : public OnDevices {};
INSTANTIATE_TEST_SUITE_P(Every, ZoomOnSeveral,
                         testing::Values("cpu,opencl:pocl", "cpu,cuda:0", "cuda:0,cuda:1"), test_name);

TEST_P(ZoomOnSeveral, MakesTheFramesOfOne) {
    const std::vector<Window> windows = zoom_from(whole, 0.1, 30);
    const Computed together = compute(GetParam(), {129, 65}, windows, 200);
    EXPECT_EQ(together.finished, std::vector<int>(30, 1));
    EXPECT_EQ(together.pictures, compute("cpu", {129, 65}, windows, 200).pictures);
}

TEST(Mandelbrot, AgreesWithWhatIsKnownOfTheSet) {
    const Size size{400, 300};
    const Picture steps = compute("cpu", size, {whole}, 500).pictures[0];
    const Raster<double> raster = whole.raster<double>(size.width, size.height);
    int in_body = 0, outside = 0;
    for (int row = 0; row < size.height; ++row)
        for (int column = 0; column < size.width; ++column) {
            const std::complex<double> c(raster.x + raster.dx * column, raster.y + raster.dy * row);
            const int counted = steps[static_cast<std::size_t>(row * size.width + column)];
            // The main cardioid and the disc to its left, a little smaller than they are.
            if (std::abs(1.0 - std::sqrt(1.0 - 4.0 * c)) < 0.99 || std::abs(c + 1.0) < 0.245) {
                ++in_body;
                ASSERT_EQ(counted, 500) << c;
            }
            if (std::abs(c) > 2.001) { // z is 0, then c
                ++outside;
                ASSERT_EQ(counted, 1 + (std::abs(c) <= 2)) << c;
            }
        }
    EXPECT_GT(in_body, 10000);
    EXPECT_GT(outside, 10000);
}

TEST(Mandelbrot, LosesFewPixelsToFloats) {
    // Steps of points near the edge depend on every bit; of others, not.
    const Size size{301, 169};
    EXPECT_LT(percent_different(compute("cpu", size, {whole}, 200).pictures[0],
                                reference<double>(size, whole, 200)),
              3);
}

TEST(Mandelbrot, EndsWithTheFirstFailureAndBeginsNoMore) {
    for (const bool asynchronous : {true, false}) {
        controller_program::CommonOptions options;
        options.asynchronous = asynchronous;
        options.devices = "cpu";
        Machine machine("test", options);
        Zoom zoom(machine, {16, 16}, 2);
        std::atomic<int> finished = 0;
        try {
            zoom.compute(std::vector<Window>(100'000, whole), 10, [&](std::size_t number, headrace::In<int>) {
                if (number == 5) throw headrace::Error{headrace::ErrorKind::io, "the disk is full"};
                ++finished;
            });
            ADD_FAILURE() << "no failure";
        } catch (const headrace::Error& error) {
            EXPECT_NE(error.message().find("the disk is full"), std::string::npos) << error.message();
        }
        EXPECT_LT(finished, 50'000); // those that others finish while the failure is on its way
    }
}

TEST(MandelbrotWindow, ShrinksAsThePaperHasItOrTowardsATarget) {
    const Window paper = Window{0, 1, 0, 2}.shrunk(0.1, {});
    EXPECT_DOUBLE_EQ(paper.x1, 0.1);
    EXPECT_DOUBLE_EQ(paper.x2, 0.91); // 1 - 0.1 (1 - 0.1)
    EXPECT_DOUBLE_EQ(paper.y1, 0.2);
    EXPECT_DOUBLE_EQ(paper.y2, 1.82);

    Window window = whole;
    const Point target{-0.7436, 0.1318};
    const double share = (target.x - window.x1) / (window.x2 - window.x1);
    for (int i = 0; i < 100; ++i) window = window.shrunk(0.1, target);
    EXPECT_NEAR((target.x - window.x1) / (window.x2 - window.x1), share, 1e-6);
    EXPECT_NEAR((window.x2 - window.x1) / 4, std::pow(0.9, 100), 1e-12);
}

TEST(MandelbrotWindow, IsTooFineForFloatsWhereTheyShowFewerColumns) {
    for (const Window& window : zoom_from(whole, 0.2, 100)) {
        const int width = 640;
        const Raster<float> raster = window.raster<float>(width, 360);
        std::set<float> columns;
        for (int i = 0; i < width; ++i) columns.insert(raster.x + raster.dx * static_cast<float>(i));
        if (window.is_coarse(width, 360)) {
            EXPECT_EQ(columns.size(), static_cast<std::size_t>(width));
        }
    }
    EXPECT_TRUE(whole.is_coarse(4096, 2304));
    EXPECT_FALSE(deep.is_coarse(64, 36));
}

TEST(MandelbrotPicture, SumsUpItsSteps) {
    const Statistics sums = statistics_of(std::vector<int>{0, 9, 10, 11, 500, 500}, 500);
    EXPECT_EQ(sums.early, 2);
    EXPECT_EQ(sums.inside, 2);
    EXPECT_EQ(sums.steps, 1030);
}

/// Red, green, blue of each pixel.
std::vector<std::uint8_t> decode(const std::string& bytes, int width, int height) {
    png_image image{};
    image.version = PNG_IMAGE_VERSION;
    EXPECT_NE(png_image_begin_read_from_memory(&image, bytes.data(), bytes.size()), 0) << image.message;
    EXPECT_EQ(image.width, static_cast<png_uint_32>(width));
    EXPECT_EQ(image.height, static_cast<png_uint_32>(height));
    image.format = PNG_FORMAT_RGB;
    std::vector<std::uint8_t> pixels(PNG_IMAGE_SIZE(image));
    EXPECT_NE(png_image_finish_read(&image, nullptr, pixels.data(), 0, nullptr), 0) << image.message;
    return pixels;
}

TEST(MandelbrotPicture, IsBlackInsideAndColouredByStepsOutside) {
    const Picture steps{1000, 0, 1, 2, 254, 999, 1000, 1, 255};
    const auto pixels = decode(encode_png(3, 3, steps, 1000), 3, 3);
    const auto colour = [&](std::size_t i) {
        return std::vector<int>{pixels[3 * i], pixels[3 * i + 1], pixels[3 * i + 2]};
    };
    const std::vector<int> black{0, 0, 0};
    for (std::size_t i = 0; i < steps.size(); ++i) EXPECT_EQ(colour(i) == black, steps[i] == 1000) << i;
    EXPECT_EQ(colour(2), colour(7)); // the same steps
    EXPECT_EQ(colour(1), colour(8)); // once round
    EXPECT_NE(colour(1), colour(2));
}

TEST(MandelbrotPicture, HasANameThatSortsByItsNumber) {
    EXPECT_EQ(file_of_frame("out", 7), "out/frame_00007.png");
    EXPECT_LT(file_of_frame("out", 99), file_of_frame("out", 100));
}

} // namespace
} // namespace mandelbrot
