// persistent/units.hpp - what group code knows about a kernel's kinds at compile time.
#pragma once
#include <headrace/persistent/local_sums.hpp>

#include <algorithm>
#include <bit>
#include <concepts>
#include <initializer_list>
#include <optional>
#include <tuple>
#include <utility>

namespace headrace {

/// A work unit as the queues move it. It is longer than the unit if kinds differ in size.
template <std::uint32_t Count>
struct UnitWords {
    std::uint32_t word[Count];
};

template <std::uint32_t Count, class Unit>
HEADRACE_HOST_DEVICE UnitWords<Count> to_words(const Unit& unit) {
    const auto exact = __builtin_bit_cast(UnitWords<sizeof(Unit) / 4>, unit);
    UnitWords<Count> words{};
    for (std::uint32_t i = 0; i < sizeof(Unit) / 4; ++i) words.word[i] = exact.word[i];
    return words;
}

template <class Unit, std::uint32_t Count>
HEADRACE_HOST_DEVICE Unit from_words(const UnitWords<Count>& words) {
    UnitWords<sizeof(Unit) / 4> exact;
    for (std::uint32_t i = 0; i < sizeof(Unit) / 4; ++i) exact.word[i] = words.word[i];
    return __builtin_bit_cast(Unit, exact);
}

/// Does the same as `to = to_words(unit)`.
template <std::uint32_t Count, class Unit>
HEADRACE_HOST_DEVICE void put_words(UnitWords<Count>& to, const Unit& unit) {
#if defined(__CUDACC__) || defined(__HIPCC__)
    to = to_words<Count>(unit);
#else
    const auto exact = __builtin_bit_cast(UnitWords<sizeof(Unit) / 4>, unit);
    for (std::uint32_t i = 0; i < sizeof(Unit) / 4; ++i) {
        std::uint32_t word = exact.word[i];
        // Copies word by word, so that the compiler does not use a vector. `exact` was just written member by
        // member, and a wider read waits until these writes have left the core. In the trees of
        // bench/recursion this wait was half of the engine's time.
        asm("" : "+r"(word));
        to.word[i] = word;
    }
    for (std::uint32_t i = sizeof(Unit) / 4; i < Count; ++i) to.word[i] = 0; // kinds may differ in size
#endif
}

/// True for a range: one unit that stands for many.
template <class Unit>
inline constexpr bool is_range = false;
template <class Payload>
inline constexpr bool is_range<Range<Payload>> = true;

/// What seeds and ranges return for an index: a unit, or an optional unit.
template <class Made>
struct MadeUnit {
    using Unit = Made;
    static constexpr bool may_be_none = false;
};
template <class Made>
struct MadeUnit<std::optional<Made>> {
    using Unit = Made;
    static constexpr bool may_be_none = true;
};
// Separate types and not aliases: if device code names such an alias, hipcc treats std::declval as a call.
template <class Seeds>
struct SeedMade : MadeUnit<std::remove_cvref_t<decltype(std::declval<const Seeds&>()(std::uint64_t{}))>> {};
template <class RangeKindType>
struct RangeMade
    : MadeUnit<std::remove_cvref_t<decltype(std::declval<const typename RangeKindType::Expand&>()(
          std::uint64_t{}, std::declval<const typename RangeKindType::Payload&>()))>> {};

/// True if some indices of a range may have no unit.
template <class K>
inline constexpr bool range_has_gaps = false;
template <class Payload, class Expand>
inline constexpr bool range_has_gaps<RangeKind<Payload, Expand>> =
    RangeMade<RangeKind<Payload, Expand>>::may_be_none;

template <class K>
inline constexpr bool is_resumable = false;
template <class Unit, unsigned MaxSpawns, class Walk>
inline constexpr bool is_resumable<ResumableKind<Unit, MaxSpawns, Walk>> = true;

/// The Walk of a resumable kind; void for other kinds.
template <class K>
struct WalkOf {
    using type = void;
};
template <class Unit, unsigned MaxSpawns, class Walk>
struct WalkOf<ResumableKind<Unit, MaxSpawns, Walk>> {
    using type = Walk;
};
/// The Result of a Walk; NoScratch if it has none.
template <class Walk>
struct ResultOf {
    using type = NoScratch;
};
template <HasResult Walk>
struct ResultOf<Walk> {
    using type = typename Walk::Result;
};

template <class>
struct KindTraits;

template <class... K>
struct KindTraits<Kinds<K...>> {
    static constexpr std::uint32_t count = sizeof...(K);
    static_assert(count >= 1 && count <= 8, "an engine has room for 8 kinds");

