// internal/domains/epochs/checkpoints.hpp - writes snapshots to a file while the job goes on. Internal to
// domains/.
#pragma once
#include <headrace/core/error.hpp>
#include <headrace/core/export.hpp>
#include <headrace/internal/domains/epochs/checkpoint_file.hpp>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <thread>

namespace headrace::epochs {

/// The checkpoints of one run.
///
/// Threads   one
class HEADRACE_EXPORT Checkpoints {
public:
    using Clock = std::chrono::steady_clock;
    using SnapshotPtr = std::shared_ptr<const Snapshot>;

    /// `file`: empty: none is written. `written`: called by a thread of this class.
    Checkpoints(std::filesystem::path file, Clock::duration every, Identity identity,
                std::function<void(std::uint64_t units)> written);
    /// Waits for a file that is being written.
    ~Checkpoints() = default;

    /// The first interval begins.
    void begin() { last_ = Clock::now(); }
    /// A new snapshot is there. Writes it beside what the caller does if it is time, and if the last one is
    /// on the disk. A failure is logged.
    void offer(const SnapshotPtr& snapshot);
    /// Writes it now, unless the file has it, or writing it has just failed. Blocks. Errors: io
    void write(const SnapshotPtr& snapshot);
    [[nodiscard]] bool are_wanted() const noexcept { return !file_.empty(); }

private:
    void join();

    std::filesystem::path file_;
    Clock::duration every_;
    Identity identity_;
    std::function<void(std::uint64_t)> written_;
    Clock::time_point last_ = Clock::now();
    SnapshotPtr writing_;                 ///< by the thread
    ErrorPtr failure_;                    ///< of the last write
    std::optional<std::uint64_t> stored_; ///< Snapshot::done of what the file has
    std::optional<std::uint64_t> failed_; ///< of what `write` could not write
    std::atomic<bool> has_ended_ = true;
    std::jthread thread_; ///< last: it uses the rest
};

} // namespace headrace::epochs
