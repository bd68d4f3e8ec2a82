// persistent/detail/group.hpp - what the groups of producers and
// consumers share: seeds, the budget, pauses, the pending count.
#pragma once
#include <headrace/persistent/detail/injection_poller.hpp>
#include <headrace/persistent/detail/pace.hpp>
#include <headrace/persistent/detail/ring.hpp>
#include <headrace/persistent/group_kernel.hpp>
#include <headrace/persistent/units.hpp>

namespace headrace {

/// A group's counters, in its local memory because a kernel needs the registers. Only its leader uses them.
struct GroupCounters {
    std::uint64_t units; ///< completed
    std::uint64_t net;   ///< spawned less completed, modulo 2^64
    std::uint64_t told;  ///< that much of `net` is in `pending`: docs/engine.md's delta is net - told
    std::uint32_t pushed, popped, shared, no_bundle, slot_busy, narrow_rounds, switches, saved, restored,
        idle, seed_claims;
    std::uint32_t segments; ///< of the injection, that the group has seen
    std::uint64_t known;    ///< seeds accepted before the group got its last seeds, or fewer
};
static_assert(sizeof(GroupCounters) == 80 && sizeof(GroupCounters) % 16 == 0);

/// Words of local (shared) memory that a group needs: its counters, its kernel's scratch, then its LIQ. A
/// multiple of 16 bytes, so that the next group's scratch is aligned as well.
constexpr std::uint32_t group_local_words(std::uint32_t kinds, std::uint32_t unit_words,
                                          std::uint32_t liq_units, std::uint32_t scratch) {
    constexpr std::uint32_t counters = sizeof(GroupCounters) / 4;
    return (counters + scratch + kinds * unit_words * liq_units + 3) / 4 * 4;
}

/// The part of a lane group that does not depend on kinds. All members are uniform over the group: on a GPU
/// every lane has a copy, and all lanes call every function.
template <class Sync, class Lanes>
class Group {
protected:
    HEADRACE_GROUP_CODE Group(Lanes lanes, const EngineView& view, std::uint32_t group, std::uint32_t* local,
                              const LocalSums& sums, std::uint32_t* pace)
        : lanes_(lanes),
          view_(view),
          sums_(sums),
          control_(*view.control),
          counters_(*reinterpret_cast<GroupCounters*>(local)),
          local_(local + sizeof(GroupCounters) / 4),
          group_(group),
          seeds_{0, 0},
          pace_(pace),
          next_look_(view.control->rounds < pace_.rounds() ? view.control->rounds : pace_.rounds()) {
        lanes_.by_leader([&] { counters_ = GroupCounters{}; });
        lanes_.sync();
    }

    HEADRACE_GROUP_CODE void count(std::uint32_t GroupCounters::*counter) {
        lanes_.by_leader([&] { ++(counters_.*counter); });
    }

    /// Adds to `pending` what this group has spawned less what it has completed since the last call.
    /// `only_more`: only if that is positive.
    HEADRACE_GROUP_CODE void flush(bool only_more = false) {
        lanes_.by_leader([&] {
            const std::uint64_t delta = counters_.net - counters_.told;
            if (delta == 0 || (only_more && static_cast<std::int64_t>(delta) < 0)) return;
            // relaxed: the ring's release and acquire order units that leave the group after this. A group
            // that reads 0 reads nothing else.
            if (is_opened())
                poller().add_pending(delta, counters_.known);
            else
                Sync::fetch_add(control_.pending.value, delta, Sync::relaxed);
            counters_.told = counters_.net;
        });
    }

    /// Counts completed units, and `net`: units spawned less units completed.
    HEADRACE_GROUP_CODE void book(std::uint64_t completed, std::int64_t net) {
        lanes_.by_leader([&] {
            counters_.units += completed;
            counters_.net += static_cast<std::uint64_t>(net);
        });
    }

    HEADRACE_GROUP_CODE bool fine_grained_host_coherence() const { return view_.injection != nullptr; }
    HEADRACE_GROUP_CODE bool is_opened() const { return view_.segments != nullptr; }
    HEADRACE_GROUP_CODE InjectionPoller<Sync> poller() const { return InjectionPoller<Sync>(view_); }

