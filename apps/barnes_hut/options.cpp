// apps/barnes_hut/options.cpp - see options.hpp.
#include "options.hpp"
#include "job_program/baselines.hpp"
#include "job_program/options.hpp"
#include "program/used_files.hpp"
#include "write_bodies.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <sstream>
#include <utility>

namespace barnes_hut {
namespace {

constexpr std::array motion_options{"--dt",       "--G",     "--softening", "--theta",
                                    "--accuracy", "--order", "--kernel"};
constexpr std::array kernels{"consumer", "producer", "producer-node"};

std::string text_of(double number) {
    std::ostringstream text;
    text.precision(17);
    text << number;
    return text.str();
}

} // namespace

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
    line.example({"headrace-barnes-hut --plummer 10000 --steps 3"});
    line.group("Bodies");
    line.input("--input", options.input,
               "Lines of x,y,z,vx,vy,vz,m or x,y,z,m with commas or blanks; a first line may name columns in "
               "another order; .npy with such rows, or structured; or a snapshot of GADGET (.hdf5)");
    line.whole("--plummer", options.plummer, 0, std::size_t{1} << 27, "N",
               "Instead: a Plummer sphere of so many bodies, in equilibrium");
    line.whole("--seed", options.seed, 0, std::numeric_limits<std::uint64_t>::max(), "N",
               "Of the sphere's random numbers");

    line.input("--restart", options.restart,
               "Instead: a run goes on from a snapshot (--snapshot-every), up to --steps in all. How bodies "
               "move, from --theta to --dt and --kernel, is what it was. On the same devices, results are "
               "those of a run that did not stop; to the bit with --kernel consumer and devices of one kind");

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
    line.output("--output", options.output,
                "Bodies at the end: .csv or .npy in the form of the input, or .hdf5 as GADGET's snapshots");
    line.whole("--output-every", options.output_every, 0, std::numeric_limits<std::uint64_t>::max(), "K",
               "Bodies of the start and of every K-th step too: FILE.000000.csv, and so on");
    line.whole(
        "--snapshot-every", options.snapshot_every, 0, std::numeric_limits<std::uint64_t>::max(), "N",
        "A snapshot for --restart at every N-th step, beside --output FILE: FILE.000010.snapshot, and so "
        "on; energy is computed then, too");
    line.whole("--energy-every", options.energy_every, 0, std::numeric_limits<std::uint64_t>::max(), "K",
               "Energy at every K-th step too; it is computed at start and end in any case");
    line.output("--image", options.image, "Projected density at the end, seen along z: .png, 1024 x 1024");
    line.output("--report", options.report, "Energies, and who did what, as JSON");
    job_program::add_message_options(line, options.trace, options.progress, options.quiet);

    line.parse(argc, argv);
    if (!options.input.empty() + (options.plummer > 0) + !options.restart.empty() != 1)
        program::refuse("either --input FILE, --plummer N or --restart FILE is needed; see --help");
    for (const auto& [name, file] : {std::pair("--accelerations", &options.accelerations),
                                     std::pair("--potentials", &options.potentials)})
        if (!file->empty()) check_table_name(name, *file);
    if (!options.output.empty()) check_bodies_name("--output", options.output);
    if (!options.image.empty() && options.image.extension() != ".png")
        program::refuse("--image " + options.image.string() + ": takes a name that ends with .png");
    if (options.output_every > 0 && options.output.empty())
        program::refuse("--output-every: needs --output FILE to know where to");
    if (options.snapshot_every > 0 && options.output.empty())
        program::refuse("--snapshot-every: needs --output FILE: snapshots are beside it");
    if (options.output_every > 0)
        note_numbered("--output-every", options.output, options.output.extension(), 0);
    for (const char* name : motion_options)
        if (line.has(name)) options.written.emplace_back(name);
    settings.quadrupole = order == 1;
    settings.kernel = static_cast<KernelChoice>(kernel);
    return options;
}

Parameters parameters_of(const Options& options) {
    const Settings& settings = options.settings;
    return {options.dt,        settings.gravity,    settings.softening,      settings.theta,
            settings.accuracy, settings.quadrupole, name_of(settings.kernel)};
}

void go_on_from(const Snapshot& snapshot, Options& options) {
    const std::string file = options.restart.string();
    const auto is_written = [&](const char* name) {
        return std::ranges::find(options.written, name) != options.written.end();
    };
    const auto take = [&](const char* name, double& to, double from, double least, double most) {
        if (!(from >= least && from <= most))
            program::refuse(file + ": is a broken snapshot: its " + name + " cannot be");
        if (is_written(name) && to != from)
            program::refuse(std::string(name) + " " + text_of(to) + ": " + file + " goes on with " +
                            text_of(from) + "; leave the option out");
        to = from;
    };
    const auto choose = [&](const char* name, const std::string& mine, const std::string& theirs) {
        if (is_written(name) && mine != theirs)
            program::refuse(std::string(name) + " " + mine + ": " + file + " goes on with " + theirs +
                            "; leave the option out");
    };
    const Parameters& from = snapshot.parameters;
    Settings& settings = options.settings;
    take("--dt", options.dt, from.dt, -1e100, 1e100);
    take("--G", settings.gravity, from.gravity, 1e-100, 1e100);
    take("--softening", settings.softening, from.softening, 0, 1e100);
    take("--theta", settings.theta, from.theta, 0, 1);
    take("--accuracy", settings.accuracy, from.accuracy, 0, 1);
    const auto order_of = [](bool quadrupole) { return quadrupole ? "quadrupole" : "monopole"; };
    choose("--order", order_of(settings.quadrupole), order_of(from.quadrupole));
    settings.quadrupole = from.quadrupole;
    const auto* const kernel = std::ranges::find(kernels, from.kernel);
    if (kernel == kernels.end()) program::refuse(file + ": is a broken snapshot: its --kernel cannot be");
    choose("--kernel", name_of(settings.kernel), from.kernel);
    settings.kernel = static_cast<KernelChoice>(kernel - kernels.begin());
    if (options.steps < snapshot.step)
        program::refuse("--steps " + std::to_string(options.steps) + ": counts from the beginning, and " +
                        file + " has done " + std::to_string(snapshot.step));
}

std::filesystem::path numbered(const std::filesystem::path& file, std::uint64_t step,
                               const std::filesystem::path& extension) {
    std::string number = std::to_string(step);
    number.insert(0, number.size() < 6 ? 6 - number.size() : 0, '0');
    std::filesystem::path name = file;
    return name.replace_filename(file.stem().string() + "." + number + extension.string());
}

void note_numbered(const char* option, const std::filesystem::path& file,
                   const std::filesystem::path& extension, std::uint64_t first) {
    program::note_outputs(
        option, file.parent_path(),
        [begin = file.stem().string() + ".", end = extension.string(), first](const std::string& name) {
            if (!name.starts_with(begin) || !name.ends_with(end)) return false;
            const std::size_t length = begin.size() + end.size();
            if (name.size() < length + 6) return false; // see numbered()
            const std::string number = name.substr(begin.size(), name.size() - length);
            if (number.find_first_not_of("0123456789") != number.npos) return false;
            return number.size() > 18 || std::stoull(number) >= first;
        });
}

} // namespace barnes_hut
