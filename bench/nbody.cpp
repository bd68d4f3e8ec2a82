// bench/nbody.cpp - what a step of headrace-barnes-hut takes, part by part, and how good its forces are.
//
// Inputs in which walks differ little (uniform) and much (clusters), each with the three kernels on one
// device. Errors are those of some bodies against the direct sum in double precision. Prints a Markdown table
// of medians.
#include "barnes_hut/simulation.hpp"
#include "command_line.hpp"
#include "random/philox.h"

#include <fmt/format.h>
#include <oneapi/tbb/parallel_for.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <exception>
#include <iostream>
#include <map>
#include <numbers>
#include <string>
#include <vector>

namespace {

using namespace barnes_hut;

struct Options {
    std::string device = "cuda:0", commit = "unknown", order = "quadrupole", tree = "by itself";
    std::vector<std::string> inputs, kernels = {"consumer", "producer", "producer-node"};
    std::vector<std::size_t> counts = {1 << 20};
    double theta = 0.5, accuracy = 0, softening = 1e-3;
    std::uint32_t load = 0, budget = Settings{}.budget;
    unsigned repeats = 5, sample = 2000;
};

double uniform(std::uint64_t body, std::uint32_t block) {
    const auto words =
        random_numbers::philox4x32(random_numbers::Words4{static_cast<std::uint32_t>(body),
                                                          static_cast<std::uint32_t>(body >> 32), block, 1},
                                   7, 0);
    return (static_cast<double>(std::uint64_t{words.a} << 21 | words.b >> 11) + 0.5) * 0x1p-53;
}

Bodies resting(std::size_t count) {
    Bodies bodies;
    bodies.places.resize(count);
    bodies.velocities.resize(count);
    bodies.masses.assign(count, 1 / static_cast<double>(count));
    return bodies;
}

/// Of radius `r(u)`, u uniform in (0, 1).
template <class Radius>
Bodies sphere(std::size_t count, Radius r) {
    Bodies bodies = resting(count);
    for (std::size_t i = 0; i < count; ++i) {
        const double length = r(uniform(i, 0)), z = 2 * uniform(i, 1) - 1;
        const double turn = 2 * std::numbers::pi * uniform(i, 2), across = std::sqrt(1 - z * z);
        bodies.places[i] = {length * across * std::cos(turn), length * across * std::sin(turn), length * z};
    }
    return bodies;
}

/// Half of the bodies in a sphere a thousand times smaller.
Bodies two_spheres(std::size_t count) {
    Bodies bodies = plummer_sphere(count, 1);
    for (std::size_t i = 0; i < count / 2; ++i) {
        Vector& place = bodies.places[i];
        place = {2 + place.x * 1e-3, place.y * 1e-3, place.z * 1e-3};
    }
    return bodies;
}

const std::map<std::string, Bodies (*)(std::size_t)> inputs{
    {"plummer", [](std::size_t count) { return plummer_sphere(count, 1); }},
    {"uniform", [](std::size_t count) { return sphere(count, [](double u) { return std::cbrt(u); }); }},
    {"two-plummer", two_spheres},
    {"power-law", [](std::size_t count) { return sphere(count, [](double u) { return u * u * u; }); }},
};

Vector direct(const Bodies& bodies, std::size_t at, double softening) {
    Vector sum;
    const Vector& here = bodies.places[at];
    for (std::size_t i = 0; i < bodies.size(); ++i) {
        const double x = bodies.places[i].x - here.x, y = bodies.places[i].y - here.y,
                     z = bodies.places[i].z - here.z;
        const double square = x * x + y * y + z * z + softening * softening;
        if (square == 0) continue;
        const double factor = bodies.masses[i] / (square * std::sqrt(square));
        sum = {sum.x + factor * x, sum.y + factor * y, sum.z + factor * z};
    }
    return sum;
}

double length(const Vector& v) { return std::sqrt(v.x * v.x + v.y * v.y + v.z * v.z); }

/// Exact forces of some bodies, and how far others are from them.
class Reference {
public:
    Reference(const Bodies& bodies, const Options& options)
        : forces_(std::min<std::size_t>(options.sample, bodies.size())),
          stride_(bodies.size() / std::max<std::size_t>(1, forces_.size())) {
        tbb::parallel_for(std::size_t{0}, forces_.size(), [&](std::size_t i) {
            forces_[i] = direct(bodies, i * stride_, options.softening);
        });
    }
    [[nodiscard]] std::vector<double> errors(const Field& field) const {
        std::vector<double> errors;
        for (std::size_t i = 0; i < forces_.size(); ++i) {
            const Vector &a = field.accelerations[i * stride_], &b = forces_[i];
            errors.push_back(length({a.x - b.x, a.y - b.y, a.z - b.z}) / length(b));
        }
        std::ranges::sort(errors);
        return errors;
    }

private:
    std::vector<Vector> forces_;
    std::size_t stride_;
};

double median(std::vector<double> values) {
    std::ranges::sort(values);
    return values[values.size() / 2];
}

void measure(headrace::Runtime& runtime, const Options& options, const std::string& input,
             const Bodies& bodies) {
    const Reference reference(bodies, options);
    double consumer = 0;
    for (const std::string& kernel : options.kernels) {
        Settings settings;
        settings.kernel = kernel == "consumer"   ? KernelChoice::consumer
                          : kernel == "producer" ? KernelChoice::producer
                                                 : KernelChoice::producer_node;
        settings.quadrupole = options.order == "quadrupole";
        settings.theta = options.theta;
        settings.accuracy = options.accuracy;
        settings.softening = options.softening;
        settings.load = options.load;
        settings.budget = options.budget;
        if (options.tree == "host") settings.tree = TreeChoice::host;
        headrace::DeviceReport device;
        Simulation simulation(runtime, settings, bodies, 0,
                              [&](const headrace::Job& job, Simulation::Phase phase) {
                                  const headrace::JobHandle handle = runtime.submit(job);
                                  handle.wait();
                                  if (phase == Simulation::Phase::forces)
                                      device = handle.report().devices.front();
                              });
        simulation.compute_field(false);
        simulation.step(false); // an accuracy needs forces to begin with
        const std::vector<double> errors = reference.errors(simulation.field());
        const Interactions before_all = simulation.interactions();
        std::vector<double> tree, kernels, forces, steps;
        for (unsigned turn = 0; turn < options.repeats; ++turn) {
            const Times before = simulation.times();
            simulation.step(false);
            const Times& after = simulation.times();
            tree.push_back(after.tree - before.tree);
            forces.push_back(after.forces - before.forces);
            kernels.push_back(device.busy_seconds);
            steps.push_back(after.tree - before.tree + after.forces - before.forces + after.motion -
                            before.motion);
        }
        const double seconds = median(kernels);
        if (consumer == 0) consumer = seconds;
        Interactions pairs = simulation.interactions();
        pairs.with_nodes -= before_all.with_nodes;
        pairs.with_bodies -= before_all.with_bodies;
        const double each = options.repeats * static_cast<double>(bodies.size());
        fmt::print("| {}, {} | {} | {:.1f} | {:.2f} ({:.2f} to {:.2f}) | {:.1f} | {:.1f} | {:.3f} | {:.0f} + "
                   "{:.0f} | {} | {:.2g} | {:.2g} |\n",
                   input, bodies.size(), kernel, 1e3 * median(tree), 1e3 * seconds,
                   1e3 * *std::ranges::min_element(kernels), 1e3 * *std::ranges::max_element(kernels),
                   1e3 * median(forces), 1e3 * median(steps), consumer / seconds,
                   static_cast<double>(pairs.with_nodes) / each,
                   static_cast<double>(pairs.with_bodies) / each, device.engine.units,
                   errors[errors.size() / 2], errors[errors.size() * 99 / 100]);
        std::cout.flush();
    }
}

} // namespace

