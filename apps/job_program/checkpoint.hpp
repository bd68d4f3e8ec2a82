// apps/job_program/checkpoint.hpp - a job that stores how far it is, and goes on from there.
#pragma once
#include "program/command_line.hpp"
#include <headrace/headrace.hpp>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>

namespace job_program {

struct CheckpointOptions {
    std::filesystem::path checkpoint, resume; ///< empty: none
    double every = 60;                        ///< seconds
    bool resume_may_be_missing = false;       ///< then the job begins anew
    std::size_t on_loss = 0;                  ///< of a rank; 0: all end, 1: the others go on
    double lost_after = 1;                    ///< seconds of silence

    [[nodiscard]] bool continues_after_loss() const { return on_loss != 0; }
    /// The job runs in epochs.
    [[nodiscard]] bool are_given() const {
        return !checkpoint.empty() || !resume.empty() || continues_after_loss();
    }
    /// For one of several jobs: each has a file of its own, the first FILE.1. Resuming begins anew with the
    /// first job that has none.
    [[nodiscard]] CheckpointOptions of_job(std::size_t job, std::size_t jobs) const;
};

/// --checkpoint, --checkpoint-every, --resume, --on-loss and --lost-after. `options` outlives `line`.
void add_checkpoint_options(program::CommandLine& line, CheckpointOptions& options);

/// What a program does with results while a job runs.
struct Watch {
    double time_limit = 0;         ///< seconds, after which the job ends with what is done; 0: none
    std::uint64_t least_units = 0; ///< that are done in any case
    std::uint64_t most_units = 0;  ///< between two looks; 0: as many as there is time for
    double every = 2;              ///< seconds between two looks, about
    std::function<void(std::uint64_t units)> look = {}; ///< results of so many units are in their domains

    [[nodiscard]] bool is_wanted() const { return time_limit > 0 || look; }
};

/// Runs the job and waits for it with a progress bar: at once, or in epochs if `options` or `watch` are
/// given. Then a signal is heard at the end of an epoch. `identity`: see headrace::EpochOptions.
///
/// Errors    those of wait_for; those of run_in_epochs
[[nodiscard]] headrace::JobReport run_job(headrace::Runtime& runtime, const headrace::Job& job,
                                          const CheckpointOptions& options, const std::string& identity,
                                          bool shows_progress, const Watch& watch = {});

/// Whether run_job has ended with this error because of a signal, at the end of an epoch: its message says
/// what is stored.
[[nodiscard]] bool tells_what_is_stored(const headrace::Error& error);

} // namespace job_program
