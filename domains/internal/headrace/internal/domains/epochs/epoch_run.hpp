// internal/domains/epochs/epoch_run.hpp - a job in epochs, on this rank: see epochs.hpp. Internal to
// domains/.
//
//     prepare -> begin -> decide -> run -> commit -> decide -> ... -> finish
//                             |                          ^
//                             stop             meet, restore: a rank is lost, and the others go back to the
//                                                             last commit
#pragma once
#include <headrace/core/export.hpp>
#include <headrace/domains/epochs.hpp>
#include <headrace/domains/job_handle.hpp>
#include <headrace/internal/domains/epochs/checkpoints.hpp>
#include <headrace/internal/domains/epochs/epoch_length.hpp>
#include <headrace/internal/domains/epochs/report_sum.hpp>
#include <headrace/internal/domains/epochs/snapshot.hpp>

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>

namespace headrace {

namespace cluster {
class Node;
}

namespace epochs {

/// Threads   one
class HEADRACE_EXPORT EpochRun {
public:
    EpochRun(Runtime& runtime, const Job& job, const EpochOptions& options);

    [[nodiscard]] JobReport run();

private:
    using Clock = std::chrono::steady_clock;
    struct Decision {
        std::uint64_t units = 0; ///< of the next epoch
        bool stops = false;
        bool is_late = false; ///< the time is up
    };
    /// An epoch that has ended, whose report is not yet asked for: meters of energy take their time.
    struct Ended {
        JobHandle job;
        double begin;
    };

    void step();
    [[nodiscard]] bool go_on_after(const Error& error);
    void prepare();
    void meet();
    void begin();
    [[nodiscard]] Decision decide() const;
    void run_epoch(std::uint64_t units);
    void commit(std::uint64_t end);
    /// All ranks take the results of rank 0's snapshot, forget what they have done since, and go on behind
    /// its units. If rank 0 has no snapshot, all throw why. All ranks call it.
    void restore();
    [[noreturn]] void stop();
    void store_what_is_committed() noexcept;
    [[nodiscard]] JobReport finish();
    void take_report();
    void tell_progress(std::uint64_t units_of_epoch) const;
    [[nodiscard]] bool is_first() const;
    [[nodiscard]] std::uint64_t committed() const { return done_ - job_.units().begin; } ///< units
    [[nodiscard]] double seconds() const; ///< since the first epoch began
    [[nodiscard]] double seconds_left() const;

    Runtime& runtime_;
    const Job job_;
    const EpochOptions options_;
    std::shared_ptr<cluster::Node> node_; ///< null: there is one process
    const std::uint64_t number_;          ///< of this run, the same on all ranks
    EpochLength length_;
    ReportSum reports_;
    std::optional<Ended> ended_;
    std::uint64_t done_; ///< index of the first unit that is not committed
    bool has_prepared_ = false, has_begun_ = false, is_stopping_ = false, is_over_ = false;
    bool has_done_epochs_ = false;
    bool must_meet_ = true;
    bool must_restore_ = false; ///< ranks are lost, and all others begin the epoch again
    ErrorPtr failure_;          ///< why rank 0 has no snapshot
    std::uint64_t resumed_ = 0; ///< units that the resumed run had done
    const Clock::time_point call_ = Clock::now();
    Clock::time_point begin_ = call_;          ///< of the first epoch
    double end_ = 0;                           ///< of the last epoch
    std::shared_ptr<const Snapshot> snapshot_; ///< the last commit; on rank 0 alone
    Checkpoints checkpoints_;
};

} // namespace epochs
} // namespace headrace
