// apps/coexec/options.cpp - see options.hpp.
#include "options.hpp"
#include "job_program/baselines.hpp"
#include "job_program/options.hpp"
#include "program/command_line.hpp"

#include <algorithm>
#include <iterator>
#include <limits>
#include <string>

namespace coexec {
namespace {

std::string names_of_problems() {
    std::string names;
    for (const ProblemKind& kind : problem_kinds())
        names += (names.empty() ? "" : ", ") + std::string(kind.name);
    return names;
}

const ProblemKind& kind_named(const std::string& name) {
    if (name.empty()) program::refuse("--problem NAME is needed: " + names_of_problems());
    const auto kinds = problem_kinds();
    const auto found = std::ranges::find(kinds, name, &ProblemKind::name);
    if (found == kinds.end()) program::refuse("--problem " + name + ": takes one of " + names_of_problems());
    return *found;
}

} // namespace

Options parse_options(int argc, char** argv) {
    Options options;
    Settings& settings = options.settings;
    std::string problem;
    std::size_t precision = 0, memory = 0; // places among the words
    bool is_small = false, no_blas = false;

    program::CommandLine line(
        "headrace-coexec",
        "Programs that a paper on co-execution measures, each one kernel that every device of this machine "
        "runs a part of: gaussian (a blur), matmul, taylor (sines by their series), rap (the resource "
        "allocation problem), ray (a picture of spheres), mandelbrot, nbody (one step, all pairs).");
    line.example({"headrace-coexec --problem mandelbrot --small"});
    line.group("Problem");
    line.text("--problem", problem, "NAME", ("Which: " + names_of_problems()).c_str());
    line.whole("--size", settings.size, 0, std::numeric_limits<std::uint32_t>::max(), "N",
               "Pixels or elements of a side, angles, amounts, bodies; 0: as many as in the paper");
    line.flag("--small", is_small, "Unless --size says more: a size of a second on one core");
    line.whole("--seed", settings.seed, 0, std::numeric_limits<std::uint64_t>::max(), "N",
               "Of the inputs' random numbers");
    line.whole("--filter", settings.filter, 1, 255, "N", "gaussian: pixels that its filter is wide; odd");
    line.whole("--columns", settings.columns, 0, 65535, "N",
               "matmul: of the product; 0: as --size, its rows");
    line.whole("--inner", settings.inner, 0, 65535, "N", "matmul: columns of the left matrix; 0: as --size");
    line.choice("--precision", precision, {"single", "double"}, "matmul: of its numbers");
    line.flag("--no-blas", no_blas, "matmul: by kernels of our own, without the vendors' libraries");
    line.whole("--terms", settings.terms, 1, 1'000'000, "N", "taylor: of each series");
    line.whole("--spheres", settings.spheres, 1, 100'000, "N", "ray: how many there are");
    line.whole("--bounces", settings.bounces, 0, 1000, "N", "ray: reflections of a ray at most");
    line.whole("--iterations", settings.iterations, 1, 1'000'000'000, "N", "mandelbrot: of a pixel at most");

    line.group("Work");
    job_program::add_device_options(line, options.runtime);
    job_program::add_baselines_option(line, options.baselines);
    line.choice(
        "--memory", memory, {std::begin(memory_names), std::end(memory_names)},
        "unified: devices work in place on the host's memory where they can; buffers: each has copies of its "
        "own; natural: processors in place, GPUs on copies");
    line.whole("--repeat", options.repeat, 0, 1'000'000, "N",
               "Timed runs, after one that warms up; 0: that one alone");

    line.group("Results");
    line.flag("--verify", options.verify,
              "Compare with a serial version, which may take long; exit code 1 if results are wrong");
    line.whole("--check-every", options.check_every, 1, std::numeric_limits<std::uint64_t>::max(), "N",
               "--verify: every N-th result alone");
    line.output("--report", options.report, "Times, what --verify found, and who did what, as JSON");
    job_program::add_message_options(line, options.trace, options.progress, options.quiet);

    line.parse(argc, argv);
    options.problem = &kind_named(problem);
    const ProblemKind& kind = *options.problem;
    if (settings.size == 0) settings.size = is_small ? kind.small : kind.size;
    if (settings.size > kind.largest)
        program::refuse("--size " + std::to_string(settings.size) + ": " + std::string(kind.name) +
                        " takes up to " + std::to_string(kind.largest));
    if (settings.filter % 2 == 0)
        program::refuse("--filter " + std::to_string(settings.filter) + ": takes an odd number");
    settings.is_double = precision == 1;
    settings.uses_blas = !no_blas;
    options.runtime.memory = static_cast<headrace::MemoryModel>(memory);
    return options;
}

} // namespace coexec
