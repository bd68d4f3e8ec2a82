// The problems of headrace-coexec against their serial versions, on every device alone and on several at
// once; the serial versions against what is known without them; and that a wrong result is noticed.
#include "core/seeds.hpp"
#include "devices/devices_fixture.hpp"
#include "problems.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <map>
#include <numbers>
#include <numeric>
#include <random>

namespace coexec::test {
namespace {

using headrace::MemoryModel;
using headrace::Runtime;
using headrace::RuntimeOptions;
using headrace::test::fixed_seed;
using headrace::test::fresh_seed;

const ProblemKind& kind_named(std::string_view name) {
    return *std::ranges::find(problem_kinds(), name, &ProblemKind::name);
}

headrace::JobReport run(Runtime& runtime, Problem& problem) {
    problem.reset();
    const headrace::JobHandle handle = runtime.submit(problem.job());
    handle.wait();
    problem.collect();
    return handle.report();
}

void expect_right(const Problem& problem) {
    const Verdict verdict = problem.verify(1);
    EXPECT_GT(verdict.compared, 0u);
    EXPECT_EQ(verdict.wrong, 0u) << problem.text() << ": " << verdict.first_wrong;
    EXPECT_LE(verdict.worst, 1);
}

/// All results, a list each.
template <class T>
std::vector<std::vector<T>> results_of(Problem& problem) {
    std::vector<std::vector<T>> all;
    for (const std::span<std::byte> bytes : problem.results()) {
        all.emplace_back(bytes.size() / sizeof(T));
        std::memcpy(all.back().data(), bytes.data(), bytes.size());
    }
    return all;
}

/// Device lists.
class Coexec : public headrace::test::OnDevices {
protected:
    Runtime runtime(RuntimeOptions options = {}) { return Runtime(std::move(devices_), std::move(options)); }
};
INSTANTIATE_TEST_SUITE_P(On, Coexec,
                         testing::Values("cpu", "opencl:pocl", "opencl:nvidia", "cuda:0", "hip:0",
                                         "cpu,opencl:pocl", "cpu,cuda:0", "cpu,cuda:0,opencl:pocl"),
                         headrace::test::test_name);

// Tasks of a few units, so that several devices get some and none ends where a row does.
TEST_P(Coexec, ProblemsOfAnySizeAreSolved) {
    Runtime all = runtime({.devices = "", .policy = "demand:7"});
    std::map<std::string, std::uint64_t> work_units; // by device
    const auto has_none = [](const auto& device) { return device.second == 0; };
    int rounds = 0;
    do // on a busy machine one device may be too late for all problems of a round
        for (const ProblemKind& kind : problem_kinds())
            for (const std::uint64_t size : {1, 2, 37, 130}) {
                Settings settings;
                settings.size = size;
                settings.seed = fresh_seed();
                const auto problem = kind.make(settings, all);
                for (const headrace::DeviceReport& device : run(all, *problem).devices)
                    work_units[device.id] += device.work_units;
                expect_right(*problem);
            }
    while (std::ranges::any_of(work_units, has_none) && ++rounds < 10);
    for (const auto& [device, units] : work_units) EXPECT_GT(units, 0u) << device;
}

TEST_P(Coexec, WhatAProblemIsMadeOfMatters) {
    Runtime all = runtime();
    const auto expect_solved = [&](std::string_view name, const Settings& settings) {
        const auto problem = kind_named(name).make(settings, all);
        run(all, *problem);
        expect_right(*problem);
    };
    const std::uint64_t seed = fresh_seed();
    for (const std::uint32_t filter : {1u, 3u, 91u})
        expect_solved("gaussian", {.size = 40, .seed = seed, .filter = filter});
    for (const std::uint32_t terms : {1u, 2u, 5u})
        expect_solved("taylor", {.size = 999, .seed = seed, .terms = terms});
    for (const std::uint32_t iterations : {1u, 7u, 5000u})
        expect_solved("mandelbrot", {.size = 61, .seed = seed, .iterations = iterations});
    for (const std::uint32_t bounces : {0u, 1u, 20u})
        expect_solved("ray", {.size = 101, .seed = seed, .spheres = 1 + 9 * bounces, .bounces = bounces});
}

TEST_P(Coexec, MatricesAreMultipliedWithAndWithoutLibraries) {
    Runtime all = runtime();
    for (const bool is_double : {false, true})
        for (const bool uses_blas : {false, true})
            for (const auto& [rows, columns, inner] :
                 {std::array{1, 1, 1}, {3, 1, 500}, {1, 77, 2}, {201, 130, 67}}) {
                Settings settings;
                settings.size = static_cast<std::uint64_t>(rows);
                settings.columns = static_cast<std::uint64_t>(columns);
                settings.inner = static_cast<std::uint64_t>(inner);
                settings.seed = fresh_seed();
                settings.is_double = is_double;
                settings.uses_blas = uses_blas;
                const auto problem = make_matmul(settings, all);
                run(all, *problem);
                expect_right(*problem);
            }
}

/// One memory model on one device list.
class CoexecMemory : public Coexec {
protected:
    void solve_again_and_again(MemoryModel memory) {
        Runtime all = runtime({.devices = "", .memory = memory});
        for (const ProblemKind& kind : problem_kinds()) {
            Settings settings;
            settings.size = 150;
            const auto problem = kind.make(settings, all);
            for (int round = 0; round < 3;
                 ++round) { // what stays on devices from a run must not matter to the next
                run(all, *problem);
                expect_right(*problem);
            }
        }
    }
};
INSTANTIATE_TEST_SUITE_P(On, CoexecMemory,
                         testing::Values("cpu", "cuda:0", "hip:0", "cpu,opencl:pocl", "cpu,cuda:0"),
                         headrace::test::test_name);

TEST_P(CoexecMemory, UnifiedGivesTheSame) { solve_again_and_again(MemoryModel::unified); }
TEST_P(CoexecMemory, BuffersGiveTheSame) { solve_again_and_again(MemoryModel::buffers); }

/// Measurements of one must not be taken for the other's.
TEST(CoexecProblems, WhatMakesAWorkUnitLongerIsInTheKernelsName) {
    Runtime runtime(RuntimeOptions{.devices = "cpu", .model = "peak"});
    const auto name = [&](std::string_view problem, void (*change)(Settings&)) {
        Settings settings;
        settings.size = 64;
        change(settings);
        return kind_named(problem).make(settings, runtime)->job().kernel_name();
    };
    const auto as_it_is = [](Settings&) {};
    const auto expect_other = [&](std::string_view problem, void (*change)(Settings&)) {
        EXPECT_NE(name(problem, as_it_is), name(problem, change)) << problem;
    };
    expect_other("taylor", [](Settings& settings) { ++settings.terms; });
    expect_other("gaussian", [](Settings& settings) { settings.filter += 2; });
    expect_other("mandelbrot", [](Settings& settings) { ++settings.iterations; });
    expect_other("ray", [](Settings& settings) { ++settings.spheres; });
    expect_other("ray", [](Settings& settings) { ++settings.bounces; });
    expect_other("matmul", [](Settings& settings) { settings.is_double = !settings.is_double; });
    const auto by_kernels = [](Settings& settings) { settings.uses_blas = false; };
    EXPECT_NE(name("matmul", by_kernels).find("kernels"), std::string::npos);
#if defined(COEXEC_HAS_OPENBLAS)
    expect_other("matmul", by_kernels);
#endif
    for (const ProblemKind& kind : problem_kinds())
        EXPECT_EQ(name(kind.name, as_it_is), name(kind.name, [](Settings& settings) { ++settings.seed; }));
}

/// On the processor alone.
class CoexecVerdict : public testing::Test {
protected:
    std::unique_ptr<Problem> solved(std::string_view name, Settings settings) {
        auto problem = kind_named(name).make(settings, runtime_);
        run(runtime_, *problem);
        return problem;
    }
    std::unique_ptr<Problem> solved(const ProblemKind& kind) {
        return solved(kind.name, {.size = 50, .seed = fixed_seed()});
    }
    Runtime runtime_{RuntimeOptions{.devices = "cpu"}};
};

TEST_F(CoexecVerdict, WhatNobodyComputedIsWrong) {
    for (const ProblemKind& kind : problem_kinds()) {
        const auto problem = solved(kind);
        problem->reset();
        const Verdict verdict = problem->verify(1);
        EXPECT_GT(verdict.compared, 0u);
        EXPECT_EQ(verdict.wrong, verdict.compared) << kind.name;
        EXPECT_THROW(verdict.throw_if_wrong(), headrace::Error);
    }
}

TEST_F(CoexecVerdict, OneWrongValueIsFound) {
    std::mt19937_64 random(fixed_seed()); // a value next to nothing may stay within what is allowed
    for (const ProblemKind& kind : problem_kinds()) {
        const auto problem = solved(kind);
        problem->verify(1).throw_if_wrong();
        for (std::size_t which = 0; which < problem->results().size(); ++which) {
            const std::span<std::byte> bytes = problem->results()[which];
            // In the upper half, where a picture has the sky: no edge is near, where colours are uncertain.
            std::byte& tampered = bytes[random() % (bytes.size() / 8 / 16) * 16 + 2];
            tampered ^= std::byte{0x40}; // a quarter of a float or so; a colour by 64
            const Verdict verdict = problem->verify(1);
            EXPECT_EQ(verdict.wrong, 1u) << kind.name << " " << which;
            EXPECT_FALSE(verdict.first_wrong.empty());
            EXPECT_FALSE(verdict.worst <= 1);
            tampered ^= std::byte{0x40};
            EXPECT_EQ(problem->verify(1).wrong, 0u) << kind.name;
        }
    }
}

TEST_F(CoexecVerdict, LooksAtEveryNthValueIfAsked) {
    for (const ProblemKind& kind : problem_kinds()) {
        const auto problem = solved(kind);
        const Verdict all = problem->verify(1), some = problem->verify(7), one = problem->verify(1'000'000);
        EXPECT_NEAR(static_cast<double>(some.compared), static_cast<double>(all.compared) / 7,
                    static_cast<double>(one.compared))
            << kind.name;
        EXPECT_LE(one.compared, 8u);
        EXPECT_GT(one.compared, 0u);
    }
}

TEST_F(CoexecVerdict, KeepsToWhatIsAllowed) {
    Verdict verdict;
    verdict.compare("it", 0, 1.5, 1, 0.5);
    EXPECT_EQ(verdict.wrong, 0u);
    EXPECT_EQ(verdict.worst, 1);
    verdict.compare("it", 1, 0.4, 1, 0.5);
    verdict.compare("it", 2, std::nan(""), 1, 0.5);
    verdict.compare("it", 3, INFINITY, 1, 0.5);
    verdict.compare("it", 4, 7, 7, 0);
    EXPECT_EQ(verdict.compared, 5u);
    EXPECT_EQ(verdict.wrong, 3u);
    EXPECT_EQ(verdict.first_wrong, "it 1 is 0.400000, serially 1.000000");
}

/// What is known of results without any serial version.
class CoexecKnown : public CoexecVerdict {};

TEST_F(CoexecKnown, ABlurKeepsWhatItAveragesAndSmoothsIt) {
    const auto blurred = results_of<float>(*solved("gaussian", {.size = 64, .filter = 21})).at(0);
    std::vector<float> image(64 * 64);
    fill_at_random(image, 1, 0, 0, 1);
    const auto mean = [](const std::vector<float>& all) {
        return std::reduce(all.begin(), all.end(), 0.0) / 4096;
    };
    const auto variance = [&](const std::vector<float>& all) {
        double sum = 0;
        for (const float x : all) sum += (x - mean(all)) * (x - mean(all));
        return sum / 4096;
    };
    EXPECT_NEAR(mean(blurred), mean(image), 0.01); // edges count more often than the rest
    EXPECT_NEAR(variance(image), 1.0 / 12, 0.01);
    // Independent pixels, weights of deviation 3.5: 1 / (4 pi 3.5^2) of the variance is left.
    EXPECT_NEAR(variance(blurred) * 12, 1 / (4 * std::numbers::pi * 3.5 * 3.5), 0.006);
}

TEST_F(CoexecKnown, SeriesOfManyTermsAreSineAndCosine) {
    constexpr std::uint64_t size = 1000;
    const auto all = results_of<float>(*solved("taylor", {.size = size, .seed = 5}));
    std::vector<float> angles(size);
    constexpr auto pi = std::numbers::pi_v<float>;
    fill_at_random(angles, 5, 0, -pi, pi);
    for (std::uint64_t i = 0; i < size; ++i) {
        ASSERT_NEAR(all.at(0)[i], std::sin(double{angles[i]}), 2e-6);
        ASSERT_NEAR(all.at(1)[i], std::cos(double{angles[i]}), 2e-6);
    }
}

TEST_F(CoexecKnown, MoreOfAResourceEarnsMore) {
    const auto best = results_of<std::int32_t>(*solved("rap", {.size = 3000})).at(0);
    EXPECT_EQ(best.front(), 0);
    EXPECT_TRUE(std::ranges::is_sorted(best));
    EXPECT_GT(best.back(), 400 * 3000); // alone, an activity earns some 500 with each
}

TEST_F(CoexecKnown, TheSetIsBlackAndItsSurroundingsAreNot) {
    const auto steps =
        results_of<std::uint32_t>(*solved("mandelbrot", {.size = 200, .iterations = 500})).at(0);
    EXPECT_EQ(steps[0], 1u);                 // -2 - 1.25 i is out of the circle itself
    EXPECT_EQ(steps[100 * 200 + 160], 500u); // 0
    EXPECT_EQ(steps[100 * 200 + 80], 500u);  // -1
    EXPECT_EQ(steps[100 * 200 + 199], 5u);   // 0.49, 0.73, 1.01, 1.5, 2.8
}

TEST_F(CoexecKnown, AboveTheSpheresThereIsTheSky) {
    constexpr std::uint64_t side = 100;
    const auto picture = results_of<std::uint32_t>(*solved("ray", {.size = side})).at(0);
    const double x = 0.5 / 50 * 0.7, y = 49.5 / 50 * 0.7, height = y / std::sqrt(x * x + y * y + 1.44);
    EXPECT_NEAR(picture[50] & 255, 255 * (0.8 - 0.5 * height), 1);
    EXPECT_NEAR(picture[50] >> 8 & 255, 255 * (0.85 - 0.35 * height), 1);
    EXPECT_NEAR(picture[50] >> 16, 255 * 0.95, 1);
    EXPECT_NE(picture[75 * side + 50], picture[50]);
}

TEST_F(CoexecKnown, BodiesKeepTheirMomentum) {
    constexpr std::uint64_t size = 777;
    auto problem = solved("nbody", {.size = size});
    const auto velocities = results_of<float>(*problem).at(1);
    std::vector<float> before(3 * size);
    fill_at_random(before, 1, 1, -1, 1);
    double moved = 0;
    for (unsigned axis = 0; axis < 3; ++axis) {
        double sum = 0;
        for (std::uint64_t i = 0; i < size; ++i) {
            const double change = double{velocities[4 * i + axis]} - before[3 * i + axis];
            sum += change;
            moved += std::abs(change);
        }
        EXPECT_NEAR(sum, 0, 1e-4);
    }
    EXPECT_GT(moved, 0.1);
}

// c v = a (b v) for any v.
TEST_F(CoexecKnown, AProductIsOneMapAfterTheOther) {
    constexpr std::uint64_t size = 90;
    const auto c = results_of<float>(*solved("matmul", {.size = size, .seed = 3})).at(0);
    std::vector<float> a(size * size), b(size * size);
    fill_at_random(a, 3, 0, -1, 1);
    fill_at_random(b, 3, 1, -1, 1);
    const auto map = [](const std::vector<float>& m, const std::vector<double>& v) {
        std::vector<double> mapped(size);
        for (std::uint64_t i = 0; i < size; ++i)
            for (std::uint64_t j = 0; j < size; ++j) mapped[i] += m[i * size + j] * v[j];
        return mapped;
    };
    std::vector<double> v(size);
    std::iota(v.begin(), v.end(), -40.0);
    const auto once = map(c, v), twice = map(a, map(b, v));
    for (std::uint64_t i = 0; i < size; ++i) EXPECT_NEAR(once[i], twice[i], 0.02);
}

} // namespace
} // namespace coexec::test
