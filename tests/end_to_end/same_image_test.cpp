// The image does not depend on who rendered what: kernels, devices and splits all show the same samples.
#include "end_to_end/path_tracer.hpp"
#include "end_to_end/report.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace headrace::end_to_end {
namespace {

Options small(const Scratch& folder) {
    return furnished_room(folder) + Options{"--width", "96", "--height", "54", "--spp", "16"};
}

/// Same samples on the same arithmetic: only the order of sums may differ. A film value is a sum of at most
/// 16 x 7 terms in single precision.
constexpr double order_of_sums = 2e-5;

/// Two compilers contract and round differently, so a path that just misses an edge here hits it there and
/// goes elsewhere. Nearly all pixels agree all the same, and the few that do not weigh far less than the
/// noise.
void expect_same_paths(const Image& image, const Image& reference, double noise) {
    ASSERT_EQ(image.values.size(), reference.values.size());
    std::size_t differing = 0;
    for (std::size_t i = 0; i < image.values.size(); ++i) {
        const double a = image.values[i], b = reference.values[i];
        differing += !(std::abs(a - b) <= 1e-3 * std::max({1.0, std::abs(a), std::abs(b)}));
    }
    EXPECT_LT(static_cast<double>(differing), 0.05 * static_cast<double>(image.values.size()));
    EXPECT_LT(rms_difference(image, reference), 0.3 * noise);
}

class SameImage : public testing::TestWithParam<const char*> {
protected:
    void SetUp() override { HEADRACE_SKIP_WITHOUT(GetParam()); }
};

TEST_P(SameImage, ConsumerAndProducerShowTheSameSamples) {
    const Scratch folder;
    const Options options = small(folder) + Options{"--devices", GetParam()};
    const Image consumer = render(folder, options + Options{"--kernel", "consumer"});
    const Image producer = render(folder, options + Options{"--kernel", "producer"});
    EXPECT_LT(largest_difference(consumer, producer), order_of_sums);
}

TEST_P(SameImage, AnotherRunShowsTheSameSamplesAndAnotherSeedDoesNot) {
    const Scratch folder;
    const Options options = small(folder) + Options{"--devices", GetParam()};
    const Image once = render(folder, options), again = render(folder, options);
    EXPECT_LT(largest_difference(once, again), order_of_sums);
    EXPECT_GT(rms_difference(once, render(folder, options + Options{"--seed", "77"})), 0.01);
}

TEST_P(SameImage, DeviceShowsWhatTheCpuShows) {
    const Scratch folder;
    const Image cpu = render(folder, small(folder) + Options{"--devices", "cpu"});
    const double noise =
        rms_difference(cpu, render(folder, small(folder) + Options{"--devices", "cpu", "--seed", "77"}));
    for (const char* kernel : {"consumer", "producer"})
        expect_same_paths(
            render(folder, small(folder) + Options{"--devices", GetParam(), "--kernel", kernel}), cpu, noise);
}

INSTANTIATE_TEST_SUITE_P(Devices, SameImage, testing::ValuesIn(every_device),
                         [](const auto& chosen) { return test_name(chosen.param); });

class Split : public testing::TestWithParam<const char*> {
protected:
    void SetUp() override { HEADRACE_SKIP_WITHOUT(GetParam()); }
};

TEST_P(Split, OverDevicesShowsWhatOneDeviceShows) {
    const Scratch folder;
    const Image cpu = render(folder, small(folder) + Options{"--devices", "cpu"});
    const double noise =
        rms_difference(cpu, render(folder, small(folder) + Options{"--devices", "cpu", "--seed", "77"}));
    for (const char* kernel : {"consumer", "producer"})
        expect_same_paths(
            render(folder, small(folder) + Options{"--devices", GetParam(), "--kernel", kernel}), cpu, noise);
}

TEST_P(Split, ReportSaysWhoDidWhat) {
    const Scratch folder;
    static_cast<void>(
        render(folder, small(folder) + Options{"--devices", GetParam(), "--report", "report.json"}));
    const Report report = read_report(folder.path() / "report.json");

    const std::string list = GetParam();
    ASSERT_EQ(report.devices.size(),
              list == test::two_private_cpus
                  ? 2U
                  : 1U + static_cast<std::size_t>(std::count(list.begin(), list.end(), ',')));
    double shares = 0;
    for (const Report::Device& device : report.devices) {
        EXPECT_FALSE(device.name.empty());
        EXPECT_FALSE(device.kind.empty());
        EXPECT_GE(device.share, 0);
        shares += device.share;
    }
    EXPECT_NEAR(shares, 1, 1e-9);
    EXPECT_GT(report.seconds, 0);
}

/// Each name means one device, however many GPUs there are.
INSTANTIATE_TEST_SUITE_P(Lists, Split,
                         testing::Values(test::two_private_cpus, "cpu,opencl:pocl", "cpu,cuda:0",
                                         "cpu,opencl:nvidia.0", "cpu,cuda:0,opencl:pocl", "cpu,hip:0"),
                         [](const auto& chosen) { return test_name(chosen.param); });

} // namespace
} // namespace headrace::end_to_end
