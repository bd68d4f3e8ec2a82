// bench/closest_hits.cpp - how many rays a second find what they meet, on CPUs, through either tree?
//
// Rays that surfaces spread, from anywhere in the scene: each begins where another ray has ended. Each thread
// follows all of them. Turns alternate between the trees; the first one warms up. Prints a Markdown table of
// medians with their spread. Fails if the trees disagree.
#include "command_line.hpp"

#include "host_walk.hpp"
#include "path.hpp"
#include "prepared_scene.hpp"
#include "scene_files.hpp"
#include <headrace/devices/cpu/instructions.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <exception>
#include <iostream>
#include <random>
#include <stdexcept>
#include <string>
#include <thread>
#include <type_traits>
#include <vector>

namespace {

using namespace path_tracer;

struct Options {
    std::string scene, commit = "unknown";
    std::uint32_t rays = 400000;
    unsigned threads = std::thread::hardware_concurrency(), repeats = 5;
};

template <class T>
headrace::View<const T> view(const std::vector<T>& elements) {
    return {elements.data(), {{elements.size(), 1, 1}}};
}

/// What walks ask of a scene.
SceneView view_of(const PreparedScene& scene, const WideTree* host_tree) {
    SceneView part{};
    part.nodes = view(scene.nodes);
    part.triangles = view(scene.triangles);
    part.details = view(scene.details);
    part.instances = view(scene.instances);
    part.host_tree = host_tree;
    return part;
}

Hit next_hit(const SceneView& scene, const Ray& ray) {
    return nearest_hit(std::integral_constant<int, SHADING_FULL>{}, &scene, &ray);
}

/// Rays that leave what random rays have met, as a Lambert surface spreads them.
std::vector<Ray> spread_rays(const PreparedScene& scene, const SceneView& view, std::uint32_t count) {
    std::mt19937 random(1);
    std::uniform_real_distribution<float> uniform(-1, 1);
    const auto direction = [&] {
        for (;;) {
            const Float3 v{uniform(random), uniform(random), uniform(random)};
            if (const float square = dot_of(v, v); square <= 1 && square > 1e-6f) return normalised(v);
        }
    };
    std::vector<Ray> rays;
    for (std::uint64_t tries = 0; rays.size() < count; ++tries) {
        if (tries > std::uint64_t{100} * count + 1000)
            throw std::runtime_error("hardly a ray meets the scene");
        const Float3 from{uniform(random), uniform(random), uniform(random)};
        const Ray ray = ray_along(from, direction());
        const Hit hit = next_hit(view, ray);
        if (hit.triangle == PATH_TRACER_NO_TRIANGLE) continue;
        Ray next = ray_behind(ray, &scene.triangles[hit.triangle], &hit);
        Float3 normal = scene.details[hit.triangle].normal;
        if (dot_of(normal, ray.direction) > 0) normal = negated(normal);
        const Float3 way = add(normal, direction());
        if (!(dot_of(way, way) > 1e-6f)) continue;
        next.direction = normalised(way);
        rays.push_back(next);
    }
    return rays;
}

/// A tree and the instructions of its walk; and what turns gave, in millions of rays a second.
struct Contestant {
    std::string name;
    SceneView view;
    headrace::Instructions instructions;
    std::vector<double> rates{};
    double sum = 0; ///< of one thread
};

/// Sums up the distances of all hits.
double follow(const SceneView& scene, const std::vector<Ray>& rays) {
    double sum = 0;
    for (const Ray& ray : rays) {
        const Hit hit = next_hit(scene, ray);
        if (hit.triangle != PATH_TRACER_NO_TRIANGLE) sum += hit.distance;
    }
    return sum;
}

void take_turn(Contestant& contestant, const Options& options, const std::vector<Ray>& rays, bool counts) {
    headrace::use_instructions(contestant.instructions);
    std::vector<double> sums(options.threads);
    std::vector<std::thread> threads;
    const auto begin = std::chrono::steady_clock::now();
    for (double& sum : sums) threads.emplace_back([&] { sum = follow(contestant.view, rays); });
    for (std::thread& thread : threads) thread.join();
    const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - begin;
    contestant.sum = sums.front();
    if (counts)
        contestant.rates.push_back(1e-6 * static_cast<double>(rays.size()) * options.threads / taken.count());
}

double median_of(std::vector<double> rates) {
    std::sort(rates.begin(), rates.end());
    return rates[rates.size() / 2];
}

} // namespace

int main(int argc, char** argv) try {
    Options options;
    bench::CommandLine app("Rays a second on CPUs, through either tree. The table goes to stdout.");
    app.add("--scene", options.scene, "a mesh that headrace-path-tracer reads").required().existing_file();
    app.add("--rays", options.rays).positive();
    app.add("--threads", options.threads).positive();
    app.add("--repeat", options.repeats, "turns after the first, which warms up").range(1, 1000);
    app.add("--commit", options.commit, "what was measured, for the heading");
    if (const auto code = app.parse(argc, argv)) return *code;

    const Scene given = load_scene(options.scene, 0.8f, FileRules{});
    const PreparedScene scene = prepare_scene(given);
    if (scene.host_tree.nodes.empty())
        throw std::runtime_error("scenes with instances or holes have no tree for CPUs");
    const SceneView binary = view_of(scene, nullptr), wide = view_of(scene, &scene.host_tree);
    const std::vector<Ray> rays = spread_rays(scene, binary, options.rays);
    std::vector<Contestant> all{
        {"two children a node, as other devices have it", binary, headrace::Instructions::baseline},
        {"eight children a node, any processor", wide, headrace::Instructions::baseline}};
    if (headrace::best_instructions() >= headrace::Instructions::avx2)
        all.push_back({"eight children a node, AVX2", wide, headrace::Instructions::avx2});
    for (unsigned turn = 0; turn <= options.repeats; ++turn)
        for (Contestant& contestant : all) take_turn(contestant, options, rays, turn > 0);
    for (const Contestant& contestant : all)
        if (contestant.sum != all.front().sum) throw std::runtime_error("the trees disagree");

    const auto bytes = [&](const auto& elements) {
        return static_cast<double>(elements.size() * sizeof(elements[0])) /
               static_cast<double>(given.triangles.size());
    };
    fmt::print("{} threads, {} rays each, commit {}; medians (least to most) of {} turns after a warm-up. "
               "Bytes for each "
               "triangle: {:.0f} of nodes with two children; {:.0f} of nodes with eight, and "
               "{:.0f} of pairs\n\n",
               options.threads, rays.size(), options.commit, options.repeats, bytes(scene.nodes),
               bytes(scene.host_tree.nodes), bytes(scene.host_tree.pairs));
    fmt::print("| tree | M rays/s | of the first |\n|---|---|---|\n");
    const double reference = median_of(all.front().rates);
    for (const Contestant& contestant : all) {
        const auto [least, most] = std::minmax_element(contestant.rates.begin(), contestant.rates.end());
        fmt::print("| {} | {:.2f} ({:.2f} to {:.2f}) | {:.2f} |\n", contestant.name,
                   median_of(contestant.rates), *least, *most, median_of(contestant.rates) / reference);
    }
    return 0;
} catch (const std::exception& error) {
    std::cerr << "closest_hits: " << error.what() << '\n';
    return 1;
}
