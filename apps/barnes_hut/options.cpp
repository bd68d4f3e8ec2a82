// apps/barnes_hut/options.cpp - see options.hpp.
#include "options.hpp"
#include "job_program/baselines.hpp"
#include "job_program/options.hpp"
#include "program/used_files.hpp"
#include "write_bodies.hpp"

#include <limits>
#include <utility>

namespace barnes_hut {

Options parse_options(int argc, char** argv) {
    Options options;
    Settings& settings = options.settings;
    settings.softening = 1e-3;
    std::size_t order = 1, kernel = 1; // places among the words below
    program::CommandLine line(
        "headrace-barnes-hut",
        "Gravity among many bodies by the Barnes-Hut algorithm, on every device of this machine at once.\n\n"
        "Units: any in which G = 1, or is what --G says, the same for input and output; a Plummer sphere has "
        "mass 1 and energy -G/4. A node of the octree is opened for a group of 64 neighbouring bodies if its "
        "centre of mass is "
        "nearer to the box around them than size / theta + offset: size is the longest side of the box "
        "around "
        "the node's bodies, offset how far its centre of mass lies from the middle of that box. So no body "
        "meets a node that is nearer than that. Softening is Plummer's: potential -G m / sqrt(r^2 + "
        "softening^2). Motion is by leapfrog (kick, drift, kick).");
    line.group("Bodies");
    line.input("--input", options.input,
               "Lines of x,y,z,vx,vy,vz,m or x,y,z,m with commas or blanks; a first line may name columns in "
               "another order; or .npy with such rows, or structured");
    line.whole("--plummer", options.plummer, 0, std::size_t{1} << 27, "N",
               "Instead: a Plummer sphere of so many bodies, in equilibrium");
    line.whole("--seed", options.seed, 0, std::numeric_limits<std::uint64_t>::max(), "N",
               "Of the sphere's random numbers");

    line.group("Forces and motion");
    line.real("--theta", settings.theta, 0, 1, "ANGLE", "Opening angle; 0: every pair is computed");
    line.real(
        "--accuracy", settings.accuracy, 0, 1, "SHARE",
        "After the first step, open a node if its error may be more than so much of the acceleration of "
        "the group, by the step before, and within theta 1; 0.0012 has the median error of theta 0.5 "
        "for much less work. 0: theta alone decides");
    line.real("--softening", settings.softening, 0, 1e100, "LENGTH", "Below it, attraction is weakened");
    line.real("--G", settings.gravity, 1e-100, 1e100, "CONSTANT", "The gravitational constant");
    line.choice("--order", order, {"monopole", "quadrupole"}, "What a node that is not opened pulls with");
    line.whole("--steps", options.steps, 0, std::uint64_t{1} << 40, "N",
               "Of motion; 0: forces of the start alone");
    line.real("--dt", options.dt, -1e100, 1e100, "TIME", "Length of a step; negative: back in time");

    line.group("Work");
    line.choice("--kernel", kernel, {"consumer", "producer", "producer-node"},
                "A unit of work is a group's walk through the tree (consumer), a part of one, which is split "
                "when others are idle (producer), or one body's visit of one node (producer-node: the "
                "paper's)");
    line.whole("--synthetic-load", settings.load, 0, 1'000'000, "K",
               "Compute Fibonacci numbers up to the K-th at every visited node as well");
    job_program::add_device_options(line, options.runtime);
    job_program::add_baselines_option(line, options.baselines);

    line.group("Results");
    line.output("--accelerations", options.accelerations,
                "Accelerations at the end, ax,ay,az in the order of the input: .csv or .npy");
    line.output("--potentials", options.potentials,
                "Potentials at the end, one for each body in the order of the input: .csv or .npy; -G m / "
                "sqrt(r^2 + softening^2) summed over all other bodies, so they are 0 or less");
    line.output("--output", options.output, "Bodies at the end, in the form of the input: .csv or .npy");
    line.whole("--output-every", options.output_every, 0, std::numeric_limits<std::uint64_t>::max(), "K",
               "Bodies of the start and of every K-th step too: FILE.000000.csv, and so on");
    line.whole("--energy-every", options.energy_every, 0, std::numeric_limits<std::uint64_t>::max(), "K",
               "Energy at every K-th step too; it is computed at start and end in any case");
    line.output("--image", options.image, "Projected density at the end, seen along z: .png, 1024 x 1024");
    line.output("--report", options.report, "Energies, and who did what, as JSON");
    job_program::add_message_options(line, options.trace, options.progress, options.quiet);

    line.parse(argc, argv);
    if (options.input.empty() == (options.plummer == 0))
        program::refuse("either --input FILE or --plummer N is needed; see --help");
    for (const auto& [name, file] :
         {std::pair("--accelerations", &options.accelerations),
          std::pair("--potentials", &options.potentials), std::pair("--output", &options.output)})
        if (!file->empty()) check_table_name(name, *file);
    if (!options.image.empty() && options.image.extension() != ".png")
        program::refuse("--image " + options.image.string() + ": takes a name that ends with .png");
    if (options.output_every > 0 && options.output.empty())
        program::refuse("--output-every: needs --output FILE to know where to");
    if (options.output_every > 0)
        program::note_outputs("--output-every", options.output.parent_path(),
                              [begin = options.output.stem().string() + ".",
                               end = options.output.extension().string()](const std::string& name) {
                                  if (!name.starts_with(begin) || !name.ends_with(end)) return false;
                                  const std::size_t length = begin.size() + end.size();
                                  if (name.size() < length + 6) return false; // see snapshot_of
                                  return name.find_first_not_of("0123456789", begin.size()) ==
                                         name.size() - end.size();
                              });
    settings.quadrupole = order == 1;
    settings.kernel = static_cast<KernelChoice>(kernel);
    return options;
}

} // namespace barnes_hut
