// Light transport against closed forms, against another way to compute the same, and against itself.
#include "apps/host_renderer.hpp"
#include "apps/reference_tracer.hpp"
#include "apps/scene_builder.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace path_tracer::test {
namespace {

constexpr CameraPose inside{{-0.3f, 0.2f, 0.7f}, {0.4f, 0.1f, -0.5f}, 70};

PreparedScene glowing_room(const SurfaceDescription& wall) {
    SceneBuilder builder;
    builder.material(wall).box({-1, -1, -1}, {1, 1.25f, 1.5f});
    return prepare_scene(builder.scene());
}

TEST(Furnace, ClosedRoomSumsTheGeometricSeriesWithoutVariance) {
    const float albedo = 0.8f;
    const PreparedScene room = glowing_room(lambert(albedo, 1));
    for (const uint32_t depth : {1u, 2u, 3u, 8u, 32u}) {
        Frame frame = small_frame(room, inside, 32, 24);
        frame.max_depth = depth;
        const double expected = (1 - std::pow(0.8, depth)) / (1 - 0.8);
        for (uint64_t i = 0; i < std::uint64_t{32} * 24 * 64;
             ++i) { // every sample, not the mean: one that leaks shows
            PathVertex vertex = begin_path(frame, i);
            float radiance = 0;
            for (bool goes_on = true; goes_on;) {
                const VertexResult result = trace_vertex(view_of(room), frame, vertex);
                radiance += result.radiance.r;
                goes_on = result.goes_on;
                vertex = result.next;
            }
            ASSERT_NEAR(radiance, expected, 2e-6 * expected) << "sample " << i << " at depth " << depth;
        }
    }
}

TEST(Furnace, MixturesOfGreyPartsHaveNoVarianceEither) {
    SurfaceDescription wall{.base = {0.3f, 0.3f, 0.3f}, .mirror = {0.5f, 0.5f, 0.5f}, .emission = {1, 1, 1}};
    const PreparedScene room = glowing_room(wall);
    Frame frame = small_frame(room, inside, 32, 24);
    frame.max_depth = 12;
    const double expected = (1 - std::pow(0.8, 12)) / (1 - 0.8);
    for (const Rgb& sum : sum_with_consumer(room, frame, 16))
        ASSERT_NEAR(sum.r / 16, expected, 1e-5 * expected);
}

TEST(Furnace, DirectLightAndRouletteKeepTheMean) {
    const PreparedScene room = glowing_room(lambert(0.8f, 1));
    Frame frame = small_frame(room, inside, 16, 12);
    frame.max_depth = 6;
    const double expected = (1 - std::pow(0.8, 6)) / (1 - 0.8);
    for (const auto& [shadow_rays, roulette_from] :
         {std::pair{1u, 0u}, std::pair{3u, 0u}, std::pair{0u, 1u}, std::pair{2u, 2u}}) {
        frame.shadow_rays = shadow_rays;
        frame.roulette_from = roulette_from;
        const Estimate estimated = estimate(room, frame, 400);
        EXPECT_NEAR(estimated.mean, expected, 4 * estimated.standard_error) << shadow_rays << " shadow rays";
        EXPECT_LT(estimated.standard_error, 0.02 * expected);
    }
}

TEST(Sky, ConvexLambertBodyShowsItsAlbedoInEverySample) {
    SceneBuilder builder;
    builder.material(lambert(0.65f)).sphere({0, 0, 0}, 1, 4);
    const PreparedScene body = prepare_scene(builder.scene());
    Frame frame = small_frame(body, {{3, 2, 4}, {0, 0, 0}, 20}, 32, 24);
    frame.sky = {1, 1, 1};
    int hits = 0;
    for (uint64_t i = 0; i < std::uint64_t{32} * 24 * 32; ++i) {
        const VertexResult first = trace_vertex(view_of(body), frame, begin_path(frame, i));
        if (!first.goes_on) continue; // sky
        ++hits;
        const VertexResult second = trace_vertex(view_of(body), frame, first.next);
        ASSERT_FALSE(second.goes_on) << "a ray came back to a convex body";
        ASSERT_NEAR(first.radiance.r + second.radiance.r, 0.65, 1e-5);
    }
    EXPECT_GT(hits, 5000);
}

TEST(Energy, GlassAndMirrorNeitherMakeNorLoseLight) {
    for (const SurfaceDescription& surface : {glass(1.5f), glass(2.4f), glass(1.0f), mirror(1)}) {
        SceneBuilder builder;
        builder.material(surface).sphere({0, 0, 0}, 1, 3).box({1.2f, -1, -1}, {2, 1, 1});
        const PreparedScene body = prepare_scene(builder.scene());
        Frame frame = small_frame(body, {{3, 2, 4}, {0.5f, 0, 0}, 40}, 24, 16);
        frame.sky = {1, 1, 1};
        frame.max_depth = 2000; // light that goes round and round within has to come out
        for (const Rgb& sum : sum_with_consumer(body, frame, 16)) ASSERT_NEAR(sum.r / 16, 1, 1e-5);
    }
}

TEST(Glass, StraightThroughAPlateLeavesTwiceTheReflectance) {
    // Two surfaces that each reflect R = 0.04, with all reflections between them: T = (1 - R) / (1 + R).
    SceneBuilder builder;
    builder.material(glass(1.5f)).box({-50, -50, -0.1f}, {50, 50, 0.1f});
    builder.material(lambert(0, 1)).triangle({-500, -500, -5}, {500, -500, -5}, {0, 800, -5});
    const PreparedScene plate = prepare_scene(builder.scene());
    Frame frame = small_frame(plate, {{0, 0, 5}, {0, 0, 0}, 0.1f}, 8, 8);
    frame.max_depth = 100;
    const Estimate estimated = estimate(plate, frame, 2000);
    EXPECT_NEAR(estimated.mean, (1 - 0.04) / (1 + 0.04), 4 * estimated.standard_error);
    EXPECT_LT(estimated.standard_error, 1e-3);
}

/// Random rooms with everything in them.
Scene random_scene(std::mt19937& random) {
    std::uniform_real_distribution<float> uniform;
    const auto reflectance = [&] { return 0.2f + 0.6f * uniform(random); };
    SceneBuilder builder;
    builder.material(lambert(reflectance())).box({-2, -2, -2}, {2, 2, 2});
    builder.material(lambert(reflectance(), 1 + 3 * uniform(random))).soup(random, 4, 1.5f, 1.2f);
    builder.material(lambert(0, 2)).soup(random, 2, 1.5f, 0.8f);
    builder.material({.base = {0.3f, 0.3f, 0.3f}, .mirror = {0.4f, 0.4f, 0.4f}}).soup(random, 4, 1.5f, 1.2f);
    builder.material(mirror(reflectance())).soup(random, 2, 1.5f, 1.2f);
    builder.material(glass(1.2f + uniform(random))).box({-0.8f, -1.2f, -0.9f}, {-0.1f, -0.3f, -0.2f});
    return builder.scene();
}

ReferenceView reference_view(const CameraPose& pose, std::size_t width, std::size_t height, double sky,
                             int max_depth) {
    const auto vector_of = [](Point a) { return Vector{a.x, a.y, a.z}; };
    return {.eye = vector_of(pose.eye),
            .target = vector_of(pose.target),
            .vertical_fov_degrees = double{pose.vertical_fov_degrees},
            .width = width,
            .height = height,
            .sky = {sky, sky, sky},
            .max_depth = max_depth};
}

TEST(Radiance, IsThatOfADoublePrecisionTracerWithoutHierarchy) {
    std::mt19937 random(11);
    std::mt19937_64 reference_random(12);
    const CameraPose pose{{1.2f, 1.1f, 1.6f}, {-0.2f, -0.4f, -0.3f}, 65};
    for (int scene_number = 0; scene_number < 6; ++scene_number) {
        const Scene scene = random_scene(random);
        const PreparedScene prepared = prepare_scene(scene);
        const int depth = 1 + scene_number;
        const ReferenceEstimate reference = reference_estimate(
            reference_scene_of(scene), reference_view(pose, 40, 30, 0, depth), 60000, reference_random);
        for (const uint32_t shadow_rays : {0u, 2u}) {
            Frame frame = small_frame(prepared, pose, 40, 30);
            frame.max_depth = static_cast<uint32_t>(depth);
            frame.shadow_rays = shadow_rays;
            const Estimate estimated = estimate(prepared, frame, 60);
            const double error = std::hypot(estimated.standard_error, reference.standard_error);
            EXPECT_NEAR(estimated.mean, reference.mean, 4 * error)
                << "scene " << scene_number << ", " << shadow_rays << " shadow rays";
            EXPECT_LT(error, 0.03 * reference.mean);
        }
    }
}

TEST(Radiance, OpenScenesSeeTheSkyAsTheReferenceDoes) {
    std::mt19937 random(21);
    std::mt19937_64 reference_random(22);
    SceneBuilder builder;
    builder.material(lambert(0.7f))
        .soup(random, 30, 1, 1)
        .material(lambert(0.3f, 1))
        .soup(random, 5, 1, 0.7f);
    const CameraPose pose{{0.5f, 0.8f, 3}, {0, 0, 0}, 45};
    const PreparedScene prepared = prepare_scene(builder.scene());
    const ReferenceEstimate reference = reference_estimate(
        reference_scene_of(builder.scene()), reference_view(pose, 48, 32, 0.8, 5), 60000, reference_random);
    for (const uint32_t shadow_rays : {0u, 1u}) {
        Frame frame = small_frame(prepared, pose, 48, 32);
        frame.max_depth = 5;
        frame.sky = {0.8f, 0.8f, 0.8f};
        frame.shadow_rays = shadow_rays;
        const Estimate estimated = estimate(prepared, frame, 40);
        EXPECT_NEAR(estimated.mean, reference.mean,
                    4 * std::hypot(estimated.standard_error, reference.standard_error));
    }
}

TEST(Radiance, LightsOfDifferentBrightnessAndSizeAreSampledInProportion) {
    SceneBuilder builder; // one large dim light, one small bright one, one of three triangles
    builder.material(lambert(0.5f)).triangle({-5, 0, -5}, {0, 0, 8}, {5, 0, -5});
    builder.material(lambert(0, 0.5f)).triangle({-2, 2, -2}, {2, 2, -2}, {0, 2, 2});
    builder.material(lambert(0, 60)).triangle({1, 1, 0}, {1.1f, 1, 0}, {1, 1, 0.1f});
    builder.material(lambert(0, 3)).triangle({-2, 0.1f, 1}, {-2, 1, 1}, {-2, 0.1f, 2});
    const PreparedScene prepared = prepare_scene(builder.scene());
    double chance = 0; // of each light, from the alias table
    std::vector<double> chances(prepared.triangles.size());
    for (const Light& light : prepared.lights) {
        chances[light.emitter] += double{light.keep} / prepared.light_count;
        chances[prepared.lights[light.alias].emitter] += (1 - double{light.keep}) / prepared.light_count;
    }
    double total = 0;
    const auto weight = [&](std::size_t i) {
        const Triangle& t = prepared.triangles[i];
        return length(cross(wide(t.b) - wide(t.a), wide(t.c) - wide(t.a))) *
               luminance(prepared.materials[t.material].emission);
    };
    for (std::size_t i = 0; i < chances.size(); ++i) total += weight(i);
    for (std::size_t i = 0; i < chances.size(); ++i) {
        EXPECT_NEAR(chances[i], weight(i) / total, 1e-6);
        chance += chances[i];
    }
    EXPECT_NEAR(chance, 1, 1e-6);
}

TEST(Noise, FallsWithTheSquareRootOfSamples) {
    std::mt19937 random(51);
    SceneBuilder builder; // under a sky and without lamps, radiance is bounded, and so is its variance
    builder.material(lambert(0.7f)).soup(random, 60, 1, 1);
    const PreparedScene scene = prepare_scene(builder.scene());
    Frame frame = small_frame(scene, {{0.5f, 0.8f, 3}, {0, 0, 0}, 40}, 48, 36);
    frame.sky = {1, 1, 1};
    // Differences between two seeds: no reference is needed, whose own noise would bend the line.
    std::vector<double> logs_of_samples, logs_of_error;
    for (const uint32_t samples : {2u, 4u, 8u, 16u, 32u, 64u}) {
        frame.seed_low = 1000 + samples;
        const auto one = sum_with_consumer(scene, frame, samples);
        frame.seed_low = 2000 + samples;
        const auto other = sum_with_consumer(scene, frame, samples);
        double sum = 0;
        for (std::size_t i = 0; i < one.size(); ++i)
            sum += std::pow(double{one[i].r - other[i].r} / samples, 2);
        logs_of_samples.push_back(std::log(samples));
        logs_of_error.push_back(0.5 * std::log(sum / (2 * static_cast<double>(one.size()))));
    }
    double mean_x = 0, mean_y = 0, covariance = 0, variance = 0;
    const auto count = static_cast<double>(logs_of_samples.size());
    for (std::size_t i = 0; i < logs_of_samples.size(); ++i)
        mean_x += logs_of_samples[i] / count, mean_y += logs_of_error[i] / count;
    for (std::size_t i = 0; i < logs_of_samples.size(); ++i) {
        covariance += (logs_of_samples[i] - mean_x) * (logs_of_error[i] - mean_y);
        variance += std::pow(logs_of_samples[i] - mean_x, 2);
    }
    EXPECT_NEAR(covariance / variance, -0.5, 0.03);
}

TEST(Noise, IsBoundedBesideALamp) {
    SceneBuilder
        builder; // the lamp is the ceiling and touches the walls, to which shadow rays bring 1 / distance^2
    builder.material(lambert(0.7f)).box({-1, -1, -1}, {1, 1, 1});
    builder.material(lambert(0, 5))
        .triangle({-1, 0.99f, -1}, {1, 0.99f, -1}, {1, 0.99f, 1})
        .triangle({-1, 0.99f, -1}, {1, 0.99f, 1}, {-1, 0.99f, 1});
    const PreparedScene room = prepare_scene(builder.scene());
    Frame frame = small_frame(room, {{0, 0, 0.95f}, {0, 0.2f, 0}, 90}, 32, 32);
    frame.shadow_rays = 1;
    for (uint64_t i = 0; i < std::uint64_t{32} * 32 * 128; ++i) {
        PathVertex vertex = begin_path(frame, i);
        for (bool goes_on = true; goes_on;) {
            const VertexResult result = trace_vertex(view_of(room), frame, vertex);
            ASSERT_LT(result.radiance.r, 10 * 5); // shadow rays that share nothing reach thousands
            goes_on = result.goes_on;
            vertex = result.next;
        }
    }
}

TEST(Kernels, ConsumerAndProducerMakeTheSamePicture) {
    std::mt19937 random(31);
    for (int scene_number = 0; scene_number < 3; ++scene_number) {
        const PreparedScene prepared = prepare_scene(random_scene(random));
        Frame frame = small_frame(prepared, inside, 40, 30);
        frame.shadow_rays = static_cast<uint32_t>(scene_number);
        frame.roulette_from = 2;
        frame.coherent = scene_number == 2;
        const auto consumer = sum_with_consumer(prepared, frame, 8),
                   producer = sum_with_producer(prepared, frame, 8);
        for (std::size_t i = 0; i < consumer.size(); ++i) {
            // The same terms in another order: at most 8 x 9 additions in single precision.
            ASSERT_NEAR(consumer[i].r, producer[i].r, 72 * 6e-8 * (1 + consumer[i].r));
            ASSERT_NEAR(consumer[i].b, producer[i].b, 72 * 6e-8 * (1 + consumer[i].b));
        }
    }
}

TEST(Kernels, CoherentPathsHaveTheSameMean) {
    std::mt19937 random(41);
    const PreparedScene prepared = prepare_scene(random_scene(random));
    Frame frame = small_frame(prepared, inside, 64, 48);
    frame.shadow_rays = 1;
    const Estimate independent = estimate(prepared, frame, 32);
    frame.coherent = 1;
    const Estimate coherent = estimate(prepared, frame, 32);
    // Paths of a group are not independent, so the error is larger than it looks; the shuffle keeps that
    // small.
    EXPECT_NEAR(coherent.mean, independent.mean,
                8 * std::hypot(independent.standard_error, coherent.standard_error));
}

} // namespace
} // namespace path_tracer::test
