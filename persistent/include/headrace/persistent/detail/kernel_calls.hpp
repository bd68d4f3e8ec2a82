// persistent/detail/kernel_calls.hpp - which lanes of a producer's group run in a round, the calls of the
// kernel, and what becomes of the units that they spawn.
#pragma once
#include <headrace/persistent/detail/batch_calls.hpp>
#include <headrace/persistent/detail/group_bundles.hpp>

namespace headrace {

/// Calls the kernel with the lanes' units. Spawned units stay in their lanes or go to the LIQ.
template <class Sync, class Lanes, class Kernel>
class KernelCalls : protected GroupBundles<Sync, Lanes, Kernel> {
    using Base = GroupBundles<Sync, Lanes, Kernel>;

protected:
    using Base::active_, Base::append, Base::control_, Base::lanes_, Base::liq_, Base::pace_,
        Base::push_oldest, Base::running_, Base::state_;
    using Base::called, Base::has_kinds, Base::has_ranges, Base::kinds, Base::lane_count, Base::lane_kinds,
        Base::least, Base::ranges, Base::staged;
    using typename Base::Mask, typename Base::Push, typename Base::State, typename Base::Traits,
        typename Base::Words;

    HEADRACE_GROUP_CODE KernelCalls(Lanes lanes, const Kernel& kernel, const EngineView& view,
                                    std::uint32_t group, std::uint32_t* local, const LocalSums& sums,
                                    std::uint32_t* pace)
        : Base(lanes, view, group, local, sums, pace), kernel_(kernel) {}

    /// The active lanes that may run: their spawns fit into the LIQ in any case. Pushes units to make room.
    HEADRACE_GROUP_CODE Mask lanes_with_room() {
        if constexpr (staged == 0) {
            return active_;
        } else {
            std::uint32_t each_may_spawn = 0;
            Traits::template dispatch<lane_kinds>(running_, [&](auto, auto* kind) {
                each_may_spawn =
                    Traits::beyond_continuation(std::remove_pointer_t<decltype(kind)>::max_spawns);
            });
            return lanes_with_room(active_, each_may_spawn);
        }
    }

    /// The same of `lanes`, each of which may spawn so many units.
    HEADRACE_GROUP_CODE Mask lanes_with_room(Mask lanes, std::uint32_t each_may_spawn) {
        if (each_may_spawn == 0) return lanes;
        const std::uint32_t wanted = Lanes::count(lanes), may_run = units_with_room(wanted, each_may_spawn);
        if (may_run == wanted) return lanes;
        return lanes_.ballot([&](std::uint32_t lane) {
            return Lanes::has(lanes, lane) && lanes_.count_below(lanes, lane) < may_run;
        });
    }

    /// How many of `wanted` units may run. `each_may_spawn` is not 0. Pushes units to make
    /// room. `InLiq`: the units are still in the LIQ, and of `kind`. Each will leave its own place free, so
    /// units of `kind` are pushed only if none may run.
    template <bool InLiq = false>
    HEADRACE_GROUP_CODE std::uint32_t units_with_room(std::uint32_t wanted, std::uint32_t each_may_spawn,
                                                      std::uint32_t kind = 0) {
        std::uint32_t may_run = wanted;
        Push last = Push::done;
        HEADRACE_UNROLL
        for (std::uint32_t other = 0; other < kinds; ++other) {
            if (InLiq && other == kind) {
                if (each_may_spawn > 1) may_run = least(may_run, liq_.room(kind) / (each_may_spawn - 1));
                continue;
            }
            while (liq_.room(other) < each_may_spawn * wanted && liq_.size(other) > 0) {
                last = push_oldest(other, lane_count);
                if (last != Push::done) break;
            }
            may_run = least(may_run, liq_.room(other) / each_may_spawn);
        }
        if (may_run == wanted) return wanted;
        this->count(&GroupCounters::narrow_rounds);
        if (InLiq && may_run == 0 && last == Push::done) last = push_oldest(kind, lane_count);
        if (may_run == 0 && last == Push::no_bundle) this->pause(HR_PAUSE_POOL);
        return may_run;
    }

    /// True if the LIQ has room for `units` more units of each kind.
    HEADRACE_GROUP_CODE bool has_room_for(std::uint32_t units) const {
        bool has_room = true;
        HEADRACE_UNROLL
        for (std::uint32_t kind = 0; kind < kinds; ++kind) has_room = has_room && liq_.room(kind) >= units;
        return has_room;
    }

    /// Those of `lanes` that run in one round, where so many other lanes are at work.
    HEADRACE_GROUP_CODE Mask narrowed(Mask lanes, std::uint32_t others = 0) const {
        if constexpr (LanesTakeTurns<Lanes>)
            while (lanes != 0 && Lanes::count(lanes) + others > pace_.lanes())
                lanes ^= Mask{1} << (std::bit_width(lanes) - 1);
        return lanes;
    }

    /// Calls the kernel with the units of the chosen lanes.
    HEADRACE_GROUP_CODE void call_kernel(Mask chosen) {
        Traits::template dispatch<called>(running_, [&](auto running, auto* kind_tag) {
            using KindOf = std::remove_pointer_t<decltype(kind_tag)>;
            if (call_in_batches<decltype(running)::value, KindOf>(chosen)) return;
            lanes_.each([&](std::uint32_t lane) {
                State& state = state_[lane];
                state.continues = false;
                state.staged = 0;
                if (!Lanes::has(chosen, lane)) return;
                if constexpr (is_wide<Lanes>) {
                    call_group<decltype(running)::value, KindOf>(state);
                } else {
                    SpawningLane<Traits, decltype(running)::value, KindOf::max_spawns, State> handle(
                        state, this->sums_);
                    kernel_(handle, from_words<typename KindOf::Unit>(state.unit));
                }
            });
        });
        lanes_.sync(); // the lanes may have diverged in the functor
    }

