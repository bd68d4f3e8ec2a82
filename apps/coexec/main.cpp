// apps/coexec/main.cpp - headrace-coexec: one kernel, run by all devices together. Exit codes: 0; 1 for a
// failure, and for wrong results under --verify; 2 for a mistake of the user's; 3 when --watchdog gave up;
// 128 + signal after Ctrl-C.
#include "job_program/baselines.hpp"
#include "job_program/interruption.hpp"
#include "job_program/wait.hpp"
#include "options.hpp"
#include "program/exit_code.hpp"
#include "program/output_file.hpp"
#include "program/quiet_process.hpp"
#include "program/ranks.hpp"
#include "report.hpp"
#include <headrace/core/trace.hpp>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <future>
#include <optional>

#include <unistd.h>

namespace {

using namespace coexec;

constexpr const char* program_name = "headrace-coexec";

/// With all its transfers: no device has the inputs before, and the host has the results after.
Run run_once(headrace::Runtime& runtime, Problem& problem, bool shows_progress) {
    problem.reset();
    const headrace::Job job = problem.job();
    const auto begin = std::chrono::steady_clock::now();
    const headrace::JobHandle handle = runtime.submit(job);
    job_program::wait_for(handle, job.work_units(), shows_progress);
    problem.collect();
    const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
    return {seconds.count(), handle.report()};
}

/// A serial version does not look whether the user wants it to end, so the process leaves without it.
Verdict verify(const Problem& problem, std::uint64_t stride) {
    auto verdict = std::async(std::launch::async, [&] { return problem.verify(stride); });
    while (verdict.wait_for(std::chrono::milliseconds(50)) != std::future_status::ready)
        if (const int signal = job_program::interruption(); signal != 0)
            ::_exit(program::complain(program_name, "interrupted while results were compared", 128 + signal));
    return verdict.get();
}

void run(const Options& options) {
    std::optional<headrace::Trace> trace;
    options.trace.begin(trace);
    headrace::Runtime runtime(options.runtime);
    job_program::watch_for_interruption();
    const auto problem = options.problem->make(options.settings, runtime);

    Findings findings{problem->text(), {}, {}};
    const bool shows_progress = options.progress && !options.quiet;
    Run first = run_once(runtime, *problem, shows_progress);
    if (options.baselines) {
        job_program::measure_alone(runtime, [&] {
            problem->reset();
            return problem->job();
        });
        first = run_once(runtime, *problem, shows_progress);
    }
    if (options.repeat == 0) findings.runs.push_back(std::move(first));
    while (findings.runs.size() < options.repeat)
        findings.runs.push_back(run_once(runtime, *problem, shows_progress));
    const auto ranks = headrace::cluster::collect_traffic();
    for (Run& run : findings.runs) run.job.ranks = ranks;
    std::ranges::sort(findings.runs, {}, &Run::seconds);
    if (options.verify) findings.verdict = verify(*problem, options.check_every);

    program::write_output(options.report, json_of(options, findings));
    if (trace) options.trace.write(*trace);
    const bool stdout_is_taken = options.report == "-" || options.trace.is_on_stdout();
    if (!options.quiet) std::fputs(table_of(findings).c_str(), program::table_output(stdout_is_taken));
    if (findings.verdict) findings.verdict->throw_if_wrong();
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
