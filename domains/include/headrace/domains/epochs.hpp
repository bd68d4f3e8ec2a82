// domains/epochs.hpp - a long job as a sequence of epochs, whose results are committed one after another, and
// stored in a file from which another run goes on.
#pragma once
#include <headrace/core/export.hpp>
#include <headrace/domains/job.hpp>
#include <headrace/domains/report.hpp>
#include <headrace/domains/runtime.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <span>
#include <string>

namespace headrace {

/// How `run_in_epochs` divides a job, and where it stores what is committed.
struct EpochOptions {
    using Seconds = std::chrono::duration<double>;

    std::filesystem::path checkpoint = {}; ///< empty: nothing is written
    Seconds checkpoint_every{60};          ///< at least this time between two writes
    std::filesystem::path resume = {};     ///< a checkpoint to go on from; empty: begins with the first unit
    bool resume_may_be_missing = false;    ///< then the run begins with the first unit
    /// Lines "name: value" of everything that the result depends on: the program, the contents of its input,
    /// all options that change the result. A checkpoint with other lines is refused, and the error names
    /// them.
    std::string identity = {};
    /// On the ranks of a cluster. 0: the loss of a rank ends all. Else the loss of a rank other than rank 0
    /// does not: the others do the units of the open epoch again. A rank of which its neighbours hear nothing
    /// for so long is lost, also if it is only slow. MPI itself must let the others live: `mpirun --mca
    /// orte_enable_recovery 1` for Open MPI 4, `srun --no-kill --kill-on-bad-exit=0`.
    Seconds lost_after{0};
    Seconds epoch{2}; ///< an epoch takes about so long; longer if a commit takes more than 2 % of it
    std::uint64_t most_units = 0; ///< of an epoch; 0: as many as there is time for
    /// The run ends about then, with what is committed, as if it had been all: the report says how many units
    /// those are, and a checkpoint is one to go on from. Not before the first epoch. 0: there is no limit.
    Seconds time_limit{0};
    std::uint64_t least_units = 0; ///< so many are done in any case, also behind the time limit
    /// Gets the number of completed units, also those of the run that is resumed. Called some times a second.
    std::function<void(std::uint64_t units)> on_progress = {};
    /// Called on each rank when an epoch is committed, with the number of completed units, also those of the
    /// run that is resumed. The results are in the domains then, and stay until it returns: no other epoch
    /// runs. What it throws ends the run.
    std::function<void(std::uint64_t units)> on_commit = {};
    /// Asked at the end of each epoch, on each rank. True: nothing more is computed.
    std::function<bool()> stops = {};
    /// Called each time the checkpoint has been written, with the number of units in it. A thread of its own
    /// calls it.
    std::function<void(std::uint64_t units)> on_checkpoint = {};
    /// The number of units of the next epoch, if so many are done; rank 0 asks. Empty: measured times decide.
    std::function<std::uint64_t(std::uint64_t done)> cut = {};
};

/// Runs `job` as a sequence of epochs, each a job for some of its units (Job::only_units), and returns when
/// all are done, or its time is up. At the end of an epoch the results are committed: private replicas are
/// joined and copied to the host. While the next epoch runs, they are written to the checkpoint. A domain
/// that the job writes has at the end what one submission of the job would have left, if the result does not
/// depend on how work is cut into tasks. ExactSum is rounded once.
///
/// A checkpoint is whole at any time: a new one takes its name when it is on the disk. If it cannot be
/// written, the log says why, the earlier one stays, and the next interval tries again.
///
/// On the ranks of a cluster all call it, with the same job and options. Rank 0 alone reads and writes files.
/// A run may be resumed with another number of ranks and devices.
///
/// Errors    cancelled after `stops`: the message says how many units are committed, and where; io if that
///           checkpoint cannot be written; not_found, io or invalid_argument if `resume` is no checkpoint of
///           this job; the job's own failure
/// Threads   one; no other job may use the domains that this job writes
[[nodiscard]] HEADRACE_EXPORT JobReport run_in_epochs(Runtime& runtime, const Job& job,
                                                      const EpochOptions& options);

/// A short text that differs if the bytes do, for EpochOptions::identity. Other bytes may have it too, but
/// not by chance; it protects against no attack.
[[nodiscard]] HEADRACE_EXPORT std::string fingerprint(std::span<const std::byte> bytes);

} // namespace headrace