    /// True on host threads: there the host's words are as near as other memory.
    static constexpr bool host_threads = std::is_same_v<typename Sync::WithHost, Sync>;
    /// For host threads without injection: each group reads the host's words itself, so not all groups write
    /// one word for that. Group 0 tells the host how far the launch is. For a leader.
    HEADRACE_GROUP_CODE std::uint32_t hear_as_all() const {
        if (!fine_grained_host_coherence()) return HR_RUN;
        if (group_ == 0) return static_cast<std::uint32_t>(poller().poll(0).why);
        const bool asked = Sync::WithHost::load(view_.injection->pause, Sync::WithHost::relaxed) != 0;
        return asked ? HR_PAUSE_HOST : HR_RUN; // relaxed: carries no data
    }

    HEADRACE_GROUP_CODE bool claim_seeds(std::uint32_t at_least) {
        if (is_opened()) {
            seeds_ = lanes_.by_leader(
                [&] { return poller().claim(at_least, most_seeds(), counters_.known, counters_.segments); });
            lanes_.sync(); // the leader has acquired; now all lanes may read what the host wrote
        } else {
            if (seeds_gone_) return false;
            seeds_ = lanes_.by_leader([&] {
                return claim_range<Sync>(control_, control_.seed_cursor.value, control_.seed_end, 1, at_least,
                                         most_seeds());
            });
            seeds_gone_ = seeds_.empty();
        }
        if (seeds_.empty()) return false;
        count(&GroupCounters::seed_claims);
        return true;
    }

    /// Most seeds of one claim. No other group gets seeds that one has claimed and not begun.
    HEADRACE_GROUP_CODE std::uint32_t most_seeds() const {
        return pace_.is_slow() ? pace_.lanes() : control_.seed_chunk;
    }

    /// Reads the host's words, unless another group is the injection poller.
    HEADRACE_GROUP_CODE void hear_host() {
        if (!fine_grained_host_coherence()) return;
        const std::uint32_t reason = lanes_.by_leader([&]() -> std::uint32_t {
            if constexpr (host_threads)
                if (!is_opened()) return hear_as_all();
            if (!poller().try_poll(false)) return HR_RUN;
            const auto why = static_cast<std::uint32_t>(poller().poll(0).why);
            poller().stop_polling();
            return why;
        });
        if (reason != HR_RUN) pause(reason);
    }

    /// Pauses longer if more groups are idle, because they all read the same few words.
    HEADRACE_GROUP_CODE void back_off(std::uint32_t polls) const {
        constexpr std::uint32_t few = 512;
        constexpr std::uint32_t at_once = 14; // after this number of polls, a group pauses longer
        const std::uint32_t crowd =
            polls < at_once ? 0 : Sync::load(control_.idle_groups, Sync::relaxed) / few; // relaxed: a hint
        for (std::uint32_t i = 0; i <= crowd; ++i) Sync::pause(polls);
    }

    /// By its own arguments, unlike ||: both have been loaded.
    HEADRACE_GROUP_CODE static bool either(bool one, bool other) { return one || other; }

    /// Polls with a growing pause. True if there may be something to take; false if there never will be, or
    /// all groups pause. All lanes call `others_left`. It takes work other than records and seeds, or says
    /// that there is some. One of the idle groups stays the injection poller, so that no working group has to
    /// be. It keeps up to `wanted` of the first new seeds. `SeedsAlone`: work comes from seeds alone, so a
    /// group that finds none does not wait for the groups that have the last ones.
    template <bool SeedsAlone = false, class F>
    HEADRACE_GROUP_CODE bool wait_until(std::uint32_t wanted, F&& others_left) {
        bool is_poller = false; // the leader's copy counts
        std::uint32_t state = poll_again;
        for (std::uint32_t polls = 0;; ++polls) {
            const Heard heard = lanes_.by_leader([&]() -> Heard {
                if constexpr (host_threads)
                    if (!is_opened()) return {{0, 0}, hear_as_all()};
                is_poller = is_poller || (fine_grained_host_coherence() && poller().try_poll(true));
                if (!is_poller) return {{0, 0}, HR_RUN};
                // A group that waits has found no records. Records come first.
                const Heard now = poller().poll(wanted);
                if (!now.kept.empty()) counters_.known = poller().taken_over();
                return now;
            });
            if (heard.why != HR_RUN) pause(static_cast<std::uint32_t>(heard.why));
            if (!heard.kept.empty()) {
                seeds_ = heard.kept;
                count(&GroupCounters::seed_claims);
                state = go_on;
                break;
            }
            state = lanes_.by_leader([&]() -> std::uint32_t {
                // No branch between the loads: none waits for the result of another. relaxed, all: `pending`
                // == 0 is enough; see docs/engine.md, "Termination is exact".
                const bool all_pause = Sync::load(control_.pause, Sync::relaxed) != HR_RUN;
                bool is_open = is_opened() && poller().is_open();
                bool nothing_pending = Sync::load(control_.pending.value, Sync::relaxed) == 0;
                bool something_left = either(records_left(), seeds_left());
                if (all_pause) return leave_paused;
                if (is_opened() && !is_open) { // the other values may be from before the end
                    is_open = !poller().has_ended();
                    nothing_pending = Sync::load(control_.pending.value, Sync::relaxed) == 0;
                    something_left = either(records_left(), seeds_left());
                }
                if (something_left) return go_on;
                if (SeedsAlone && !is_open) return leave_finished;
                if (is_open) return poll_again;
                return nothing_pending ? leave_finished : poll_again;
            });
            if (state == poll_again && others_left()) state = go_on;
            if (state != poll_again) break;
            lanes_.by_leader([&] {
                if (is_poller)
                    Sync::WithHost::pause(polls);
                else
                    back_off(polls);
            });
        }
        lanes_.by_leader([&] {
            if (is_poller) poller().stop_polling();
        });
        lanes_.sync(); // the leader may have acquired; now all lanes may read what the host wrote
        pace_.note_wait();
        paused_ = state == leave_paused;
        return state == go_on;
    }