    /// A set of kinds has one bit per kind. This is the set of all kinds.
    static constexpr std::uint32_t all = (1u << count) - 1;
    static constexpr bool is_in(std::uint32_t kind, std::uint32_t set) { return (set >> kind & 1) != 0; }

    /// A kind by its number.
    template <std::uint32_t Number>
    using KindAt = std::tuple_element_t<Number, std::tuple<K...>>;

    /// The position of a unit's type among the kinds; `count` if the type is not one of them.
    template <class Unit>
    static constexpr std::uint32_t index_of() {
        std::uint32_t index = 0;
        static_cast<void>(((std::is_same_v<Unit, typename K::Unit> ? true : (++index, false)) || ...));
        return index;
    }

    /// The kinds that are ranges. `expanded_kind` is the kind that such a range expands to.
    static constexpr std::uint32_t ranges = [] {
        std::uint32_t set = 0, bit = 1;
        ((set |= is_range<typename K::Unit> ? bit : 0, bit <<= 1), ...);
        return set;
    }();
    static constexpr bool has_ranges = ranges != 0;
    template <class RangeKindOf>
    static constexpr std::uint32_t expanded_kind() {
        using Unit = typename RangeMade<RangeKindOf>::Unit;
        static_assert(index_of<Unit>() < count,
                      "a range expands to a unit that is none of the kernel's Units");
        static_assert(!is_range<Unit>, "a range expands to units of a kind that is no range");
        return index_of<Unit>();
    }
    static constexpr bool ranges_have_gaps = (range_has_gaps<K> || ...);

    /// The kinds whose units are processed in phases: none or one.
    static constexpr std::uint32_t resumable = [] {
        std::uint32_t set = 0, bit = 1;
        ((set |= is_resumable<K> ? bit : 0, bit <<= 1), ...);
        return set;
    }();
    static constexpr bool resumes = resumable != 0;
    static_assert((resumable & (resumable - 1)) == 0,
                  "headrace: one kind of a kernel may be resumable: let two ways to walk be phases of one "
                  "kind, whose State says which of them it is");

    /// The walks of the resumable kind leave a Result: see kernel.hpp.
    static constexpr bool gathers = ((is_resumable<K> && HasResult<typename WalkOf<K>::type>) || ...);
    using Result =
        typename ResultOf<typename WalkOf<KindAt<resumes ? std::countr_zero(resumable) : 0>>::type>::type;

    static constexpr std::uint32_t unit_words =
        std::max({static_cast<std::uint32_t>(sizeof(typename K::Unit) / 4)...});
    static constexpr std::uint32_t max_spawns_of_calls =
        std::max({static_cast<std::uint32_t>(K::max_spawns)...});
    /// A range needs a slot in the LIQ, even if it comes from a seed.
    static constexpr std::uint32_t max_spawns = std::max(max_spawns_of_calls, has_ranges ? 1u : 0u);

    /// How many of `spawns` units may go to the LIQ. With one kind, the first is the lane's continuation.
    static constexpr std::uint32_t beyond_continuation(std::uint32_t spawns) {
        return count == 1 && spawns > 0 ? spawns - 1 : spawns;
    }
    static constexpr std::uint32_t staged = beyond_continuation(max_spawns_of_calls); ///< by one call

    /// Calls f(Constant<i>, kind i's Kind as a null pointer) for `kind`, which is known at run time and is in
    /// `Set`. f is compiled for the kinds of `Set` alone.
    template <std::uint32_t Set = all, class F>
    static HEADRACE_HOST_DEVICE void dispatch(std::uint32_t kind, F&& f) {
        dispatch<Set>(kind, f, std::make_integer_sequence<std::uint32_t, count>{});
    }

