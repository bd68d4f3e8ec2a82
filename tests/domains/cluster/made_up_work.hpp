// tests/domains/cluster/made_up_work.hpp - a rank's part of a shared job, without a runtime: one device, and
// the ranks below.
#pragma once
#include <headrace/core/policy.hpp>
#include <headrace/internal/core/schedule.hpp>
#include <headrace/internal/domains/cluster/job_share.hpp>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

namespace headrace::test {

/// The number of ranks of each subtree, by its root.
inline std::vector<int> subtree_sizes(int ranks) {
    std::vector<int> sizes(static_cast<std::size_t>(ranks), 1);
    for (int rank = ranks - 1; rank > 0; --rank)
        sizes[static_cast<std::size_t>(cluster::Neighbours::of(rank, ranks, "").above)] +=
            sizes[static_cast<std::size_t>(rank)];
    return sizes;
}

/// Calls the schedule as JobExecution does. The device is participant 0, and its owner lets it work.
///
/// Threads   one at a time
class MadeUpWork final : public cluster::LocalWork {
public:
    using Now = std::function<Clock::time_point()>;

    /// `sizes`: of all subtrees, as estimates of the speeds of ranks below.
    MadeUpWork(const cluster::Neighbours& neighbours, const std::vector<int>& sizes, std::uint64_t work_units,
               Now now)
        : below_(neighbours.below),
          now_(std::move(now)),
          schedule_({.work_units = work_units, .is_open = neighbours.rank != 0},
                    participants(neighbours, sizes), make_policy("adaptive"), std::make_shared<Anywhere>()) {}

    void start() {
        has_started_ = true;
        began_ = now_();
        settle();
    }

    [[nodiscard]] Supply supply() const override {
        return {.is_running = is_running(),
                .has_ended = has_ended_,
                .open = schedule_.open_units(),
                .completed = schedule_.completed_units(),
                .busy = *std::ranges::max_element(busy_),
                .stop_reason = stop_reason_};
    }
    void extend(IndexRange units) override {
        if (is_running()) schedule_.extend(units);
    }
    void close() override {
        schedule_.close();
        settle();
    }
    void stop(ErrorPtr why) override {
        if (!stop_reason_ && !has_ended_) stop_reason_ = std::move(why);
        settle();
    }
    [[nodiscard]] std::optional<IndexRange> next(int rank, bool /*is_idle*/) override {
        return next_of(participant_of(rank));
    }
    void completed(int rank, const std::vector<IndexRange>& grants, std::optional<Part> next,
                   Clock::time_point begin, Clock::time_point end) override {
        std::vector<Work> works;
        for (const IndexRange& units : grants) works.push_back({.range = units});
        std::optional<Schedule::Progressed> part;
        if (next) part = {{.range = next->grant}, next->units};
        busy_[participant_of(rank)] += end - begin;
        schedule_.completed(participant_of(rank), works, end - begin, seconds(), part);
        settle();
    }
    void abandoned(int rank, IndexRange grant) override {
        schedule_.returned(participant_of(rank), {.range = grant}, true);
        settle();
    }

    /// The device's next task.
    [[nodiscard]] std::optional<IndexRange> take() { return next_of(0); }
    /// The device has completed it. False: the job stops, and it does not count.
    bool done(IndexRange task, Schedule::Duration busy) {
        const Work work{.range = task};
        const bool counts = !stop_reason_;
        busy_[0] += busy;
        if (counts)
            schedule_.completed(0, {&work, 1}, busy, seconds());
        else
            schedule_.returned(0, work, true);
        settle();
        return counts;
    }
    /// The device or ranks below have some of the job.
    [[nodiscard]] bool has_grants() const { return schedule_.has_tasks(); }

private:
    class Anywhere final : public Division {
    public:
        [[nodiscard]] std::uint64_t split(IndexRange left, std::uint64_t wanted) const override {
            return std::clamp<std::uint64_t>(wanted, 1, left.size());
        }
    };

    static std::vector<Schedule::Participant> participants(const cluster::Neighbours& neighbours,
                                                           const std::vector<int>& sizes) {
        std::vector<Schedule::Participant> all(1);
        for (const int rank : neighbours.below) {
            const int size = sizes[static_cast<std::size_t>(rank)];
            all.push_back({.estimate = {.peak = static_cast<double>(size), .units_per_second = {}},
                           .full = static_cast<std::uint64_t>(size),
                           .is_group = true,
                           .takes_units = false});
        }
        return all;
    }
    [[nodiscard]] std::size_t participant_of(int rank) const {
        return 1 + static_cast<std::size_t>(std::ranges::find(below_, rank) - below_.begin());
    }
    [[nodiscard]] std::optional<IndexRange> next_of(std::size_t participant) {
        if (!is_running()) return std::nullopt;
        const auto work = schedule_.next(participant, seconds());
        return work ? std::optional(work->range) : std::nullopt;
    }
    [[nodiscard]] bool is_running() const { return has_started_ && !stop_reason_; }
    [[nodiscard]] double seconds() const { return std::chrono::duration<double>(now_() - began_).count(); }
    void settle() {
        if (has_ended_ || schedule_.has_tasks()) return;
        has_ended_ = stop_reason_ || (has_started_ && schedule_.is_done());
    }

    std::vector<int> below_;
    Now now_;
    Schedule schedule_;
    std::vector<Clock::duration> busy_ = std::vector<Clock::duration>(below_.size() + 1); ///< by participant
    bool has_started_ = false, has_ended_ = false;
    ErrorPtr stop_reason_;
    Clock::time_point began_;
};

} // namespace headrace::test