    /// Asks all groups to pause. The first reason stays.
    HEADRACE_GROUP_CODE void pause(std::uint32_t reason) {
        lanes_.by_leader([&] {
            std::uint32_t expected = HR_RUN;
            // relaxed: it publishes nothing; the host reads it after the launch. The exchange may fail
            // spuriously, so it is repeated.
            while (!Sync::compare_exchange(control_.pause, expected, reason, Sync::relaxed) &&
                   expected == HR_RUN) {
            }
        });
        paused_ = true;
    }

    /// The first failure of any group becomes the launch's failure.
    HEADRACE_GROUP_CODE void fail(std::uint32_t status) {
        lanes_.by_leader([&] {
            std::uint32_t expected = HR_OK;
            // relaxed: the host reads it after the launch.
            while (!Sync::compare_exchange(control_.status, expected, status, Sync::relaxed) &&
                   expected == HR_OK) {
            }
        });
        pause(HR_PAUSE_FAILED);
    }

    /// Counts a round. True every few rounds, when it is time to look around.
    HEADRACE_GROUP_CODE bool end_round() {
        pace_.note_round();
        return ++rounds_ == next_look_;
    }
    HEADRACE_GROUP_CODE bool is_look_due() const { return rounds_ == next_look_; }
    /// Makes a look around due now.
    HEADRACE_GROUP_CODE void look_now() { next_look_ = rounds_; }

    /// The first call of a look around. `completed`: units that the group has completed. Asks all groups to
    /// pause if the budget is used up. `InSteps`: a unit may take longer than the time between two looks.
    template <bool InSteps = false>
    HEADRACE_GROUP_CODE void plan_next_look(std::uint64_t completed) {
        const std::uint32_t budget = control_.rounds;
        if (rounds_ == budget) pause(HR_PAUSE_BUDGET);
        pace_.template note_look<InSteps>(completed);
        next_look_ = budget - rounds_ < pace_.rounds() ? budget : rounds_ + pace_.rounds();
    }

    /// True if a look around would do nothing: no pause, no idle group, nothing to read from the host, and
    /// rounds are left. Then plans the next look.
    template <bool InSteps = false>
    HEADRACE_GROUP_CODE bool goes_on_unseen() {
        if (rounds_ == control_.rounds) return false;
        const bool quiet = lanes_.by_leader([&] {
            // relaxed, all: hints; code that acts on them looks again.
            const bool polls = may_poll();
            return !either((Sync::load(control_.pause, Sync::relaxed) |
                            Sync::load(control_.idle_groups, Sync::relaxed)) != 0,
                           polls);
        });
        if (quiet) plan_next_look<InSteps>(counters_.units);
        return quiet;
    }

    /// True if the host's words are to be read, or may be. For a leader.
    HEADRACE_GROUP_CODE bool may_poll() const {
        if constexpr (host_threads)
            if (!is_opened()) return hear_as_all() != HR_RUN;
        return InjectionPoller<Sync>::is_due(Sync::load(control_.unpolled, Sync::relaxed)); // relaxed: a hint
    }

    HEADRACE_GROUP_CODE void look_for_pause() {
        if (lanes_.by_leader([&] { return Sync::load(control_.pause, Sync::relaxed); }) != HR_RUN)
            paused_ = true; // relaxed: see pause
    }