    /// For each range kind i, calls f(Constant<i>, Constant<the kind that it expands to>, kind i's RangeKind
    /// as a null pointer).
    template <class F>
    static HEADRACE_HOST_DEVICE void each_range(F&& f) {
        each_range(f, std::make_integer_sequence<std::uint32_t, count>{});
    }

private:
    template <class F, std::uint32_t... I>
    static HEADRACE_HOST_DEVICE void each_range(F& f, std::integer_sequence<std::uint32_t, I...>) {
        (each_range_one<I, K>(f), ...);
    }
    template <std::uint32_t I, class KindOf, class F>
    static HEADRACE_HOST_DEVICE void each_range_one(F& f) {
        if constexpr (is_in(I, ranges))
            f(Constant<I>{}, Constant<expanded_kind<KindOf>()>{}, static_cast<KindOf*>(nullptr));
    }
    template <std::uint32_t Set, class F, std::uint32_t... I>
    static HEADRACE_HOST_DEVICE void dispatch(std::uint32_t kind, F& f,
                                              std::integer_sequence<std::uint32_t, I...>) {
        (dispatch_one<Set, I, K>(kind, f), ...);
    }
    template <std::uint32_t Set, std::uint32_t I, class KindOf, class F>
    static HEADRACE_HOST_DEVICE void dispatch_one(std::uint32_t kind, F& f) {
        if constexpr (Set == 1u << I)
            f(Constant<I>{}, static_cast<KindOf*>(nullptr));
        else if constexpr (is_in(I, Set))
            if (kind == I) f(Constant<I>{}, static_cast<KindOf*>(nullptr));
    }
};

/// What a lane holds while its group runs: its unit and the units that the kernel has spawned. It has slots
/// for `Staged` units beyond the continuation.
template <class Traits, std::uint32_t Staged>
struct LaneState {
    static constexpr std::uint32_t places = Staged == 0 ? 1 : Staged; // arrays must not be empty
    using Words = UnitWords<Traits::unit_words>;

    Words unit;                  ///< the unit to run, or the continuation
    bool continues;              ///< `unit` is a continuation
    bool too_many;               ///< the kernel spawned more units than the kind declares
    std::uint32_t staged;        ///< number of units spawned beyond the continuation
    std::uint32_t kinds[places]; ///< of the staged units
    Words units[places];
};

/// Matches any braced list, also a nested one, that is passed instead of a unit or of a range's payload.
struct BracedUnit {
    template <class T>
    HEADRACE_HOST_DEVICE BracedUnit(const T&) {}
    HEADRACE_HOST_DEVICE BracedUnit(std::initializer_list<BracedUnit>) {}
};

/// The handle of a kernel that spawns, while it processes a unit of kind number `Running`: a lane or a group.
template <class Traits, std::uint32_t Running, std::uint32_t MaxSpawns, class State>
class Spawning {
public:
    HEADRACE_HOST_DEVICE Spawning(State& state, const LocalSums& sums) : state_(state), sums_(sums) {}

    /// Adds to a local sum of the kernel (kernel.hpp). Each lane adds its own amount.
    template <class Amount, class Find>
    HEADRACE_HOST_DEVICE void add(LocalSum sum, Amount amount, Find&& find) {
        sums_.add(sum, amount, find);
    }

    /// Catches `spawn({...})`, for which a compiler would only say that no function matches.
    template <class Never = void>
    HEADRACE_HOST_DEVICE void spawn(std::initializer_list<BracedUnit>) {
        static_assert(!std::is_void_v<Never>,
                      "headrace: spawn needs the type of the unit before its braces: lane.spawn(Unit{...})");
    }
    template <class Never = void>
    HEADRACE_HOST_DEVICE void spawn_range(std::uint64_t, std::uint64_t, std::initializer_list<BracedUnit>) {
        static_assert(!std::is_void_v<Never>,
                      "headrace: spawn_range needs the type of the payload before its "
                      "braces: lane.spawn_range(begin, end, Payload{...})");
    }

protected:
    /// Makes the unit the continuation, or passes it to keep(kind, unit).
    template <class Unit, class Keep>
    HEADRACE_HOST_DEVICE void spawn_to(const Unit& unit, Keep&& keep) {
        constexpr std::uint32_t kind = Traits::template index_of<Unit>();
        static_assert(kind < Traits::count, "spawn: this type is none of the kernel's Units");
        static_assert(MaxSpawns > 0, "spawn: this kind declares that it spawns nothing");
        if constexpr (is_range<Unit>)
            if (unit.begin >= unit.end) return; // queues hold no empty ranges
        if (kind == Running && !state_.continues) {
            put_words(state_.unit, unit);
            state_.continues = true;
            return;
        }
        const std::uint32_t others = state_.staged + (state_.continues ? 1 : 0);
        if (others >= MaxSpawns) {
            state_.too_many = true; // the group reports it
            return;
        }
        keep(kind, unit);
        ++state_.staged;
    }

