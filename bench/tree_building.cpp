// bench/tree_building.cpp - how long does it take to build the path tracer's trees, and how good and how
// large are they?
//
// Prints a Markdown table: medians of elapsed time and of the time of all cores together, by part. Trees do
// not depend on the number of threads, so each has one surface-area cost and one size.
#include "command_line.hpp"

#include "box_test.h"
#include "prepared_scene.hpp"
#include "scene_files.hpp"
#include "tree_cost.hpp"

#include <fmt/format.h>
#include <tbb/global_control.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <ctime>
#include <exception>
#include <iostream>
#include <random>
#include <string>
#include <thread>
#include <vector>

namespace {

using namespace path_tracer;

struct Options {
    std::string mesh = "waves", scene, commit = "unknown";
    std::uint32_t triangles = 2'000'000;
    unsigned threads = std::thread::hardware_concurrency(), repeats = 3;
};

Scene without_triangles() {
    Scene scene;
    scene.materials.push_back({.base = {0.8f, 0.8f, 0.8f}});
    return scene;
}

/// A height field of two triangles for each square of a grid.
Scene waves(std::uint32_t triangles) {
    Scene scene = without_triangles();
    const auto side = static_cast<std::uint32_t>(std::sqrt(triangles / 2.0));
    const auto point = [side](std::uint32_t x, std::uint32_t z) {
        const double u = double(x) / side, v = double(z) / side;
        return Point{u, 0.05 * std::sin(40 * u) * std::cos(30 * v) + 0.002 * std::sin(900 * u + 700 * v), v};
    };
    for (std::uint32_t z = 0; z < side; ++z)
        for (std::uint32_t x = 0; x < side; ++x) {
            const Point a = point(x, z), b = point(x + 1, z), c = point(x + 1, z + 1), d = point(x, z + 1);
            scene.triangles.push_back({a, b, c, 0});
            scene.triangles.push_back({a, c, d, 0});
        }
    return scene;
}

/// Triangles anywhere in a cube, about as large as the room that each has.
Scene soup(std::uint32_t triangles) {
    Scene scene = without_triangles();
    std::mt19937 random(1);
    std::uniform_real_distribution<double> uniform(-1, 1);
    const double size = 1 / std::cbrt(triangles);
    const auto point = [&] { return Point{uniform(random), uniform(random), uniform(random)}; };
    for (std::uint32_t i = 0; i < triangles; ++i) {
        const Point middle = point();
        const auto corner = [&] { return middle + point() * size; };
        const Point a = corner(), b = corner(), c = corner();
        scene.triangles.push_back({a, b, c, 0});
    }
    return scene;
}

/// Copies of a scene's triangles side by side, at least so many triangles together.
Scene copies_of(const std::string& file, std::uint32_t triangles) {
    const Scene one = load_scene(file, 0.8f, FileRules{});
    Scene all = without_triangles();
    Point lo = one.triangles.front().a, hi = lo;
    for (const SceneTriangle& triangle : one.triangles)
        for (const Point& p : {triangle.a, triangle.b, triangle.c}) {
            lo = {std::min(lo.x, p.x), std::min(lo.y, p.y), std::min(lo.z, p.z)};
            hi = {std::max(hi.x, p.x), std::max(hi.y, p.y), std::max(hi.z, p.z)};
        }
    const double width = hi.z - lo.z;
    for (unsigned copy = 0; all.triangles.size() < triangles; ++copy) {
        const Point away{0, 0, width * copy};
        for (const SceneTriangle& triangle : one.triangles)
            all.triangles.push_back({triangle.a + away, triangle.b + away, triangle.c + away, 0});
    }
    return all;
}

Scene scene_for(const Options& options) {
    if (!options.scene.empty()) return copies_of(options.scene, options.triangles);
    return options.mesh == "soup" ? soup(options.triangles) : waves(options.triangles);
}

/// Seconds that something took, of the clock and of all cores together.
struct Times {
    std::vector<double> elapsed, of_cores;
};

template <class Work>
auto timed(Times& times, const Work& work) {
    const auto begin = std::chrono::steady_clock::now();
    const std::clock_t cores_begin = std::clock();
    auto result = work();
    times.of_cores.push_back(static_cast<double>(std::clock() - cores_begin) / CLOCKS_PER_SEC);
    times.elapsed.push_back(std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
    return result;
}

double median_of(std::vector<double> values) {
    std::sort(values.begin(), values.end());
    return values[values.size() / 2];
}

/// Each triangle once, as the scene has them.
std::vector<Triangle> once(const PreparedScene& scene) {
    std::vector<Triangle> triangles = scene.triangles;
    std::ranges::sort(triangles, {}, &Triangle::id);
    const auto [first, last] = std::ranges::unique(triangles, {}, &Triangle::id);
    triangles.erase(first, last);
    return triangles;
}

} // namespace

int main(int argc, char** argv) try {
    Options options;
    bench::CommandLine app("Times of building both trees of a mesh. The table goes to stdout.");
    app.add("--mesh", options.mesh, "a height field, or triangles at random").one_of({"waves", "soup"});
    app.add("--scene", options.scene, "copies of this file's mesh instead").existing_file();
    app.add("--triangles", options.triangles, "about so many").positive();
    app.add("--threads", options.threads).positive();
    app.add("--repeat", options.repeats, "turns after the first, which warms up").range(1, 1000);
    app.add("--commit", options.commit, "what was measured, for the heading");
    if (const auto code = app.parse(argc, argv)) return *code;

    const tbb::global_control threads(tbb::global_control::max_allowed_parallelism, options.threads);
    const Scene given = scene_for(options);
    const auto count = static_cast<double>(given.triangles.size());
    PreparedScene scene;
    Bvh binary;
    WideTree wide;
    std::vector<Triangle> triangles;
    Times prepare, build_binary, build_wide;
    for (unsigned turn = 0; turn <= options.repeats; ++turn) {
        if (turn == 1) prepare = build_binary = build_wide = {}; // the first warms up
        scene = timed(prepare,
                      [&] { return prepare_scene(given, Scattering::multiple, nullptr, HostTree::none); });
        if (turn == 0) triangles = once(scene);
        binary = timed(build_binary, [&] { return build_bvh(triangles, PATH_TRACER_BOX_MARGIN); });
        wide = timed(build_wide, [&] { return build_wide_tree(scene.triangles, PATH_TRACER_BOX_MARGIN); });
    }

    const auto bytes = [&](const auto& elements) {
        return static_cast<double>(elements.size() * sizeof(elements[0])) / count;
    };
    fmt::print(
        "{} triangles, {} threads, commit {}; medians of {} turns after a warm-up. Bytes for each "
        "triangle: {:.1f} of nodes with two children, {:.1f} of triangles, {:.1f} of nodes with eight, "
        "{:.1f} of pairs; details {:.1f}.\n\n",
        given.triangles.size(), options.threads, options.commit, options.repeats, bytes(scene.nodes),
        bytes(scene.triangles), bytes(wide.nodes), bytes(wide.pairs), bytes(scene.details));
    fmt::print("| what | s | s of cores | nodes on a line | triangles or pairs |\n|---|---|---|---|---|\n");
    const auto row = [](const char* what, const Times& times, const TreeCost& cost) {
        fmt::print("| {} | {:.3f} | {:.3f} | {:.3f} | {:.3f} |\n", what, median_of(times.elapsed),
                   median_of(times.of_cores), cost.nodes, cost.tests);
    };
    row("`build_bvh`", build_binary, cost_of(binary));
    row("`build_wide_tree`", build_wide, cost_of(wide, binary.box));
    row("`prepare_scene` with the first of them", prepare, cost_of(binary));
    return 0;
} catch (const std::exception& error) {
    std::cerr << "tree_building: " << error.what() << '\n';
    return 1;
}
