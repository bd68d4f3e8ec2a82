// persistent/detail/pace.hpp - how many units a lane group processes before it looks around.
//
// On a GPU lanes run at once, and a look costs every lane a wait for memory: the number is fixed. On a host
// thread lanes take turns, so that a group with sixteen heavy units keeps fifteen of them from threads that
// have nothing to do. There the number follows what units take, by the clock: few heavy ones, many light
// ones.
#pragma once
#include <headrace/persistent/group_kernel.hpp>
#include <headrace/persistent/sync.hpp>

#include <cstdint>

namespace headrace {

/// True where lanes take turns on a host thread.
template <class Lanes>
concept LanesTakeTurns = Lanes::take_turns;

/// Fixed. Units of group kernels are heavy: others should not starve for eight of them.
template <class Sync, class Lanes>
class Pace {
public:
    explicit HEADRACE_GROUP_CODE Pace(std::uint32_t* /*kept*/) {}
    /// That run in one round.
    static constexpr HEADRACE_GROUP_CODE std::uint32_t lanes() { return Lanes::size; }
    /// Until the next look.
    static constexpr HEADRACE_GROUP_CODE std::uint32_t rounds() { return is_wide<Lanes> ? 1 : 8; }
    /// Lanes keep each other waiting.
    static constexpr HEADRACE_GROUP_CODE bool is_slow() { return false; }
    HEADRACE_GROUP_CODE void note_round() const {}
    /// The group looks around, and has completed so many units.
    HEADRACE_GROUP_CODE void note_look(std::uint64_t) const {}
    /// The group has waited: that time says nothing about its units.
    HEADRACE_GROUP_CODE void note_wait() const {}
    /// Rounds of all lanes, of so many rounds.
    static constexpr HEADRACE_GROUP_CODE std::uint64_t whole_rounds(std::uint32_t rounds) { return rounds; }
};

/// By the clock: between two looks a group works for about ten microseconds. It begins with one unit, and
/// doubles the number as long as that takes less. `kept`: the number that the group's last launch of this
/// kernel had come to, or 0; launches may be shorter than a look.
template <class Sync, LanesTakeTurns Lanes>
class Pace<Sync, Lanes> {
public:
    explicit Pace(std::uint32_t* kept) : kept_(kept), units_(kept && *kept != 0 ? *kept : 1) {}

    [[nodiscard]] std::uint32_t lanes() const { return units_ < Lanes::size ? units_ : Lanes::size; }
    [[nodiscard]] std::uint32_t rounds() const { return (units_ + Lanes::size - 1) / Lanes::size; }
    [[nodiscard]] bool is_slow() const { return units_ < Lanes::size; }

    void note_round() { turns_ += lanes(); }
    void note_look(std::uint64_t completed) {
        const std::uint64_t now = Sync::nanoseconds(), took = now - last_look_, ran = completed - completed_;
        last_look_ = now;
        completed_ = completed;
        // Fewer than there might have been say nothing of what so many take.
        if (took < little && ran >= units_ && units_ < most_units)
            units_ *= 2;
        else if (took > much)
            units_ = shortened(ran, took);
        if (kept_) *kept_ = units_;
    }
    void note_wait() { last_look_ = Sync::nanoseconds(); }
    [[nodiscard]] std::uint64_t whole_rounds(std::uint32_t) const {
        return (turns_ + Lanes::size - 1) / Lanes::size;
    }

private:
    static constexpr std::uint32_t most_units = 8 * Lanes::size;
    static constexpr std::uint64_t little = 8'000, much = 32'000; // nanoseconds

    /// At once: each look too late may cost others that time again.
    [[nodiscard]] static std::uint32_t shortened(std::uint64_t ran, std::uint64_t took) {
        const std::uint64_t units = ran * little / took;
        return units == 0 ? 1 : static_cast<std::uint32_t>(units);
    }

    std::uint32_t* kept_; ///< may be null
    std::uint32_t units_;
    std::uint64_t turns_ = 0;     ///< of lanes, that there might have been in all rounds
    std::uint64_t completed_ = 0; ///< units, at the last look
    std::uint64_t last_look_ = Sync::nanoseconds();
};

} // namespace headrace