    State& state_;

private:
    const LocalSums& sums_;
};

/// The handle of a lane, for kernels that spawn.
///
/// A lane may call `spawn` under divergence, so it only stages. The group collects when all lanes are back.
template <class Traits, std::uint32_t Running, std::uint32_t MaxSpawns, class State>
class SpawningLane : public Spawning<Traits, Running, MaxSpawns, State> {
    using Base = Spawning<Traits, Running, MaxSpawns, State>;
    using Base::state_;

public:
    using Base::Base, Base::spawn, Base::spawn_range;

    template <class Unit>
    HEADRACE_HOST_DEVICE void spawn(const Unit& unit) {
        this->spawn_to(unit, [&](std::uint32_t kind, const Unit& staged) {
            // An index that is known at compile time keeps the staged units in registers.
            for (std::uint32_t place = 0; place < State::places; ++place)
                if (place == state_.staged) {
                    put_words(state_.units[place], staged);
                    state_.kinds[place] = kind;
                }
        });
    }

    /// Spawns the units of the indices [begin, end), as one unit of the RangeKind with that payload type.
    template <class Payload>
    HEADRACE_HOST_DEVICE void spawn_range(std::uint64_t begin, std::uint64_t end, const Payload& payload) {
        spawn(Range<Payload>{begin, end, payload});
    }
};

/// The handle of a group, for group kernels that spawn. All lanes call with the same unit, so nothing is
/// staged. keep(kind, words) puts the unit into the LIQ. idle() says whether other groups are idle.
template <class Traits, std::uint32_t Running, std::uint32_t MaxSpawns, class Keep, class Idle>
class SpawningGroup : public Spawning<Traits, Running, MaxSpawns, LaneState<Traits, 0>> {
    using Base = Spawning<Traits, Running, MaxSpawns, LaneState<Traits, 0>>;

public:
    HEADRACE_HOST_DEVICE SpawningGroup(LaneState<Traits, 0>& state, const LocalSums& sums, const Keep& keep,
                                       const Idle& idle)
        : Base(state, sums), keep_(keep), idle_(idle) {}
    using Base::spawn, Base::spawn_range;

    template <class Unit>
    HEADRACE_HOST_DEVICE void spawn(const Unit& unit) {
        this->spawn_to(unit, [&](std::uint32_t kind, const Unit& kept) {
            keep_(kind, to_words<Traits::unit_words>(kept));
        });
    }

    /// Spawns the units of the indices [begin, end), as one unit of the RangeKind with that payload type.
    template <class Payload>
    HEADRACE_HOST_DEVICE void spawn_range(std::uint64_t begin, std::uint64_t end, const Payload& payload) {
        spawn(Range<Payload>{begin, end, payload});
    }

