// tests/domains/cluster/made_up_work.hpp - a rank's part of a shared job, without a runtime: one device, and
// the ranks below.
#pragma once
#include <headrace/core/error.hpp>
#include <headrace/core/policy.hpp>
#include <headrace/internal/core/schedule.hpp>
#include <headrace/internal/domains/cluster/job_share.hpp>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <deque>
#include <functional>
#include <map>
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

/// A work unit that may spawn others.
struct MadeUpUnit {
    std::uint64_t key;
    std::uint64_t depth;
};

/// The units that spring from a seed: an unbalanced tree, the same at each call.
struct MadeUpTree {
    unsigned of_root = 0; ///< children of a seed; 0: no unit spawns any
    double odds = 0.48;   ///< of two children, for all others
    std::uint64_t most_depth = 60;

    [[nodiscard]] static MadeUpUnit root(std::uint64_t seed) { return {mixed(seed + 1), 0}; }
    /// Calls f(unit) for each child.
    template <class F>
    void spawn(const MadeUpUnit& unit, const F& f) const {
        const bool has_two =
            unit.depth < most_depth && static_cast<double>(mixed(unit.key) >> 11) < odds * 9007199254740992.0;
        const unsigned children = unit.depth == 0 ? of_root : has_two ? 2 : 0;
        for (unsigned child = 0; child < children; ++child)
            f(MadeUpUnit{mixed(unit.key + 3 * child + 1), unit.depth + 1});
    }

private:
    static std::uint64_t mixed(std::uint64_t x) { // splitmix64
        x += 0x9e3779b97f4a7c15;
        x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9;
        x = (x ^ x >> 27) * 0x94d049bb133111eb;
        return x ^ x >> 31;
    }
};

/// Calls the schedule as JobExecution does. The device is participant 0, and its owner lets it work.
///
/// Threads   one at a time
class MadeUpWork final : public cluster::LocalWork {
public:
    using Now = std::function<Clock::time_point()>;

    /// `sizes`: of all subtrees, as estimates of the speeds of ranks below.
    MadeUpWork(const cluster::Neighbours& neighbours, const std::vector<int>& sizes, std::uint64_t work_units,
               Now now, MadeUpTree tree = {})
        : below_(neighbours.below),
          now_(std::move(now)),
          tree_(tree),
          schedule_({.work_units = work_units,
                     .shares_units = spawns(),
                     .is_open = neighbours.rank != 0,
                     .has_above = neighbours.rank != 0},
                    participants(neighbours, sizes), make_policy("adaptive"), std::make_shared<Anywhere>()) {}

    void start() {
        has_started_ = true;
        began_ = now_();
        settle();
    }

