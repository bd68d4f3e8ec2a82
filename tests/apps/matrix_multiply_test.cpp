// Products of matrices on every device.
#include "apps/matrix_reference.hpp"
#include "devices/devices_fixture.hpp"
#include "matrices/multiply.hpp"
#include "matrices/multiply_opencl.hpp"

#include <gtest/gtest.h>

namespace matrices::test {
namespace {

using headrace::Array;
using headrace::Controller;
using headrace::Error;
using headrace::ErrorKind;
using headrace::test::every_device;
using headrace::test::test_name;

struct Factors {
    Factors(int rows, int columns, int inner)
        : a("a", {rows, inner}), b("b", {inner, columns}), c("c", {rows, columns}) {
        std::ranges::copy(noise(a.size(), 1), a.fill().begin());
        std::ranges::copy(noise(b.size(), 2), b.fill().begin());
    }
    Array<float> a, b, c;
};

class Multiply : public headrace::test::OnDevices {};
INSTANTIATE_TEST_SUITE_P(Every, Multiply, every_device(), test_name);

TEST_P(Multiply, MatricesOfAnySize) {
    Controller controller(device());
    for (const auto& [rows, columns, inner] :
         {std::array{1, 1, 1}, {3, 1, 1000}, {64, 128, 96}, {128, 128, 8}, {65, 127, 31}, {257, 130, 301}}) {
        Factors all(rows, columns, inner);
        multiply(controller, all.a, all.b, all.c);
        const auto got = all.c.gather();
        const Doubles expected = product(all.a.gather(), all.b.gather(), rows, columns, inner);
        for (std::size_t i = 0; i < got.size(); ++i)
            ASSERT_NEAR(got[i], expected[i], tolerance(inner))
                << i << " of " << rows << " x " << columns << ", " << inner << " deep";
    }
}

// GPUs take larger tiles where there are many; whether they fit the matrices makes two kernels of each.
TEST_P(Multiply, MatricesOfManyTiles) {
    if (device().info().kind != headrace::DeviceKind::gpu) GTEST_SKIP() << "large tiles are for GPUs";
    Controller controller(device());
    for (const auto& [rows, columns, inner] : {std::array{1920, 1792, 64}, {1921, 1791, 67}}) {
        Factors all(rows, columns, inner);
        multiply(controller, all.a, all.b, all.c);
        const auto got = all.c.gather();
        const auto a = all.a.gather(), b = all.b.gather();
        for (int i = 0; i < rows; i += 7)
            for (int j = i % 11; j < columns; j += 11)
                ASSERT_NEAR(got[static_cast<std::size_t>(i) * columns + j],
                            product_at(a, b, columns, inner, i, j), tolerance(inner))
                    << i << " " << j;
    }
}

TEST_P(Multiply, ABandOfRowsLeavesTheOthersAlone) {
    Controller controller(device());
    Factors all(200, 150, 70);
    std::ranges::fill(all.c.fill(), -5.0f);
    multiply(controller, all.a, all.b, all.c, 33, 170);
    const auto got = all.c.gather();
    const Doubles expected = product(all.a.gather(), all.b.gather(), 200, 150, 70);
    for (int i = 0; i < 200; ++i)
        for (int j = 0; j < 150; ++j)
            if (const std::size_t at = i * 150 + j; i >= 33 && i < 170)
                ASSERT_NEAR(got[at], expected[at], tolerance(70)) << i << " " << j;
            else
                ASSERT_EQ(got[at], -5.0f) << i << " " << j;
}

// Which of OpenCL's two kernels is faster depends on the device; right are both on all.
TEST_P(Multiply, BothKernelsOfOpenClRunEverywhere) {
    if (device().info().technology != "opencl") GTEST_SKIP() << "no OpenCL C here";
    Controller controller(device());
    for (const OpenClMultiply& kernel : {opencl_for_gpus, opencl_for_processors})
        for (const auto& [rows, columns, inner] : {std::array{1, 1, 1}, {128, 256, 64}, {131, 259, 67}}) {
            Factors all(rows, columns, inner);
            headrace::Implementations<matrices::Multiply> alone;
            alone.add({"opencl"}, on_opencl(kernel));
            launch(controller, alone, headrace::grid(rows, columns), all.a, all.b, all.c);
            const auto got = all.c.gather();
            const Doubles expected = product(all.a.gather(), all.b.gather(), rows, columns, inner);
            for (std::size_t i = 0; i < got.size(); ++i)
                ASSERT_NEAR(got[i], expected[i], tolerance(inner)) << kernel.name << " " << i;
        }
}

TEST_P(Multiply, SaysWhichMatricesDoNotFit) {
    Controller controller(device());
    Array<float> a("left", {2, 3}), b("right", {4, 5}), c("both", {2, 5});
    try {
        multiply(controller, a, b, c);
        FAIL() << "multiplied what cannot be";
    } catch (const Error& error) {
        EXPECT_EQ(error.kind(), ErrorKind::invalid_argument);
        EXPECT_NE(error.message().find("left is 2 x 3, right is 4 x 5"), std::string::npos)
            << error.message();
    }
}

} // namespace
} // namespace matrices::test
