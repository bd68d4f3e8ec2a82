// The arithmetic of the Sobel filter, on the host alone.
#include "apps/sobel_reference.hpp"
#include "sobel/words.hpp"

#include <gtest/gtest.h>

namespace sobel::test {
namespace {

TEST(SobelMagnitude, IsTheRootRoundedDownForEveryGradient) {
    int root = 0;
    for (int across = 0; across <= 1020; ++across)
        for (int down = 0; down <= 1020; ++down) {
            const int square = across * across + down * down;
            root = down == 0 ? across : root;
            while ((root + 1) * (root + 1) <= square) ++root;
            ASSERT_EQ(magnitude(across, down), std::min(root, 255)) << across << ", " << down;
            ASSERT_EQ(magnitude(-across, down), magnitude(across, -down));
        }
}

TEST(SobelMagnitude, SurvivesRootsThatAreOffByAsMuchAsOpenClAllows) {
    // What is under the root in magnitude(), its root off by 3 ulp of float either way; from 255 on it is
    // cut.
    for (int square = 0; square <= 256 * 256; ++square) {
        const double exact = std::sqrt(square + 0.5), error = exact * 3 / (1 << 23);
        const double whole = std::fmin(255, std::floor(std::sqrt(static_cast<double>(square))));
        ASSERT_EQ(std::fmin(255, std::floor(exact - error)), whole) << square;
        ASSERT_EQ(std::fmin(255, std::floor(exact + error)), whole) << square;
    }
}

TEST(SobelPlanes, KnowTheRowsOfAllPlanes) {
    const Planes planes = video::parse_y4m("made up", "YUV4MPEG2 W5 H3 C420").planes;
    std::int64_t first = 0;
    int number = 0;
    for (const auto& [rows, columns] : planes.plane)
        for (int y = 0; y < rows; ++y, ++number, first += columns) {
            const Row row = planes.row(number);
            EXPECT_EQ(row.first, first);
            EXPECT_EQ(row.y, y);
            EXPECT_EQ(row.rows, rows);
            EXPECT_EQ(row.columns, columns);
        }
    EXPECT_EQ(planes.rows(), number);
    EXPECT_EQ(static_cast<std::int64_t>(planes.bytes()), first);
}

TEST(SobelWords, FindTheEdgesOfFramesOfEverySize) {
    for (int height = 1; height <= 6; ++height)
        for (int width = 1; width <= 21; ++width) {
            const Planes planes = yuv_420(width, height).planes;
            const Frame frame = noise(planes, static_cast<std::uint32_t>(width));
            Frame edges(frame.size(), 77);
            for (int line = 0; line < planes.rows(); ++line) {
                const Row row = planes.row(line);
                for (int x = 0; x < row.columns; x += word) filter_word(frame.data(), edges.data(), row, x);
            }
            EXPECT_EQ(edges, reference(planes, frame)) << width << " x " << height;
        }
}

} // namespace
} // namespace sobel::test
