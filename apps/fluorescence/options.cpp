// apps/fluorescence/options.cpp - see options.hpp.
#include "options.hpp"
#include "job_program/baselines.hpp"
#include "job_program/options.hpp"

#include <limits>

namespace fluorescence {

Settings Options::settings(const Problem& problem) const {
    return {kernel,
            grid,
            photons != 0 ? photons : problem.photons,
            seed ? *seed : problem.seed.value_or(1),
            emission_weight,
            most_steps,
            !no_fluence && (!grids.empty() || !plot.empty())};
}

Options parse_options(int argc, char** argv) {
    Options options;
    std::size_t kernel = 1, grid = 0;
    program::CommandLine line(
        "headrace-fluorescence",
        "Light in layered tissue, and the fluorescence that it excites, by Monte Carlo, on "
        "every device of this machine at once.");
    line.example({R"(printf '[[layer]]\nn = 1.4\nmua = 3\nmus = 250\ng = 0.8\nd = 0.1\n' >skin.toml)",
                  "headrace-fluorescence --input skin.toml --photons 100000"});
    line.group("Tissue");
    line.input("--input", options.input, "MCML's .mci, or .toml: layers from above, 1/cm and cm");
    line.whole("--photons", options.photons, 0, std::uint64_t{1} << 55, "N",
               "Packets; 0: as many as the input says");
    line.option("--seed", "the input's, or 1", "N",
                "Of the random numbers; same seed, same packets, on any devices",
                [&](const std::string& text) {
                    if (text != "the input's, or 1")
                        options.seed = program::whole<std::uint64_t>(
                            "--seed", text, 0, std::numeric_limits<std::uint64_t>::max());
                });
    line.choice("--grid", grid, {"rz", "xyz"},
                "rz: what is absorbed by depth and radius, what escapes by radius and angle; xyz: by place");
    line.real("--emission-weight", options.emission_weight, 1e-4, 1, "W",
              "Weight of a fluorescent packet; smaller: more of them, less noise, more time");
    line.whole("--most-steps", options.most_steps, 1000u, 1u << 31, "N",
               "Steps after which a packet is cut off, and counts as absorbed: where nothing absorbs, some "
               "never end");

    line.group("Work");
    line.choice(
        "--kernel", kernel, {"consumer", "producer"},
        "consumer: a packet with all that it emits is a unit of work; producer: some of its steps are");
    job_program::add_device_options(line, options.runtime);
    job_program::add_baselines_option(line, options.baselines);

    job_program::add_checkpoint_options(line, options.checkpoints);

    line.group("Results");
    line.text("--grids", options.grids, "PREFIX",
              "Grids as PREFIX.absorption.npy and so on, float64, and PREFIX.vti for ParaView");
    line.flag("--no-fluence", options.no_fluence,
              "No fluence by the ways of packets, which takes time: --plot then has what is absorbed by mua");
    std::string mco;
    line.text("--mco", mco, "FOLDER",
              "MCML's results too, under the names that the input says; without fluorescence");
    line.output("--plot", options.plot,
                "Fluence against depth and radius, or of xyz in the plane of the beam, as PNG");
    line.output("--report", options.report, "What became of the light, and who did what, as JSON");
    job_program::add_message_options(line, options.trace, options.progress, options.quiet);

    line.parse(argc, argv);
    if (options.input.empty()) program::refuse("--input FILE is needed: an .mci or .toml; see --help");
    options.mco = mco;
    if (!mco.empty() && grid != 0)
        program::refuse("--mco: MCML has grids of depth and radius; use --grid rz");
    options.kernel = kernel == 0 ? KernelChoice::consumer : KernelChoice::producer;
    options.grid = grid == 0 ? GridChoice::rz : GridChoice::xyz;
    return options;
}

} // namespace fluorescence