    /// Keeps continuations in their lanes, and moves the other spawned units to the LIQ.
    HEADRACE_GROUP_CODE void collect(Mask chosen) {
        const Mask next = lanes_.ballot([&](std::uint32_t lane) { return state_[lane].continues; });
        if constexpr (staged > 0 && !is_wide<Lanes>) {
            HEADRACE_UNROLL
            for (std::uint32_t place = 0; place < staged; ++place) {
                const Mask have =
                    lanes_.ballot([&](std::uint32_t lane) { return state_[lane].staged > place; });
                // Usually some lane has a first one. But with ranges, many units spawn nothing.
                if ((place > 0 || has_ranges) && have == 0) break;
                HEADRACE_UNROLL
                for (std::uint32_t kind = 0; kind < kinds; ++kind) {
                    Mask mine = have;
                    if constexpr (has_kinds)
                        mine = lanes_.ballot([&](std::uint32_t lane) {
                            return Lanes::has(have, lane) && staged_kind(lane, place) == kind;
                        });
                    append_spawned(kind, mine, [&](std::uint32_t lane) { return staged_unit(lane, place); });
                }
            }
            lanes_.sync(); // any lane that takes the LIQ's new units sees them
        }
        active_ = static_cast<Mask>((active_ & ~chosen) | next);
    }

    /// The units of the chosen lanes are completed, and what they spawned is held. `before`: units held then.
    HEADRACE_GROUP_CODE void note_completed(Mask chosen, std::uint32_t before) {
        const std::uint32_t more = this->units_held() - before; // modulo 2^32: may be negative
        this->book(Lanes::count(chosen), static_cast<std::int32_t>(more));
        if (lanes_.ballot(
                [&](std::uint32_t lane) { return Lanes::has(chosen, lane) && state_[lane].too_many; }) != 0)
            this->fail(HR_SPAWNED_TOO_MANY);
    }

    /// Like `append`, for new units. Also counts them; a range counts as many units as it has indices.
    template <class F>
    HEADRACE_GROUP_CODE void append_spawned(std::uint32_t kind, Mask mine, F&& unit) {
        append(kind, mine, unit);
        if constexpr (has_ranges) {
            if (!Traits::is_in(kind, ranges) || mine == 0) return;
            const auto indices = [&](std::uint32_t lane) -> std::uint64_t {
                if (!Lanes::has(mine, lane)) return 0;
                const Words range = unit(lane);
                const auto word = [&](std::uint32_t w) { return std::uint64_t{range.word[w]}; };
                return (word(3) << 32 | word(2)) - (word(1) << 32 | word(0)); // end and begin
            };
            std::uint64_t sum = 0;
            if constexpr (is_wide<Lanes>)
                sum = indices(0);
            else
                sum = lanes_.sum(indices);
            this->book(0, static_cast<std::int64_t>(sum));
        }
    }

    const Kernel& kernel_;

private:
    /// Calls the kernel's batch form with the units of the chosen lanes, if it has one that this device can
    /// run.
    template <std::uint32_t Running, class KindOf>
    HEADRACE_GROUP_CODE bool call_in_batches(Mask chosen) {
        using Handle = SpawningLane<Traits, Running, KindOf::max_spawns, State>;
        if constexpr (takes_batches<Lanes, Kernel, Handle, typename KindOf::Unit>()) {
            const std::uint32_t together = Lanes::vector_lanes();
            if (together == 0) return false;
            pace_.keep_together(together);
            BatchCall<Lanes, Handle, typename KindOf::Unit> batch;
            lanes_.each([&](std::uint32_t lane) {
                state_[lane].continues = false;
                state_[lane].staged = 0;
                if (Lanes::has(chosen, lane))
                    batch.add(from_words<typename KindOf::Unit>(state_[lane].unit), state_[lane],
                              this->sums_);
            });
            return batch.call(kernel_);
        } else {
            return false;
        }
    }

    template <std::uint32_t Running, class KindOf>
    HEADRACE_GROUP_CODE void call_group(State& state) {
        const auto keep = [&](std::uint32_t kind, const Words& unit) {
            append_spawned(kind, Lanes::all, [&](std::uint32_t) { return unit; });
        };
        const auto idle = [&] {
            // relaxed, both: hints. A pause waits for this unit too, even if no group counts as idle.
            return lanes_.by_leader([&] {
                return Sync::load(control_.idle_groups, Sync::relaxed) |
                       Sync::load(control_.pause, Sync::relaxed);
            }) != 0;
        };
        lanes_.sync(); // all lanes have read the unit, which the first spawned unit overwrites
        SpawningGroup<Traits, Running, KindOf::max_spawns, decltype(keep), decltype(idle)> spawner(
            state, this->sums_, keep, idle);
        KernelGroup handle(lanes_.lanes, spawner, this->local_);
        kernel_(handle, from_words<typename KindOf::Unit>(state.unit));
    }

    // An index that is known at compile time keeps the staged units in registers.
    HEADRACE_GROUP_CODE Words staged_unit(std::uint32_t lane, std::uint32_t place) {
        Words words = state_[lane].units[0];
        HEADRACE_UNROLL
        for (std::uint32_t i = 1; i < staged; ++i)
            if (i == place) words = state_[lane].units[i];
        return words;
    }
    HEADRACE_GROUP_CODE std::uint32_t staged_kind(std::uint32_t lane, std::uint32_t place) {
        std::uint32_t kind = state_[lane].kinds[0];
        HEADRACE_UNROLL
        for (std::uint32_t i = 1; i < staged; ++i)
            if (i == place) kind = state_[lane].kinds[i];
        return kind;
    }
};

} // namespace headrace
