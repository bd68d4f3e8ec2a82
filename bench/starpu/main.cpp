// bench/starpu/main.cpp - Mandelbrot and path tracing beside StarPU: our kernels by our scheduler and engine,
// and the consumer kernels as tasks of StarPU's, in as many as suit it best.
//
// Times go from submission until the results are on the host; data are registered and programs built before.
// All have the same pictures to make, or the benchmark fails. Prints Markdown tables of medians.
#include "command_line.hpp"
#include "mandelbrot.hpp"
#include "path_tracing.hpp"
#include "session.hpp"

#include "coexec/problems.hpp"
#include "path_tracer/render.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <functional>
#include <iostream>
#include <stdexcept>

namespace {

using namespace bench;

struct Options {
    std::vector<std::string> sets{"cpu"}, starpu_sets{"cpu"}, schedulers{"eager", "dmda"},
        policies{"adaptive"};
    std::vector<std::uint32_t> tasks{16, 64, 256, 1024};
    std::uint32_t size = 2048, iterations = 1000, samples = 16, width = 640, height = 360;
    std::string scene = "apps/path_tracer/scenes/demo.gltf", commit = "unknown";
    unsigned rounds = 3, repeats = 3, warm_up = 2;
};

double median(std::vector<double>& seconds) {
    std::ranges::sort(seconds);
    return seconds[seconds.size() / 2];
}

double timed(const std::function<void()>& run) {
    const auto begin = std::chrono::steady_clock::now();
    run();
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

/// A problem, for either side. What a turn leaves is compared with what the first turn of all has left.
struct Problem {
    std::string text;
    std::vector<std::string> kernels;
    /// One turn on this runtime.
    std::function<std::function<void()>(headrace::Runtime&, const std::string& kernel)> ours;
    std::function<std::unique_ptr<StarPuWorkload>(std::uint32_t tasks)> starpus;
    /// Throws if the result of ours, or else of StarPU's, is another one.
    std::function<void(bool is_ours)> check;
};

/// One way to do the problem, and how long it took.
struct Row {
    std::string program, devices, scheduler, kernel;
    std::uint32_t tasks; ///< 0: as many as it likes
    std::vector<double> seconds{};
    [[nodiscard]] bool is_beside(const Row& other) const {
        return program == other.program && devices == other.devices && scheduler == other.scheduler &&
               kernel == other.kernel;
    }
};

/// All ways to do one problem. They come by several times, since a machine is not always as fast.
class Contest {
public:
    Contest(const Options& options, const Problem& problem) : options_(options), problem_(problem) {}

    void round() {
        for (const std::string& set : options_.sets)
            for (const std::string& policy : options_.policies) ours(set, policy);
        for (const std::string& set : options_.starpu_sets)
            for (const std::string& scheduler : options_.schedulers) starpus(set, scheduler);
    }

    /// Of those that differ in their tasks alone the best, and what the others took.
    void print() {
        fmt::print(
            "\n## {}\n\n| program | devices | scheduler | kernel | tasks | ms |\n|---|---|---|---|---|---|\n",
            problem_.text);
        for (auto row = rows_.begin(); row != rows_.end();) {
            const auto end =
                std::find_if(row, rows_.end(), [&](const Row& one) { return !one.is_beside(*row); });
            std::string others;
            for (auto one = row; one != end; ++one)
                others += fmt::format("{}{}: {:.2f}", others.empty() ? "" : ", ", one->tasks,
                                      1e3 * median(one->seconds));
            Row& best = *std::min_element(
                row, end, [](Row& one, Row& other) { return median(one.seconds) < median(other.seconds); });
            fmt::print("| {} | {} | {} | {} | {} | {:.2f} ({:.2f} to {:.2f}) |\n", best.program, best.devices,
                       best.scheduler, best.kernel,
                       best.tasks == 0 ? "as it likes" : fmt::format("{} ({})", best.tasks, others),
                       1e3 * median(best.seconds), 1e3 * best.seconds.front(), 1e3 * best.seconds.back());
            row = end;
        }
        std::cout.flush();
    }

private:
    void ours(const std::string& set, const std::string& policy) {
        headrace::Runtime runtime({.devices = set, .policy = policy});
        for (const std::string& kernel : problem_.kernels)
            take_turns({"Headrace", set, policy, kernel, 0}, problem_.ours(runtime, kernel));
    }
    void starpus(const std::string& set, const std::string& scheduler) {
        const StarPuSession session(
            scheduler, {set.find("cpu") != std::string::npos, set.find("opencl") != std::string::npos});
        const std::string devices =
            fmt::format("{} ({} cores, {} OpenCL)", set, session.processors(), session.opencl_devices());
        for (const std::uint32_t tasks : options_.tasks) {
            const auto workload = problem_.starpus(tasks);
            take_turns({"StarPU", devices, scheduler, "consumer", tasks}, [&] { workload->run(); });
        }
    }
    void take_turns(const Row& which, const std::function<void()>& turn) {
        auto row = std::ranges::find_if(
            rows_, [&](const Row& one) { return one.is_beside(which) && one.tasks == which.tasks; });
        if (row == rows_.end()) row = rows_.insert(row, which);
        for (unsigned i = 0; i < options_.warm_up + options_.repeats; ++i) {
            const double took = timed(turn);
            if (i >= options_.warm_up) row->seconds.push_back(took);
        }
        problem_.check(which.tasks == 0);
    }

    const Options& options_;
    const Problem& problem_;
    std::vector<Row> rows_;
};

/// Bit for bit: fused operations are off on both sides.
Problem mandelbrot(const Options& options) {
    struct Data {
        std::unique_ptr<coexec::Problem> ours;
        std::vector<std::uint32_t> steps, expected;
    };
    const auto data = std::make_shared<Data>();
    data->steps.resize(std::size_t{options.size} * options.size);
    coexec::Settings settings;
    settings.size = options.size;
    settings.iterations = options.iterations;
    return {.text = fmt::format("Mandelbrot, {} x {} pixels, at most {} steps", options.size, options.size,
                                options.iterations),
            .kernels = {"consumer"},
            .ours =
                [=](headrace::Runtime& runtime, const std::string&) {
                    data->ours = coexec::make_mandelbrot(settings, runtime);
                    return [=, &runtime] {
                        runtime.submit(data->ours->job()).wait();
                        data->ours->collect();
                    };
                },
            .starpus =
                [=](std::uint32_t tasks) {
                    std::ranges::fill(data->steps, ~0U);
                    return starpu_mandelbrot(options.size, options.iterations, data->steps, tasks);
                },
            .check =
                [=](bool is_ours) {
                    std::vector<std::uint32_t> found = data->steps;
                    if (is_ours) {
                        const auto bytes = data->ours->results().front();
                        std::memcpy(found.data(), bytes.data(), bytes.size());
                        data->ours.reset(); // before its runtime
                    }
                    if (data->expected.empty()) data->expected = found;
                    if (found != data->expected) throw std::runtime_error("pictures of Mandelbrot differ");
                }};
}

/// The same paths; only their sums are rounded in another order: 1e-3 is far more than that, and far less
/// than a path that is missing from every pixel.
Problem path_tracing(const Options& options) {
    using namespace path_tracer;
    struct Data {
        explicit Data(PreparedScene from) : scene(std::move(from)), domains(scene) {}
        PreparedScene scene;
        SceneDomains domains;
        Frame frame{};
        std::vector<Rgb> film;
        std::optional<headrace::Domain<Rgb>> ours;
        double expected = 0;
    };
    path_tracer::Options asked;
    asked.width = options.width;
    asked.height = options.height;
    const Scene loaded = load_scene(options.scene, asked.albedo);
    const auto data = std::make_shared<Data>(prepare_scene(loaded));
    data->frame = make_frame(asked, data->scene, camera_of(loaded, ""));
    data->film.resize(std::size_t{options.width} * options.height);
    return {
        .text = fmt::format("Path tracing, {} x {} pixels, {} samples", options.width, options.height,
                            options.samples),
        .kernels = {"consumer", "producer"},
        .ours =
            [=](headrace::Runtime& runtime, const std::string& kernel) {
                const auto choice = kernel == "consumer" ? KernelChoice::consumer : KernelChoice::producer;
                return [=, &runtime] {
                    data->ours.emplace("film",
                                       std::initializer_list<std::uint64_t>{options.height, options.width});
                    runtime
                        .submit(render_job(choice, data->frame, options.samples, data->domains, *data->ours))
                        .wait();
                    static_cast<void>(data->ours->gather());
                };
            },
        .starpus =
            [=](std::uint32_t tasks) {
                return starpu_path_tracing(data->frame, options.samples, data->scene, data->film, tasks);
            },
        .check =
            [=](bool is_ours) {
                double sum = 0;
                for (const Rgb& pixel : is_ours ? data->ours->gather() : std::span<const Rgb>(data->film))
                    sum += double{pixel.r} + pixel.g + pixel.b;
                if (data->expected == 0) data->expected = sum;
                if (std::abs(sum / data->expected - 1) > 1e-3)
                    throw std::runtime_error(
                        fmt::format("pictures of path tracing differ: {} and {}", sum, data->expected));
            }};
}

void run(const Options& options) {
    fmt::print("Commit {}; medians (least to most) of {} rounds of {} turns after {}, from submission until "
               "the results are on "
               "the host. Of StarPU, the best number of tasks (each number: ms).\n",
               options.commit, options.rounds, options.repeats, options.warm_up);
    for (const Problem& problem : {mandelbrot(options), path_tracing(options)}) {
        Contest contest(options, problem);
        for (unsigned round = 0; round < options.rounds; ++round) contest.round();
        contest.print();
    }
}

} // namespace

int main(int argc, char** argv) {
    Options options;
    bench::CommandLine app{"Mandelbrot and path tracing beside StarPU."};
    app.add("--devices", options.sets, "Headrace's sets, such as cpu and cpu,cuda:0");
    app.add("--policy", options.policies, "Headrace's");
    app.add("--starpu-devices", options.starpu_sets, "StarPU's sets: cpu, opencl, cpu,opencl");
    app.add("--schedulers", options.schedulers, "StarPU's");
    app.add("--tasks", options.tasks, "of StarPU's, of which the best number counts").positive();
    app.add("--size", options.size, "of Mandelbrot's picture").range(1, 32768);
    app.add("--iterations", options.iterations, "for a pixel of it");
    app.add("--scene", options.scene, "to trace paths in");
    app.add("--width", options.width).positive();
    app.add("--height", options.height).positive();
    app.add("--spp", options.samples, "of a pixel").positive();
    app.add("--rounds", options.rounds, "of all of them").range(1, 1000);
    app.add("--repeat", options.repeats, "turns of each in a round").range(1, 1000);
    app.add("--warm-up", options.warm_up, "turns that do not count").range(0, 1000);
    app.add("--commit", options.commit, "for the tables");
    if (const auto code = app.parse(argc, argv)) return *code;
    ::setenv("HEADRACE_CALIBRATIONS", "", 1); // either side learns in its warm-up
    try {
        run(options);
        return 0;
    } catch (const std::exception& error) {
        std::cerr << "starpu: " << error.what() << '\n';
        return 1;
    }
}
