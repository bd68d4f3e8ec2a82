// apps/barnes_hut/main.cpp - headrace-barnes-hut: gravity among many bodies. Exit codes: 0; 1 for a failure;
// 2 for a mistake of the user's; 3 when --watchdog gave up; 128 + signal after Ctrl-C.
#include "density.hpp"
#include "job_program/baselines.hpp"
#include "job_program/interruption.hpp"
#include "job_program/progress_bar.hpp"
#include "job_program/wait.hpp"
#include "options.hpp"
#include "program/exit_code.hpp"
#include "program/output_file.hpp"
#include "program/quiet_process.hpp"
#include "program/ranks.hpp"
#include "read_bodies.hpp"
#include "report.hpp"
#include "simulation.hpp"
#include "snapshot.hpp"
#include "write_bodies.hpp"
#include <headrace/core/trace.hpp>

#include <cstdio>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace {

using namespace barnes_hut;

constexpr const char* program_name = "headrace-barnes-hut";
constexpr std::uint32_t image_pixels = 1024;

/// What the run begins with; what a snapshot has of it goes into the options.
Snapshot start_of(Options& options) {
    Snapshot start;
    if (options.restart.empty()) {
        start.bodies = options.input.empty()
                           ? plummer_sphere(options.plummer, options.seed, options.settings.gravity)
                           : read_bodies(options.input);
    } else {
        start = parse_snapshot(*open_file(options.restart), options.restart.string());
        go_on_from(start, options);
    }
    if (options.snapshot_every > 0)
        note_numbered("--snapshot-every", options.output, snapshot_extension, start.step + 1);
    return start;
}

/// By the clock of the input.
double time_of(const Options& options, const Simulation& simulation) {
    return simulation.begin() + static_cast<double>(simulation.steps()) * options.dt;
}

void write_results(const Options& options, Simulation& simulation) {
    if (!options.accelerations.empty())
        program::write_whole(options.accelerations,
                             vectors_table(options.accelerations, simulation.field().accelerations));
    if (!options.potentials.empty())
        program::write_whole(options.potentials,
                             potentials_table(options.potentials, simulation.potentials()));
    if (!options.output.empty())
        program::write_whole(options.output,
                             bodies_file(options.output, simulation.bodies(), time_of(options, simulation)));
    if (!options.image.empty())
        program::write_whole(options.image, density_png(simulation.bodies(), image_pixels));
}

void run(Options options) {
    Snapshot start = start_of(options);
    std::optional<headrace::Trace> trace;
    options.trace.begin(trace);
    headrace::Runtime runtime(options.runtime);
    job_program::watch_for_interruption();

    const bool shows = options.progress && !options.quiet;
    job_program::JobSum jobs("no forces were computed");
    Simulation simulation(runtime, options.settings, std::move(start.bodies), options.dt,
                          [&](const headrace::Job& job, Simulation::Phase phase) {
                              const bool is_forces = phase == Simulation::Phase::forces;
                              const headrace::JobHandle handle = runtime.submit(job);
                              job_program::wait_for(handle, job.work_units(),
                                                    shows && is_forces && options.steps == 0);
                              if (is_forces) jobs.add(handle.report());
                          });
    if (options.baselines)
        simulation.before_forces(
            [&](const auto& make_job) { job_program::measure_alone(runtime, make_job); });
    job_program::ProgressBar bar(options.steps, shows && options.steps > 0);
    std::vector<Totals> history = std::move(start.history);
    const auto is_due = [](std::uint64_t step, std::uint64_t every) {
        return every > 0 && step % every == 0;
    };
    const auto write_bodies = [&] {
        if (is_due(simulation.steps(), options.output_every))
            program::write_whole(
                numbered(options.output, simulation.steps(), options.output.extension()),
                bodies_file(options.output, simulation.bodies(), time_of(options, simulation)));
    };
    const auto write_snapshot = [&] {
        if (is_due(simulation.steps(), options.snapshot_every))
            program::write_whole(
                numbered(options.output, simulation.steps(), snapshot_extension),
                bytes_of({simulation.steps(), parameters_of(options), simulation.has_infinite_energy(),
                          history, simulation.bodies(), simulation.field()}));
    };
    if (options.restart.empty()) {
        simulation.compute_field(true);
        history.push_back(simulation.totals());
        write_bodies();
    } else {
        simulation.resume(start.step, std::move(start.field), start.have_met);
    }
    for (std::uint64_t step = start.step + 1; step <= options.steps; ++step) {
        const bool wants_energy = step == options.steps || is_due(step, options.energy_every) ||
                                  is_due(step, options.snapshot_every);
        simulation.step(wants_energy);
        if (wants_energy) history.push_back(simulation.totals());
        write_bodies();
        write_snapshot();
        bar.show(step);
    }
    bar.finish();
    write_results(options, simulation);
    jobs.set_ranks(headrace::cluster::collect_traffic());
    program::write_output(options.report, json_of(options, simulation, history, jobs));
    if (trace) options.trace.write(*trace);
    if (options.quiet) return;
    const bool stdout_is_taken = options.report == "-" || options.trace.is_on_stdout();
    std::fputs(table_of(simulation, history, jobs).c_str(), program::table_output(stdout_is_taken));
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