    /// True if a group has failed, perhaps after another reason for a pause.
    HEADRACE_GROUP_CODE bool failed() const {
        return lanes_.by_leader([&] { return Sync::load(control_.status, Sync::relaxed); }) !=
               HR_OK; // relaxed: the host reads nothing that groups save after a failure
    }

    /// The next record to restore; null if there is none left.
    HEADRACE_GROUP_CODE HrRecord* claim_record() {
        if (records_gone_) return nullptr;
        const auto number = lanes_.by_leader([&]() -> std::uint64_t {
            // relaxed, both: the records were written in an earlier launch.
            if (!records_left()) return control_.spill_count;
            return Sync::fetch_add(control_.restored.value, std::uint64_t{1}, Sync::relaxed);
        });
        records_gone_ = number >= control_.spill_count;
        if (records_gone_) return nullptr;
        count(&GroupCounters::restored);
        return record(control_.spill_half, number);
    }

    /// A record to save into. There are as many as groups: docs/engine.md, "Records suffice".
    HEADRACE_GROUP_CODE HrRecord* new_record() {
        count(&GroupCounters::saved);
        const auto number = lanes_.by_leader([&] {
            // relaxed: it only claims a record. The next launch reads what is in it.
            return Sync::fetch_add(control_.saved.value, std::uint64_t{1}, Sync::relaxed);
        });
        return record(control_.spill_half ^ 1u, number);
    }

    HEADRACE_GROUP_CODE bool records_left() const { // for the leader
        // relaxed: a guess
        return Sync::load(control_.restored.value, Sync::relaxed) < control_.spill_count;
    }
    HEADRACE_GROUP_CODE bool seeds_left() const { // for the leader
        if (is_opened()) return poller().seeds_left();
        return Sync::load(control_.seed_cursor.value, Sync::relaxed) < control_.seed_end; // relaxed: a guess
    }

    /// `empty`: indices without a unit.
    HEADRACE_GROUP_CODE void add_counters(std::uint64_t empty = 0) {
        add_counters(empty, [&] { return pace_.whole_rounds(rounds_); });
    }
    /// rounds(), for the leader: rounds of all lanes, of which each completes a unit if no lane is idle.
    template <class F>
    HEADRACE_GROUP_CODE void add_counters(std::uint64_t empty, F&& rounds) {
        lanes_.by_leader([&] {
            HrCounters& sum = control_.counters;
            add(sum.units, counters_.units);
            add(sum.spawned, counters_.units + counters_.net + empty);
            add(sum.empty, empty);
            add(sum.rounds, rounds());
            add(sum.pushed, counters_.pushed);
            add(sum.popped, counters_.popped);
            add(sum.shared, counters_.shared);
            add(sum.no_bundle, counters_.no_bundle);
            add(sum.slot_busy, counters_.slot_busy);
            add(sum.narrow_rounds, counters_.narrow_rounds);
            add(sum.switches, counters_.switches);
            add(sum.saved, counters_.saved);
            add(sum.restored, counters_.restored);
            add(sum.idle, counters_.idle);
            add(sum.seed_claims, counters_.seed_claims);
        });
    }

    Lanes lanes_;
    EngineView view_;
    LocalSums sums_;
    HrControl& control_;
    GroupCounters& counters_;
    std::uint32_t* local_; ///< the memory after the counters
    std::uint32_t group_;
    SeedRange seeds_;
    bool seeds_gone_ = false;   ///< the cursor has passed the end
    bool records_gone_ = false; ///< all records are restored
    bool paused_ = false;
    std::uint32_t rounds_ = 0;
    Pace<Sync, Lanes> pace_;
    std::uint32_t next_look_; ///< number of rounds at the next look; at most the budget

private:
    static constexpr std::uint32_t go_on = 0, leave_finished = 1, leave_paused = 2, poll_again = 3;

    HEADRACE_GROUP_CODE HrRecord* record(std::uint32_t half, std::uint64_t number) const {
        const std::uint64_t words = hr_record_words(control_.kinds, control_.unit_words, Lanes::size,
                                                    control_.liq_units, control_.inbox_units);
        const std::uint64_t place = static_cast<std::uint64_t>(half) * control_.groups + number;
        return reinterpret_cast<HrRecord*>(view_.spill + hr_spill_records_at(control_.groups) +
                                           place * words);
    }
    static HEADRACE_GROUP_CODE void add(std::uint64_t& sum, std::uint64_t amount) {
        if (amount != 0) Sync::fetch_add(sum, amount, Sync::relaxed); // relaxed: read after the launch
    }
};

} // namespace headrace
