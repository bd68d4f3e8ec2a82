// apps/job_program/checkpoint.cpp - see checkpoint.hpp.
#include "job_program/checkpoint.hpp"
#include "job_program/interruption.hpp"
#include "job_program/progress_bar.hpp"
#include "job_program/wait.hpp"
#include "program/numbers.hpp"
#include "program/used_files.hpp"
#include <headrace/core/error.hpp>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <optional>
#include <system_error>

namespace job_program {
namespace {

namespace fs = std::filesystem;
using headrace::Error;
using headrace::ErrorKind;

/// How its message begins.
const std::string stopped = "interrupted: ";

bool is_one_file(const fs::path& a, const fs::path& b) {
    std::error_code ignored;
    return a == b || fs::equivalent(a, b, ignored);
}

fs::path with_number(fs::path file, std::size_t number) {
    if (!file.empty()) file += std::string(".").append(std::to_string(number + 1));
    return file;
}

headrace::JobReport run_at_once(headrace::Runtime& runtime, const headrace::Job& job, bool shows_progress) {
    const headrace::JobHandle handle = runtime.submit(job);
    wait_for(handle, job.work_units(), shows_progress);
    return handle.report();
}

} // namespace

CheckpointOptions CheckpointOptions::of_job(std::size_t job, std::size_t jobs) const {
    if (jobs == 1) return *this;
    CheckpointOptions own = *this;
    own.checkpoint = with_number(checkpoint, job);
    own.resume = with_number(resume, job);
    own.resume_may_be_missing = job > 0;
    return own;
}

void add_checkpoint_options(program::CommandLine& line, CheckpointOptions& options) {
    line.group("Long runs");
    line.output("--checkpoint", options.checkpoint,
                "File for what is done, so that --resume can go on; also written at Ctrl-C or SIGTERM");
    line.real("--checkpoint-every", options.every, 0, 1e9, "SECONDS", "Least time between two checkpoints");
    line.option(
        "--resume", "", "FILE", "Checkpoint to go on from, with any devices; may be the file of --checkpoint",
        [&options](const std::string& text) {
            options.resume = text;
            if (options.checkpoint == "-" || text == "-")
                program::refuse("--checkpoint and --resume take a file, not -");
            std::error_code ignored;
            if (fs::exists(options.checkpoint, ignored) && !fs::is_regular_file(options.checkpoint, ignored))
                program::refuse("--checkpoint " + options.checkpoint.string() +
                                ": is no regular file; name another one");
            // One file may be both: it is read before it is replaced.
            if (!text.empty() && !is_one_file(text, options.checkpoint)) program::note_input(text);
        });
    line.choice("--on-loss", options.on_loss, {"stop", "continue"},
                "On several ranks, when one is lost: end, or go on without it");
    line.real("--lost-after", options.lost_after, 1e-3, 1e6, "SECONDS",
              "With --on-loss continue: a rank of which nothing is heard for so long is lost");
}

headrace::JobReport run_job(headrace::Runtime& runtime, const headrace::Job& job,
                            const CheckpointOptions& options, const std::string& identity,
                            bool shows_progress, const Watch& watch) {
    if (!options.are_given() && !watch.is_wanted()) return run_at_once(runtime, job, shows_progress);
    // It was compared with all outputs. From now on another run may replace it.
    program::forget_input(options.resume);
    ProgressBar bar(job.work_units(), shows_progress);
    headrace::EpochOptions epochs;
    epochs.checkpoint = options.checkpoint;
    epochs.checkpoint_every = headrace::EpochOptions::Seconds(options.every);
    epochs.resume = options.resume;
    epochs.resume_may_be_missing = options.resume_may_be_missing;
    if (options.continues_after_loss())
        epochs.lost_after = headrace::EpochOptions::Seconds(options.lost_after);
    epochs.identity = identity;
    using Clock = std::chrono::steady_clock;
    const Clock::time_point begin = Clock::now();
    epochs.on_progress = [&](std::uint64_t units) {
        const std::chrono::duration<double> seconds = Clock::now() - begin;
        const double part = watch.time_limit > 0 ? std::min(seconds.count() / watch.time_limit, 1.0) : 0;
        bar.show(std::max(units, static_cast<std::uint64_t>(part * static_cast<double>(job.work_units()))));
    };
    epochs.stops = [] { return interruption() != 0; };
    epochs.time_limit = headrace::EpochOptions::Seconds(watch.time_limit);
    epochs.least_units = watch.least_units;
    epochs.most_units = watch.most_units;
    epochs.epoch = std::min(epochs.epoch, headrace::EpochOptions::Seconds(watch.every));
    epochs.on_commit = watch.look;
    std::optional<EndsByItself> stores; // else nothing is worth more than the promised second
    if (!options.checkpoint.empty()) stores.emplace();
    try {
        headrace::JobReport report = headrace::run_in_epochs(runtime, job, epochs);
        bar.finish();
        return report;
    } catch (const Error& error) {
        if (error.kind() != ErrorKind::cancelled) {
            forget_interruption();
            throw;
        }
        if (interruption() == 0) note_interruption(SIGTERM); // it came to another rank
        if (options.checkpoint.empty()) throw;
        throw Error{ErrorKind::cancelled,
                    stopped + error.message() + "; --resume " + options.checkpoint.string() + " goes on"};
    }
}

bool tells_what_is_stored(const Error& error) {
    return error.kind() == ErrorKind::cancelled && error.message().starts_with(stopped);
}

} // namespace job_program