    [[nodiscard]] Supply supply() const override {
        return {.is_running = is_running(),
                .has_ended = has_ended_,
                .open = schedule_.state().open.units(),
                .completed = schedule_.state().accounts.completed_units(),
                .is_quiet = schedule_.state().is_quiet(),
                .takes_units = spawns(),
                .wanting_units = is_running() ? schedule_.state().wanting_units(seconds()) : 0,
                .has_no_donor = schedule_.state().has_no_donor(),
                .busy = *std::ranges::max_element(busy_),
                .units_per_second = schedule_.state().units_per_second(),
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
    [[nodiscard]] std::optional<WorkRange> next(int rank, bool lacks_units) override {
        auto work = next_of(participant_of(rank), lacks_units);
        if (work && work->units) transferred_.erase(work->range.begin);
        return work;
    }
    void note_speed(int rank, double units_per_second) override {
        schedule_.note_speed(participant_of(rank), units_per_second);
    }
    void note_takes_units(int rank) override { schedule_.note_takes_units(participant_of(rank)); }
    void receive(std::optional<int> rank, UnitBatch units) override {
        if (!is_running()) return;
        const auto from = rank ? std::optional(participant_of(*rank)) : std::nullopt;
        const auto batches = schedule_.receive_units(from, units.size(), units.bytes(), seconds());
        add(batches, std::move(units));
    }
    void note_above(bool wants) override { schedule_.note_above(wants); }
    [[nodiscard]] std::shared_ptr<const UnitBatch> next_for_above() override {
        const auto work = schedule_.take_for_above();
        return work ? std::move(transferred_.extract(work->range.begin).mapped()) : nullptr;
    }
    void completed(int rank, const std::vector<WorkRange>& done, std::optional<Part> next,
                   Clock::time_point begin, Clock::time_point end) override {
        std::vector<Work> works;
        for (const WorkRange& work : done) works.push_back(work_of(work));
        std::optional<Schedule::Progressed> part;
        if (next) part = {{.range = next->grant}, next->units};
        busy_[participant_of(rank)] += end - begin;
        schedule_.completed(participant_of(rank), works, end - begin, seconds(), part);
        settle();
    }
    void abandoned(int rank, const WorkRange& work) override {
        if (!stop_reason_) throw Error{ErrorKind::internal, "a device could take " + work.text() + " again"};
        schedule_.returned(participant_of(rank), work_of(work), true);
        settle();
    }

    /// The device's next task.
    [[nodiscard]] std::optional<WorkRange> take() { return next_of(0, true); }

    // A device whose units spawn others works on its task in launches, and pauses after each.

    [[nodiscard]] bool spawns() const { return tree_.of_root > 0; }
    /// The device begins with the task.
    void load(const WorkRange& task) {
        if (!task.units)
            for (std::uint64_t seed = task.range.begin; seed < task.range.end; ++seed)
                pool_.push_back(MadeUpTree::root(seed));
        else
            for (std::uint64_t number = 0; number < task.units->stored(0); ++number)
                std::memcpy(&pool_.emplace_back(), task.units->unit(0, number), sizeof(MadeUpUnit));
    }
    /// Units that it has.
    [[nodiscard]] std::uint64_t left() const { return pool_.size(); }
    /// It works on the newest of them; `f` is called for each.
    template <class F>
    void run(std::uint64_t units, const F& f) {
        for (; units > 0 && !pool_.empty(); --units) {
            const MadeUpUnit unit = pool_.back();
            pool_.pop_back();
            f(unit);
            tree_.spawn(unit, [&](const MadeUpUnit& child) { pool_.push_back(child); });
        }
    }
    /// It pauses, and transfers the oldest units that others want.
    void pause() {
        if (!is_running()) return pool_.clear();
        const ScheduleState::Demand demand = schedule_.state().demand(0, 1, left(), seconds());
        const auto most = static_cast<std::uint64_t>(demand.share * static_cast<double>(left()));
        if (most == 0 || most < demand.least) return;
        UnitBatch units(1, sizeof(MadeUpUnit) / sizeof(std::uint32_t));
        for (std::uint64_t unit = 0; unit < most; ++unit) {
            std::uint32_t words[sizeof(MadeUpUnit) / sizeof(std::uint32_t)];
            std::memcpy(words, &pool_.front(), sizeof words);
            pool_.pop_front();
            units.add(0, words, 1);
        }
        const auto batches = schedule_.transfer_units(0, most, units.bytes(), seconds());
        add(batches, std::move(units));
    }

    /// The device has completed it. False: the job stops, and it does not count.
    bool done(const WorkRange& task, Schedule::Duration busy) {
        const Work work = work_of(task);
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
    [[nodiscard]] bool has_grants() const { return schedule_.state().has_tasks(); }

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
                           .devices = static_cast<unsigned>(size),
                           .takes_units = false});
        }
        return all;
    }
    static Work work_of(const WorkRange& work) {
        return {.range = work.range, .is_transferred = work.units != nullptr, .tasks = work.tasks};
    }
    void add(const std::vector<Work>& batches, UnitBatch units) {
        for (const Work& batch : batches)
            transferred_[batch.range.begin] =
                std::make_shared<const UnitBatch>(units.split(batch.range.size()));
    }
    [[nodiscard]] std::size_t participant_of(int rank) const {
        return 1 + static_cast<std::size_t>(std::ranges::find(below_, rank) - below_.begin());
    }
    [[nodiscard]] std::optional<WorkRange> next_of(std::size_t participant, bool lacks_units) {
        if (!is_running()) return std::nullopt;
        auto work = schedule_.next(participant, seconds());
        if (!work && spawns() && lacks_units) {
            work = schedule_.next_transferred(participant, seconds());
            if (!work) static_cast<void>(schedule_.idle(participant, true));
        }
        if (!work) return std::nullopt;
        WorkRange range(work->range, work->tasks);
        if (work->is_transferred) range.units = transferred_.at(work->range.begin);
        return range;
    }
    [[nodiscard]] bool is_running() const { return has_started_ && !stop_reason_; }
    [[nodiscard]] double seconds() const { return std::chrono::duration<double>(now_() - began_).count(); }
    void settle() {
        if (has_ended_ || schedule_.state().has_tasks()) return;
        has_ended_ = stop_reason_ || (has_started_ && schedule_.state().is_done());
    }

    std::vector<int> below_;
    Now now_;
    MadeUpTree tree_;
    Schedule schedule_;
    std::map<std::uint64_t, std::shared_ptr<const UnitBatch>> transferred_; ///< by the number of the first
    std::deque<MadeUpUnit> pool_;                                           ///< the device's
    std::vector<Clock::duration> busy_ = std::vector<Clock::duration>(below_.size() + 1); ///< by participant
    bool has_started_ = false, has_ended_ = false;
    ErrorPtr stop_reason_;
    Clock::time_point began_;
};

} // namespace headrace::test
