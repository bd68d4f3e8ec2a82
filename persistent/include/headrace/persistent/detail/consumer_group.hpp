// persistent/detail/consumer_group.hpp - a lane group that processes indices and spawns nothing: no queues.
#pragma once
#include <headrace/persistent/detail/batch_calls.hpp>
#include <headrace/persistent/detail/group.hpp>

namespace headrace {

template <class Sync, class Lanes, class Kernel, class Seeds>
class ConsumerGroup : Group<Sync, Lanes> {
    static_assert(
        !SeedMade<Seeds>::may_be_none,
        "a consumer is called with every index: let it return at once where there is nothing to do");
    using Base = Group<Sync, Lanes>;
    using Base::control_, Base::lanes_, Base::pace_, Base::paused_, Base::seeds_;

    using Made = std::remove_cvref_t<std::invoke_result_t<const Seeds&, std::uint64_t>>;
    static constexpr bool has_batches = takes_batches<Lanes, Kernel, ConsumingLane, Made>();

public:
    static constexpr std::uint32_t queue_lanes = Lanes::size, kinds = 0, unit_words = 0, max_spawns = 0,
                                   least_liq_units = 0, ranges = 0, scratch = kernel_scratch<Lanes, Kernel>;

    HEADRACE_GROUP_CODE ConsumerGroup(Lanes lanes, const Kernel& kernel, const Seeds& seeds,
                                      const EngineView& view, std::uint32_t group, std::uint32_t* local,
                                      const LocalSums& sums = {}, std::uint32_t* pace = nullptr)
        : Base(lanes, view, group, local, sums, pace), kernel_(kernel), expand_(seeds) {
        this->look_for_pause(); // a group that begins during a pause has nothing to do
    }

    /// Runs until nothing is left to take, or all groups pause.
    HEADRACE_GROUP_CODE void run() {
        while (!paused_) {
            if (seeds_.empty() && are_awaited_) tell_completed();
            if (seeds_.empty() && !restore() && !this->claim_seeds(pace_.lanes())) {
                if (!wait_for_seeds()) break;
                are_awaited_ = !seeds_.empty();
                continue;
            }
            round();
            if (this->end_round()) {
                this->plan_next_look(visited_);
                this->hear_host();
                this->look_for_pause();
            }
        }
        tell_completed();
        if (paused_ && !this->failed()) save();
        this->add_counters();
    }

private:
    HEADRACE_GROUP_CODE void round() {
        const std::uint64_t left = seeds_.end - seeds_.next;
        const std::uint32_t most = pace_.lanes();
        const std::uint32_t chosen = left < most ? static_cast<std::uint32_t>(left) : most;
        if constexpr (has_batches)
            if (call_in_batches(chosen)) return advance(chosen);
        lanes_.each([&](std::uint32_t lane) {
            if (lane >= chosen) return;
            ConsumingLane handle(this->sums_);
            if constexpr (is_wide<Lanes>) {
                KernelGroup group(lanes_.lanes, handle, this->local_);
                kernel_(group, expand_(seeds_.next));
            } else {
                kernel_(handle, expand_(seeds_.next + lane));
            }
        });
        lanes_.sync();
        advance(chosen);
    }

    /// So many of the first seeds are completed.
    HEADRACE_GROUP_CODE void advance(std::uint32_t chosen) {
        seeds_.next += chosen;
        completed_ += chosen;
        visited_ += chosen;
    }

    /// Calls the kernel's batch form with the first seeds. False, without a call, if there are no vectors.
    HEADRACE_GROUP_CODE bool call_in_batches(std::uint32_t chosen) {
        const std::uint32_t together = Lanes::vector_lanes();
        if (together == 0) return false;
        pace_.keep_together(together);
        BatchCall<Lanes, ConsumingLane, Made> batch;
        for (std::uint32_t lane = 0; lane < chosen; ++lane)
            batch.add(expand_(seeds_.next + lane), this->sums_);
        return batch.call(kernel_);
    }

    /// Waits for seeds. False if there will be no more, or all groups pause.
    HEADRACE_GROUP_CODE bool wait_for_seeds() {
        if (!this->is_opened()) return false;
        tell_completed();
        this->count(&GroupCounters::idle);
        return this->template wait_until<true>(pace_.lanes(), [] { return false; });
    }

    HEADRACE_GROUP_CODE void tell_completed() {
        this->book(completed_, -static_cast<std::int64_t>(completed_));
        completed_ = 0;
        are_awaited_ = false;
        this->flush();
    }

    HEADRACE_GROUP_CODE bool restore() {
        const HrRecord* record = this->claim_record();
        if (!record) return false;
        seeds_ = {record->seed_next, record->seed_end};
        return true;
    }

    HEADRACE_GROUP_CODE void save() {
        if (seeds_.empty()) return;
        HrRecord* record = this->new_record();
        lanes_.by_leader([&] {
            record->seed_next = seeds_.next;
            record->seed_end = seeds_.end;
        });
        seeds_ = {0, 0};
    }

    const Kernel& kernel_;
    const Seeds& expand_;
    std::uint64_t completed_ = 0; ///< completed, and not yet added to `pending`
    std::uint64_t visited_ = 0;   ///< completed in this launch
    bool are_awaited_ = false;    ///< the host may wait for just the seeds of this claim
};

} // namespace headrace
