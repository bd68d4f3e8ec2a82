// The reference that others are compared with finds a known flow, and treats all directions alike.
#include "generated_frames.hpp"
#include "optical_flow_reference.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace optical_flow::test {
namespace {

using Frame = std::vector<double>;

constexpr Size size{96, 64};

Frame generated(std::int64_t number, Size of = size) {
    std::vector<float> frame(of.pixels());
    generate(number, of, frame);
    return {frame.begin(), frame.end()};
}

/// By how much a vector is off on average, eight pixels and more from the edges: at the edges there comes
/// what the frame before did not show.
double end_point_error(const Field& field) {
    constexpr int edge = 8;
    double sum = 0;
    for (int y = edge; y < size.height - edge; ++y)
        for (int x = edge; x < size.width - edge; ++x) {
            const auto at = static_cast<std::size_t>(y) * size.width + static_cast<std::size_t>(x);
            sum += std::hypot(field.u[at] - generated_u, field.v[at] - generated_v);
        }
    return sum / ((size.width - 2 * edge) * (size.height - 2 * edge));
}

double error_of(int levels, int warps, int iterations, double alpha) {
    return end_point_error(flow_of(generated(0), generated(1), size, levels, warps, iterations, alpha));
}

// The flow is 1.68 pixels long. Found: an error of 0.037 with three levels, and 1.11 with one.
TEST(OpticalFlowReference, LevelsFindTheFlowInFewIterations) {
    EXPECT_LT(error_of(3, 1, 100, 0.1), 0.05);
    EXPECT_GT(error_of(1, 1, 100, 0.1), 0.5);
}

// One equation is that of the motion's first order. Found: an error of 0.037 with three warps, and 0.101 with
// one.
TEST(OpticalFlowReference, WarpsFindWhatOneEquationLeaves) {
    EXPECT_LT(error_of(1, 3, 300, 0.01), 0.05);
    EXPECT_GT(error_of(1, 1, 300, 0.01), 0.08);
}

// As they come most often: several of each. Found: 0.082
TEST(OpticalFlowReference, LevelsAndWarpsFindTheFlow) { EXPECT_LT(error_of(3, 3, 100, 0.1), 0.1); }

TEST(OpticalFlowReference, BetweenEqualFramesNothingMoves) {
    const Frame frame = generated(0);
    const Field field = flow_of(frame, frame, size, 3, 2, 30, 0.01);
    EXPECT_EQ(field.u, Frame(size.pixels(), 0.0));
    EXPECT_EQ(field.v, Frame(size.pixels(), 0.0));
}

/// The picture in which pixel (x, y) is where `place` says.
template <class F>
Frame moved(const Frame& frame, Size to, F&& place) {
    Frame result;
    for (int y = 0; y < to.height; ++y)
        for (int x = 0; x < to.width; ++x) result.push_back(frame[place(x, y)]);
    return result;
}

// Levels of this size are odd and even; where pixels are mirrored, sums are rounded otherwise, but nothing
// more.
constexpr Size odd{47, 38};
constexpr double rounding = 1e-9;

void expect_near(const Frame& found, const Frame& expected, double sign) {
    ASSERT_EQ(found.size(), expected.size());
    for (std::size_t i = 0; i < found.size(); ++i) ASSERT_NEAR(found[i], sign * expected[i], rounding) << i;
}

TEST(OpticalFlowReference, MirroredFramesHaveTheMirroredFlow) {
    const Frame first = generated(0, odd), second = generated(1, odd);
    const auto other_side = [](int x, int y) {
        return static_cast<std::size_t>(y) * odd.width + static_cast<std::size_t>(odd.width - 1 - x);
    };
    const auto upside_down = [](int x, int y) {
        return static_cast<std::size_t>(odd.height - 1 - y) * odd.width + static_cast<std::size_t>(x);
    };
    const auto flow = [](const Frame& from, const Frame& to) {
        return flow_of(from, to, odd, 3, 2, 30, 0.01);
    };
    const Field field = flow(first, second);
    const Field sideways = flow(moved(first, odd, other_side), moved(second, odd, other_side));
    expect_near(sideways.u, moved(field.u, odd, other_side), -1);
    expect_near(sideways.v, moved(field.v, odd, other_side), 1);
    const Field upwards = flow(moved(first, odd, upside_down), moved(second, odd, upside_down));
    expect_near(upwards.u, moved(field.u, odd, upside_down), 1);
    expect_near(upwards.v, moved(field.v, odd, upside_down), -1);
}

TEST(OpticalFlowReference, RowsAreTreatedAsColumnsAre) {
    constexpr Size turned{odd.height, odd.width};
    const auto transposed = [](int x, int y) {
        return static_cast<std::size_t>(x) * odd.width + static_cast<std::size_t>(y);
    };
    const Frame first = generated(0, odd), second = generated(1, odd);
    const Field field = flow_of(first, second, odd, 3, 2, 30, 0.01);
    const Field other =
        flow_of(moved(first, turned, transposed), moved(second, turned, transposed), turned, 3, 2, 30, 0.01);
    expect_near(other.u, moved(field.v, turned, transposed), 1);
    expect_near(other.v, moved(field.u, turned, transposed), 1);
}

} // namespace
} // namespace optical_flow::test
