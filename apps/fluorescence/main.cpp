// apps/fluorescence/main.cpp - headrace-fluorescence: what becomes of light in layered tissue. Exit codes: 0;
// 1 for a failure; 2 for a mistake of the user's; 3 when --watchdog gave up; 128 + signal after
// Ctrl-C.
#include "identity.hpp"
#include "job_program/baselines.hpp"
#include "job_program/interruption.hpp"
#include "options.hpp"
#include "plot.hpp"
#include "program/exit_code.hpp"
#include "program/npy.hpp"
#include "program/numbers.hpp"
#include "program/output_file.hpp"
#include "program/printable.hpp"
#include "program/quiet_process.hpp"
#include "program/ranks.hpp"
#include "program/used_files.hpp"
#include "report.hpp"
#include "result_files.hpp"
#include <headrace/core/trace.hpp>

#include <cstdio>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <system_error>
#include <vector>

namespace {

using namespace fluorescence;

constexpr const char* program_name = "headrace-fluorescence";

/// Names in a file's own words are no paths: what would leave the folder is not followed.
std::filesystem::path mco_of_run(const Options& options, const Problem& problem) {
    return options.mco / std::filesystem::path(problem.name).filename();
}

/// Whether two names lead to one file, which may not be there yet.
bool is_same_file(const std::filesystem::path& a, const std::filesystem::path& b) {
    std::error_code ignored;
    return a == b || std::filesystem::equivalent(a, b, ignored);
}

/// Before hours of work: every run's result can be written, and none takes another's place.
void check_results(const Options& options, const std::vector<Problem>& problems) {
    for (std::size_t i = 0; i < problems.size(); ++i) {
        if (!is_mcmls(problems[i]))
            program::refuse(
                "--mco: MCML has pencil beams and Henyey and Greenstein's phase function only; use --grids");
        const std::filesystem::path file = mco_of_run(options, problems[i]);
        for (std::size_t before = 0; before < i; ++before)
            if (is_same_file(mco_of_run(options, problems[before]), file))
                program::refuse("--mco: runs " + std::to_string(before + 1) + " and " +
                                std::to_string(i + 1) + " of " + options.input.string() +
                                " would both be written to " + file.string() +
                                "; give them names of their own");
        program::check_writable(file);
    }
}

/// Light that was still under way is counted as absorbed, which a user must not take for the tissue's doing.
void warn_of_cut_off(const Problem& problem, const Settings& settings, const Totals& totals) {
    if (totals.cut_off.value == 0) return;
    std::fprintf(stderr,
                 "%s: %s: %.3g of the light was still under way after %u steps, and counts as absorbed; "
                 "--most-steps allows more\n",
                 program_name, program::printable(problem.name).c_str(), totals.cut_off.value,
                 settings.most_steps);
}

/// Paths are kept up to a limit, which a user must not take for what was found.
void warn_of_long_paths(const Problem& problem, const Totals& totals) {
    for (const std::vector<Detected>& detectors : totals.detectors)
        for (std::size_t i = 0; i < detectors.size(); ++i)
            if (detectors[i].cut > 0)
                std::fprintf(stderr,
                             "%s: %s: detector %zu: of %llu packets, a path in a layer is longer than %g cm, "
                             "and counts as so long\n",
                             program_name, program::printable(problem.name).c_str(), i + 1,
                             static_cast<unsigned long long>(detectors[i].cut),
                             static_cast<double>(FLUORESCENCE_MOST_PATH));
}

/// Only grids have gates.
void warn_of_gates(const Problem& problem, const Options& options) {
    if (problem.time.gates == 0 || !options.grids.empty()) return;
    std::fprintf(stderr, "%s: %s: the gates of [time] are not written without --grids PREFIX\n", program_name,
                 program::printable(problem.name).c_str());
}

/// By gate, where some were asked for: the names of the files, and what is in them.
void write_gates(const Problem& problem, const std::string& begin, const Totals& totals) {
    const std::size_t gates = problem.time.gates;
    if (gates == 0) return;
    for (std::size_t wavelength = 0; wavelength < 2; ++wavelength) {
        const std::span<const double> all(totals.gates[wavelength]);
        const auto write = [&](const char* name, std::span<const double> cells,
                               const std::vector<std::size_t>& shape) {
            program::write_whole(begin + (wavelength == 0 ? ".time_" : ".emission_time_") + name + ".npy",
                                 program::npy_of(cells, shape));
        };
        write("reflectance", all.first(gates), {gates});
        write("transmittance", all.subspan(gates, gates), {gates});
        if (!problem.detectors.empty())
            write("detectors", all.subspan(2 * gates), {problem.detectors.size(), gates});
    }
}

/// The files of one run. `number`: ".2" for the second of several, else empty.
void write_grids(const Problem& problem, const Settings& settings, const std::string& prefix,
                 const std::string& number, const Grids& grids) {
    const std::string begin = prefix + number;
    const auto write = [&](const std::string& name, const std::vector<double>& cells,
                           const std::vector<std::size_t>& shape) {
        program::write_whole(begin + "." + name + ".npy", program::npy_of(cells, shape));
    };
    write("absorption", grids.absorption[0], grids.absorption_shape);
    if (settings.fluence) {
        write("fluence", grids.fluence[0], grids.absorption_shape);
        write("emission_fluence", grids.fluence[1], grids.absorption_shape);
    }
    write("reflectance", grids.escape[0][0], grids.escape_shape);
    write("transmittance", grids.escape[0][1], grids.escape_shape);
    write("emission_absorption", grids.absorption[1], grids.absorption_shape);
    write("emission_top", grids.escape[1][0], grids.escape_shape);
    write("emission_bottom", grids.escape[1][1], grids.escape_shape);
    program::write_whole(begin + ".vti", vti_of(problem, settings, grids));
}

/// plot.png, or plot.2.png.
std::filesystem::path plot_of_run(const Options& options, const std::string& number) {
    std::filesystem::path file = options.plot;
    file.replace_filename(file.stem().string() + number + file.extension().string());
    return file;
}

/// Empty for a single run.
std::string number_of_run(std::size_t run, std::size_t runs) {
    std::string number;
    if (runs > 1) number.append(".").append(std::to_string(run + 1));
    return number;
}

/// What options name only the beginning of.
void note_outputs(const Options& options, const std::vector<Problem>& problems) {
    if (!options.grids.empty()) program::check_writable(options.grids + ".absorption.npy");
    for (std::size_t i = 0; i < problems.size(); ++i) {
        const std::string number = number_of_run(i, problems.size()),
                          run = " of run " + std::to_string(i + 1);
        if (!options.grids.empty()) {
            for (const char* name : {"absorption", "reflectance", "transmittance", "emission_absorption",
                                     "emission_top", "emission_bottom"})
                program::note_output("--grids" + run, options.grids + number + "." + name + ".npy");
            if (problems[i].time.gates > 0)
                for (const char* name : {"time_reflectance", "time_transmittance", "time_detectors"})
                    for (const char* which : {".", ".emission_"})
                        program::note_output("--grids" + run, options.grids + number + which + name + ".npy");
            if (!options.no_fluence)
                for (const char* name : {"fluence", "emission_fluence"})
                    program::note_output("--grids" + run, options.grids + number + "." + name + ".npy");
            program::note_output("--grids" + run, options.grids + number + ".vti");
        }
        if (!options.plot.empty() && options.plot != "-" && !number.empty())
            program::note_output("--plot" + run, plot_of_run(options, number));
        if (!options.checkpoints.checkpoint.empty() && !number.empty())
            program::note_output("--checkpoint" + run,
                                 options.checkpoints.of_job(i, problems.size()).checkpoint);
        if (options.mco.empty()) continue;
        program::note_output("--mco" + run, mco_of_run(options, problems[i]));
    }
}

void run(const Options& options) {
    const std::vector<Problem> problems = read_problems(options.input);
    if (!options.mco.empty()) check_results(options, problems);
    note_outputs(options, problems);
    for (const Problem& problem : problems) warn_of_gates(problem, options);
    std::optional<headrace::Trace> trace;
    options.trace.begin(trace);
    headrace::Runtime runtime(options.runtime);
    job_program::watch_for_interruption();
    const bool stdout_is_taken = options.report == "-" || options.trace.is_on_stdout() || options.plot == "-";
    std::FILE* const out = program::table_output(stdout_is_taken);

    std::vector<std::string> reports;
    for (std::size_t i = 0; i < problems.size(); ++i) {
        const Settings settings = options.settings(problems[i]);
        if (options.baselines)
            job_program::measure_alone(runtime, [&] { return Simulation(problems[i], settings).job(); });
        const Simulation simulation(problems[i], settings);
        headrace::JobReport job =
            job_program::run_job(runtime, simulation.job(), options.checkpoints.of_job(i, problems.size()),
                                 identity_of(problems[i], settings), options.progress && !options.quiet);
        const Totals totals = simulation.totals();
        if (!options.grids.empty() || !options.mco.empty() || !options.plot.empty()) {
            const Grids grids = simulation.grids();
            const std::string number = number_of_run(i, problems.size());
            if (!options.grids.empty()) {
                write_grids(problems[i], settings, options.grids, number, grids);
                write_gates(problems[i], options.grids + number, totals);
            }
            if (!options.plot.empty())
                program::write_output(plot_of_run(options, number),
                                      fluorescence::plot_of(problems[i], settings, grids));
            if (!options.mco.empty())
                program::write_whole(mco_of_run(options, problems[i]),
                                     fluorescence::mco_of(problems[i], settings, totals, grids, job.seconds));
        }
        job.ranks = headrace::cluster::collect_traffic();
        reports.push_back(json_of(problems[i], settings, totals, job));
        warn_of_cut_off(problems[i], settings, totals);
        warn_of_long_paths(problems[i], totals);
        if (options.quiet) continue;
        std::fputs(table_of(problems[i], settings, totals).c_str(), out);
        std::fputs(job.table().c_str(), out);
    }
    program::write_output(options.report, json_of(reports));
    if (trace) options.trace.write(*trace);
}

} // namespace

int main(int argc, char** argv) {
    std::optional<program::Ranks> ranks; // until failures are printed
    const int exit_code = program::exit_code_of(program_name, [&] {
        ranks.emplace();
        run(parse_options(argc, argv));
    });
    return job_program::interruption() != 0 && exit_code != 0 ? 128 + job_program::interruption() : exit_code;
}
