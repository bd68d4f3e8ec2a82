// apps/coexec/ray.cpp - a picture of spheres that reflect each other: irregular.
#include "problems.hpp"
#include "ray.kernels.hpp"

#define COEXEC_REAL double
#define COEXEC_TRACER coexec::in_doubles // the serial version
#include "tracer.h"
#undef COEXEC_REAL
#undef COEXEC_TRACER

#include "ray.cl.hpp"

#include <algorithm>
#include <array>

namespace coexec {
namespace {

using headrace::Task;

/// Red, green, blue, 0 to 255.
using Channels = std::array<double, 3>;

class RayTracing final : public Problem {
public:
    RayTracing(const Settings& settings, const headrace::Runtime& runtime)
        : Problem(runtime),
          scene_{static_cast<std::uint32_t>(settings.size), settings.spheres, settings.bounces},
          spheres_(input<Sphere>("spheres", {settings.spheres})),
          picture_(result<std::uint32_t>("picture", {settings.size, settings.size})) {
        fill(spheres_.fill(), settings.seed);
    }

    [[nodiscard]] std::string text() const override {
        const std::string side = std::to_string(scene_.side);
        return "ray: " + side + " x " + side + " pixels, " + std::to_string(scene_.spheres) +
               " spheres, at most " + std::to_string(scene_.bounces) + " bounces";
    }

    [[nodiscard]] headrace::Job job() const override {
        headrace::Job job("ray", picture_.size());
        job.kernel_name("ray, " + std::to_string(scene_.spheres) + " spheres, " +
                        std::to_string(scene_.bounces) + " bounces")
            .reads(spheres_)
            .writes(elements(picture_))
            .kernel([spheres = spheres_, picture = picture_, scene = scene_](Task& task) {
                return SeeSpheres{task.read(spheres), task.write(picture), scene};
            })
            .opencl(opencl_kernel("ray.cl", headrace::embedded::ray_cl),
                    [spheres = spheres_, picture = picture_,
                     scene = scene_](Task& task, headrace::OpenClArguments& arguments) {
                        arguments.buffer(task.memory(spheres)).buffer(task.memory(picture)).value(scene);
                    });
        return job;
    }

    [[nodiscard]] Verdict verify(std::uint64_t stride) const override {
        Verdict verdict;
        const auto spheres = spheres_.gather();
        const auto picture = picture_.gather();
        for (std::uint64_t i = 0; i < picture.size(); i += stride) {
            const Channels got = channels(picture[i]);
            const bool is_packed = picture[i] < 1u << 24;
            const Channels expected = is_packed ? nearest_to(got, spheres.data(), i) : Channels{-1, -1, -1};
            for (unsigned c = 0; c < 3; ++c) verdict.compare("channel", 3 * i + c, got[c], expected[c], 1);
        }
        return verdict;
    }

private:
    /// Rays in floats are beside their way by some millionths, which at the edge of a sphere or a shadow is
    /// another colour: so it may be any that the serial version sees so little beside, and what is between.
    [[nodiscard]] Channels nearest_to(const Channels& got, const Sphere* spheres, std::uint64_t pixel) const {
        const auto seen_at = [&](double column, double row) {
            return channels(in_doubles::packed(in_doubles::colour_at(spheres, scene_, column, row)));
        };
        const double column = static_cast<double>(pixel % scene_.side) + 0.5,
                     row = static_cast<double>(pixel / scene_.side) + 0.5;
        const Channels centre = seen_at(column, row);
        if (are_alike(got, centre)) return centre;
        Channels least = centre, most = centre;
        for (const double angle : {1e-6, 1e-5, 5e-5}) {
            const double beside = angle * scene_.side;
            for (const double x : {-beside, 0.0, beside})
                for (const double y : {-beside, 0.0, beside}) {
                    const Channels seen = seen_at(column + x, row + y);
                    for (unsigned c = 0; c < 3; ++c) {
                        least[c] = std::min(least[c], seen[c]);
                        most[c] = std::max(most[c], seen[c]);
                    }
                }
        }
        Channels nearest{};
        for (unsigned c = 0; c < 3; ++c) nearest[c] = std::clamp(got[c], least[c], most[c]);
        return nearest;
    }
    static bool are_alike(const Channels& a, const Channels& b) {
        return std::equal(a.begin(), a.end(), b.begin(),
                          [](double x, double y) { return std::abs(x - y) <= 1; });
    }
    static Channels channels(std::uint32_t packed) {
        return {static_cast<double>(packed & 255), static_cast<double>(packed >> 8 & 255),
                static_cast<double>(packed >> 16 & 255)};
    }

    /// On the floor before the eye, of all sizes and colours; every third is matt.
    static void fill(std::span<Sphere> spheres, std::uint64_t seed) {
        std::vector<float> numbers(8 * spheres.size());
        fill_at_random(numbers, seed, 0, 0, 1);
        for (std::size_t i = 0; i < spheres.size(); ++i) {
            const float* n = numbers.data() + 8 * i;
            const float radius = 0.1f + 0.5f * n[0] * n[0];
            spheres[i] = {8 * n[1] - 4,       radius,
                          8 * n[2] - 2,       radius,
                          0.2f + 0.8f * n[3], 0.2f + 0.8f * n[4],
                          0.2f + 0.8f * n[5], i % 3 == 0 ? 0 : 0.2f + 0.6f * n[6]};
        }
    }

    Scene scene_;
    headrace::Domain<Sphere> spheres_;
    headrace::Domain<std::uint32_t> picture_;
};

} // namespace

std::unique_ptr<Problem> make_ray(const Settings& settings, const headrace::Runtime& runtime) {
    return std::make_unique<RayTracing>(settings, runtime);
}

} // namespace coexec