int main(int argc, char** argv) try {
    Options options;
    for (const auto& [name, make] : inputs) options.inputs.push_back(name);
    bench::CommandLine app(
        "Steps of headrace-barnes-hut on one device: tree, forces, errors, with each kernel.");
    app.add("--device", options.device);
    app.add("--bodies", options.counts).with_commas();
    app.add("--input", options.inputs, "of plummer, uniform, two-plummer, power-law")
        .with_commas()
        .one_of({"plummer", "uniform", "two-plummer", "power-law"});
    app.add("--kernel", options.kernels).with_commas().one_of({"consumer", "producer", "producer-node"});
    app.add("--theta", options.theta).range(0.0, 1.0);
    app.add("--accuracy", options.accuracy, "of accelerations; 0: theta alone decides");
    app.add("--softening", options.softening);
    app.add("--order", options.order).one_of({"monopole", "quadrupole"});
    app.add("--synthetic-load", options.load);
    app.add("--budget", options.budget, "interactions after which a producer's walk is handed on");
    app.add("--tree", options.tree, "where it is built: host, else on the device where that can be")
        .one_of({"by itself", "host"});
    app.add("--sample", options.sample, "bodies whose forces are compared with direct sums")
        .range(1, 1'000'000);
    app.add("--repeat", options.repeats, "turns after the first, which warms up").range(1, 1000);
    app.add("--commit", options.commit, "what was measured, for the heading");
    if (const auto code = app.parse(argc, argv)) return *code;

    headrace::Runtime runtime({.devices = options.device, .policy = "demand:1"});
    fmt::print("{}, {}, commit {}; theta {}, accuracy {}, softening {}, {}, load {}; medians (least to most) "
               "of {} steps "
               "after a warm-up\n\n",
               runtime.devices().front()->name, runtime.devices().front()->driver, options.commit,
               options.theta, options.accuracy, options.softening, options.order, options.load,
               options.repeats);
    fmt::print("| input | kernel | tree [ms] | in kernels [ms] | forces [ms] | step [ms] | speed | nodes + "
               "bodies | units | error p50 | p99 |\n|---|---|---|---|---|---|---|---|---|---|---|\n");
    for (const std::string& input : options.inputs)
        for (const std::size_t count : options.counts)
            measure(runtime, options, input, inputs.at(input)(count));
    return 0;
} catch (const std::exception& error) {
    std::cerr << "nbody: " << error.what() << '\n';
    return 1;
}
