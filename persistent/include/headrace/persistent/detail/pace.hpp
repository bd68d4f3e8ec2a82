// persistent/detail/pace.hpp - how many units a lane group processes before it looks around.
//
// On a GPU all lanes run at once, and a look makes every lane wait for memory.
// So the number is fixed. On a host thread lanes take turns, so a group with
// sixteen heavy units keeps fifteen of them from idle threads. There the
// number follows the measured time of units: few heavy ones, many light ones.
#pragma once
#include <headrace/persistent/group_kernel.hpp>
#include <headrace/persistent/sync.hpp>

#include <cstdint>

namespace headrace {

/// True if lanes take turns on a host thread.
template <class Lanes>
concept LanesTakeTurns = Lanes::take_turns;

/// Fixed. Units of group kernels are heavy: idle groups should not wait for eight of them.
template <class Sync, class Lanes>
class Pace {
public:
    explicit HEADRACE_GROUP_CODE Pace(std::uint32_t* /*kept*/) {}
    /// Lanes that run in one round.
    static constexpr HEADRACE_GROUP_CODE std::uint32_t lanes() { return Lanes::size; }
    /// Rounds until the next look.
    static constexpr HEADRACE_GROUP_CODE std::uint32_t rounds() { return is_wide<Lanes> ? 1 : 8; }
    /// True if units are so heavy that a round has fewer lanes than the group.
    static constexpr HEADRACE_GROUP_CODE bool is_slow() { return false; }
    HEADRACE_GROUP_CODE void note_round() const {}
    /// The group looks around. The argument: units that it has completed in all. `InSteps`: units take many
    /// steps, and the group may look around before one is completed.
    template <bool InSteps = false>
    HEADRACE_GROUP_CODE void note_look(std::uint64_t) const {}
    /// The group has waited: that time says nothing about its units.
    HEADRACE_GROUP_CODE void note_wait() const {}
    /// So many units at least, since they take as long as one.
    HEADRACE_GROUP_CODE void keep_together(std::uint32_t) const {}
    /// Converts rounds of lanes() lanes to rounds of all lanes.
    static constexpr HEADRACE_GROUP_CODE std::uint64_t whole_rounds(std::uint32_t rounds) { return rounds; }
};

/// By the clock: between two looks a group works for about ten microseconds. It begins with one unit, and
/// doubles the number if that takes less than 8 microseconds. `kept`: the number of the group's last launch
/// of this kernel, or 0. It is kept because a launch may end before the first look.
template <class Sync, LanesTakeTurns Lanes>
class Pace<Sync, Lanes> {
public:
    explicit Pace(std::uint32_t* kept) : kept_(kept), units_(kept && *kept != 0 ? *kept : 1) {}

    [[nodiscard]] std::uint32_t lanes() const { return units_ < Lanes::size ? units_ : Lanes::size; }
    [[nodiscard]] std::uint32_t rounds() const { return (units_ + Lanes::size - 1) / Lanes::size; }
    [[nodiscard]] bool is_slow() const { return units_ < Lanes::size; }

    void note_round() { turns_ += lanes(); }
    template <bool InSteps = false>
    void note_look(std::uint64_t completed) {
        const std::uint64_t now = Sync::nanoseconds(), took = now - last_look_, ran = completed - completed_;
        if (InSteps && ran < units_ && took <= much)
            return; // the time of units is measured over several looks
        last_look_ = now;
        completed_ = completed;
        // If fewer units ran, their time says nothing about `units_` units. Looks in the middle of units come
        // when it is time for them, so there the time of `units_` units is a part of what all took.
        const bool is_short = InSteps ? took * units_ < little * ran : took < little && ran >= units_;
        if (is_short && units_ < most_units)
            units_ *= 2;
        else if (took > much && !is_short)
            units_ = shortened(ran, took);
        if (kept_) *kept_ = units_;
    }
    void note_wait() { last_look_ = Sync::nanoseconds(); }
    void keep_together(std::uint32_t units) {
        least_ = units < Lanes::size ? units : Lanes::size;
        if (units_ < least_) units_ = least_;
    }
    [[nodiscard]] std::uint64_t whole_rounds(std::uint32_t) const {
        return (turns_ + Lanes::size - 1) / Lanes::size;
    }

    static constexpr std::uint64_t little = 8'000, much = 32'000; // nanoseconds

private:
    static constexpr std::uint32_t most_units = 8 * Lanes::size;

    /// Shortens at once: each late look may cost other groups that time again.
    [[nodiscard]] std::uint32_t shortened(std::uint64_t ran, std::uint64_t took) const {
        const std::uint64_t units = ran * little / took / least_ * least_;
        return units == 0 ? least_ : static_cast<std::uint32_t>(units);
    }

    std::uint32_t* kept_; ///< may be null
    std::uint32_t units_;
    std::uint32_t least_ = 1;     ///< see keep_together
    std::uint64_t turns_ = 0;     ///< lanes that might have run in all rounds
    std::uint64_t completed_ = 0; ///< units completed at the last look
    std::uint64_t last_look_ = Sync::nanoseconds();
};

/// How many moves of a group with a resumable kind are a round: steps, and refills. On a GPU the number is
/// fixed, because a look costs as much as several steps.
template <class Sync, class Lanes>
class StepPace {
public:
    static constexpr HEADRACE_GROUP_CODE std::uint32_t moves() { return 16; }
    /// The group has looked around.
    HEADRACE_GROUP_CODE void note_look() const {}
    /// The group has waited.
    HEADRACE_GROUP_CODE void note_wait() const {}
};

/// By the clock: so many that the group looks around after 8 to 32 microseconds, also in the middle of units.
template <class Sync, LanesTakeTurns Lanes>
class StepPace<Sync, Lanes> {
public:
    [[nodiscard]] std::uint32_t moves() const { return moves_; }
    void note_look() {
        using UnitPace = Pace<Sync, Lanes>;
        const std::uint64_t now = Sync::nanoseconds(), took = now - last_look_;
        last_look_ = now;
        if (took < UnitPace::little && moves_ < most_moves) moves_ *= 2;
        if (took > UnitPace::much && moves_ > 1) moves_ /= 2;
    }
    void note_wait() { last_look_ = Sync::nanoseconds(); }

private:
    static constexpr std::uint32_t most_moves = 64;

    std::uint32_t moves_ = 4;
    std::uint64_t last_look_ = Sync::nanoseconds();
};

} // namespace headrace
