// internal/domains/job_life.hpp - whether a job has started, why it stops, and whether it may end. Internal
// to domains/.
#pragma once
#include <headrace/core/error.hpp>

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

namespace headrace {

/// A job waits, runs and ends. It cannot end while it is held: by a caller that is about to start it, or for
/// a device that is about to retire.
///
/// Threads   one at a time: the job's lock
class JobLife {
public:
    [[nodiscard]] bool has_started() const noexcept { return started_; }
    [[nodiscard]] bool has_ended() const noexcept { return ended_; }
    /// Devices get work of it.
    [[nodiscard]] bool is_running() const noexcept { return started_ && !stop_reason_; }
    [[nodiscard]] bool is_stopping() const noexcept { return stop_reason_ != nullptr; }
    /// The first reason to end without success; null: there is none.
    [[nodiscard]] const ErrorPtr& stop_reason() const noexcept { return stop_reason_; }

    /// A caller is about to start it: one call of `start` or `release` must follow. False: it has ended.
    [[nodiscard]] bool hold() noexcept {
        if (!ended_) ++holds_;
        return !ended_;
    }
    void release() noexcept { --holds_; }
    void start() noexcept {
        started_ = true;
        if (holds_ > 0) --holds_;
    }
    /// So that `hold_for` finds memory for so many devices: it is called while a device fails.
    void expect_devices(std::size_t devices) { leaving_.reserve(devices); }
    /// The device will retire soon, until `retired`.
    void hold_for(std::size_t device) {
        if (!std::ranges::count(leaving_, device)) leaving_.push_back(device);
    }
    void retired(std::size_t device) noexcept { std::erase(leaving_, device); }

    /// False: there is an earlier reason, which counts.
    bool stop(ErrorPtr why) noexcept {
        if (stop_reason_) return false;
        stop_reason_ = std::move(why);
        return true;
    }
    /// It waits, perhaps for long, and no caller has stopped it.
    [[nodiscard]] bool is_waiting() const noexcept { return !started_ && !stop_reason_; }
    /// `is_complete`: each work unit is completed. `has_tasks`: devices have some of it.
    [[nodiscard]] bool may_end(bool is_complete, bool has_tasks) const noexcept {
        if (ended_ || holds_ > 0 || !leaving_.empty() || has_tasks) return false;
        return stop_reason_ || (started_ && is_complete);
    }
    void end() noexcept { ended_ = true; }

    /// From now on only the log can report a failure.
    void forget_handles() noexcept { has_handles_ = false; }
    /// It has failed, and no caller gets to know. `is_told`: a waiter or another job gets the failure. The
    /// caller that cancels a job knows that it failed.
    [[nodiscard]] bool fails_unheard(bool is_told) const noexcept {
        return ended_ && stop_reason_ && !has_handles_ && !is_told &&
               stop_reason_->kind() != ErrorKind::cancelled;
    }

private:
    bool started_ = false;
    bool ended_ = false;
    bool has_handles_ = true;
    unsigned holds_ = 0;
    std::vector<std::size_t> leaving_; ///< devices
    ErrorPtr stop_reason_;
};

} // namespace headrace