    /// A hint: other groups are idle, or all groups pause. A unit that can be split should then split.
    HEADRACE_HOST_DEVICE bool others_are_idle() const { return idle_(); }

private:
    const Keep& keep_;
    const Idle& idle_;
};

/// A percentage of a lane group, in lanes: at least one.
constexpr std::uint32_t enough_lanes(std::uint32_t lanes, std::uint32_t percent) {
    return std::clamp((lanes * percent + 99) / 100, std::uint32_t{1}, lanes);
}

/// A group of `lanes` refills if fewer lanes than this are active.
/// A wish decides, else the kernel (kernel.hpp), else 75 percent.
template <class Kernel>
constexpr std::uint32_t enough_lanes_for(std::uint32_t lanes, std::uint32_t wished_percent = 0) {
    if (wished_percent != 0) return enough_lanes(lanes, wished_percent);
    if constexpr (requires { Kernel::refill_percent; }) return enough_lanes(lanes, Kernel::refill_percent);
    return enough_lanes(lanes, 75);
}

/// The handle of a lane in begin, step, end and resolve of a resumable kind. Its functions say what such code
/// must not do.
class WalkingLane {
public:
    template <class Unit>
    HEADRACE_HOST_DEVICE void spawn(const Unit&) {
        static_assert(sizeof(Unit) == 0, "headrace: begin and step of a resumable kind are repeated after a "
                                         "pause, so they spawn nothing: finish does");
    }
    template <class Payload>
    HEADRACE_HOST_DEVICE void spawn_range(std::uint64_t, std::uint64_t, const Payload& payload) {
        spawn(payload);
    }
    template <class Amount, class Find>
    HEADRACE_HOST_DEVICE void add(LocalSum, Amount, Find&&) {
        static_assert(sizeof(Amount) == 0, "headrace: begin and step of a resumable kind are repeated after "
                                           "a pause, so they add to no sum: finish does");
    }
};

/// The Scratch of a resumable kind.
template <class Walk>
struct ScratchOf {
    using type = NoScratch;
};
template <class Walk>
requires requires { typename Walk::Scratch; }
struct ScratchOf<Walk> {
    using type = typename Walk::Scratch;
};

/// True if the step of a phase takes the scratch as its last argument. Any step may leave it out.
template <class Kernel, class KindOf, std::uint32_t PhaseNumber>
concept StepsWithScratch = requires(const Kernel& kernel, WalkingLane& lane, typename KindOf::State& state,
                                    typename ScratchOf<typename KindOf::Walk>::type& scratch) {
    { kernel.step(Constant<PhaseNumber>{}, lane, state, scratch) } -> std::same_as<Phase>;
};
template <class Kernel, class KindOf, std::uint32_t PhaseNumber>
concept StepsAlone = requires(const Kernel& kernel, WalkingLane& lane, typename KindOf::State& state) {
    { kernel.step(Constant<PhaseNumber>{}, lane, state) } -> std::same_as<Phase>;
};

/// The same for the begin of a kind with a Result.
template <class Kernel, class KindOf>
concept BeginsWithScratch = requires(const Kernel& kernel, WalkingLane& lane,
                                     const typename KindOf::Unit& unit,
                                     typename ScratchOf<typename KindOf::Walk>::type& scratch) {
    { kernel.begin(lane, unit, scratch) } -> std::same_as<typename KindOf::State>;
};

/// True if the kernel has what units need whose walk ends with Phase::unresolved.
template <class Kernel, class KindOf>
concept ResolvesUnits = requires(const Kernel& kernel, WalkingLane& lane,
                                 typename ResultOf<typename KindOf::Walk>::type& result,
                                 const typename KindOf::Unit& unit) {
    kernel.resolve(lane, result, unit);
};

/// True if finish takes the unit as its third argument.
template <class Kernel, class Lane, class KindOf>
concept FinishesWithUnit = requires(const Kernel& kernel, Lane& lane, typename KindOf::State& state,
                                    const typename KindOf::Unit& unit) {
    kernel.finish(lane, state, unit);
};

/// True if the kernel gets a unit back from its State.
template <class Kernel, class KindOf>
concept RebuildsUnits = requires(const Kernel& kernel, const typename KindOf::State& state) {
    { kernel.unit(state) } -> std::same_as<typename KindOf::Unit>;
};

/// A percentage of a lane group that the kernel names, or 100: `gather_percent`.
template <class Kernel>
constexpr unsigned gather_percent_of() {
    if constexpr (requires { Kernel::gather_percent; })
        return Kernel::gather_percent;
    else
        return 100;
}

/// The same for units that wait to be resolved: `resolve_percent`, or 25.
template <class Kernel>
constexpr unsigned resolve_percent_of() {
    if constexpr (requires { Kernel::resolve_percent; })
        return Kernel::resolve_percent;
    else
        return 25;
}

/// Most steps that a group does before a pause, if it has finished a unit: `drain_steps`.
template <class Kernel>
constexpr std::uint32_t drain_steps_of() {
    if constexpr (requires { Kernel::drain_steps; })
        return Kernel::drain_steps;
    else
        return 128;
}

/// The handle of a consumer kernel's lane.
class ConsumingLane {
public:
    HEADRACE_HOST_DEVICE explicit ConsumingLane(const LocalSums& sums) : sums_(sums) {}

    /// Adds to a local sum of the kernel: see kernel.hpp.
    template <class Amount, class Find>
    HEADRACE_HOST_DEVICE void add(LocalSum sum, Amount amount, Find&& find) {
        sums_.add(sum, amount, find);
    }

private:
    const LocalSums& sums_;
};

} // namespace headrace
