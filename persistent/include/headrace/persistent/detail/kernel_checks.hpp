// persistent/detail/kernel_checks.hpp - checks that report each mistake in a kernel in one sentence. Without
// them the compiler reports mistakes from inside the engine's templates.
#pragma once
#include <headrace/persistent/group_kernel.hpp>
#include <headrace/persistent/units.hpp>

#include <bit>
#include <concepts>
#include <cstdint>
#include <type_traits>
#include <utility>

namespace headrace {
namespace detail {

template <class T>
inline constexpr bool is_kinds = false;
template <class... K>
inline constexpr bool is_kinds<Kinds<K...>> = true;

/// The handles that the engine calls a kernel with: a lane's, or a group's.
template <class Kernel, class Lanes>
struct HandleOf {
    using type = ConsumingLane;
};
template <ConsumerProducer Kernel, class Lanes>
struct HandleOf<Kernel, Lanes> {
    using Traits = KindTraits<typename Kernel::Units>;
    using type = SpawningLane<Traits, 0, Traits::max_spawns, LaneState<Traits, Traits::staged>>;
};
template <GroupKernel Kernel, class Lanes>
struct HandleOf<Kernel, Lanes> {
    using type = KernelGroup<Lanes, ConsumingLane>;
};

struct KeepNothing {
    HEADRACE_HOST_DEVICE void operator()(std::uint32_t, const auto&) const {}
};
struct NeverIdle {
    HEADRACE_HOST_DEVICE bool operator()() const { return false; }
};
template <class Kernel, class Lanes>
requires GroupKernel<Kernel> && ConsumerProducer<Kernel>
struct HandleOf<Kernel, Lanes> {
    using Traits = KindTraits<typename Kernel::Units>;
    using type = KernelGroup<Lanes, SpawningGroup<Traits, 0, Traits::max_spawns, KeepNothing, NeverIdle>>;
};

/// True if only objects that are not const can be called.
template <class F, class... Arguments>
inline constexpr bool lacks_const =
    std::is_invocable_v<F&, Arguments...> && !std::is_invocable_v<const F&, Arguments...>;

template <class Kernel, class Handle, class... K>
consteval bool one_lacks_const(Kinds<K...>) {
    return (lacks_const<Kernel, Handle&, typename K::Unit> || ...);
}

/// What a resumable kind needs of its kernel.
template <class Kernel, class KindOf>
concept BeginsUnits = requires(const Kernel& kernel, WalkingLane& lane, const typename KindOf::Unit& unit) {
    { kernel.begin(lane, unit) } -> std::same_as<typename KindOf::State>;
};
/// The same of a kind whose walks leave a Result.
template <class Kernel, class KindOf>
concept EndsWalks = requires(const Kernel& kernel, WalkingLane& lane, typename KindOf::State& state,
                             typename ScratchOf<typename KindOf::Walk>::type& scratch,
                             typename KindOf::Walk::Result& result) {
    kernel.end(lane, state, scratch, result);
};
/// True for a resolve that changes the kernel or the unit.
template <class Kernel, class KindOf>
concept NearlyResolves = requires(Kernel& kernel, WalkingLane& lane, typename KindOf::Walk::Result& result,
                                  typename KindOf::Unit& unit) {
    kernel.resolve(lane, result, unit);
};
template <class Kernel, class KindOf, class Lane>
concept FinishesResults = requires(const Kernel& kernel, Lane& lane,
                                   const typename KindOf::Walk::Result& result,
                                   const typename KindOf::Unit& unit) {
    kernel.finish(lane, result, unit);
};
template <class Kernel, class KindOf, std::uint32_t... P>
consteval bool has_all_steps(std::integer_sequence<std::uint32_t, P...>) {
    return ((StepsWithScratch<Kernel, KindOf, P> || StepsAlone<Kernel, KindOf, P>)&&...);
}
template <class Kernel, class KindOf, class Lane>
concept FinishesUnits = FinishesWithUnit<Kernel, Lane, KindOf> ||
    requires(const Kernel& kernel, Lane& lane, typename KindOf::State& state) {
    kernel.finish(lane, state);
};

/// True if the kernel has a function `unit`, of whatever signature.
template <class Kernel, class KindOf>
concept NamesUnit = std::is_member_function_pointer_v<decltype(&Kernel::unit)> ||
    std::is_function_v<std::remove_pointer_t<decltype(&Kernel::unit)>> ||
    requires(const Kernel& kernel, typename KindOf::State& state) {
    kernel.unit(state);
};
/// True for a whole number in [least, most].
template <class Number>
consteval bool is_between(Number number, std::int64_t least, std::int64_t most) {
    if constexpr (std::integral<Number>)
        return std::cmp_greater_equal(number, least) && std::cmp_less_equal(number, most);
    else
        return false;
}
template <class Kernel>
concept GathersPercentage = std::bool_constant<is_between(Kernel::gather_percent, 1, 100)>::value;
template <class Kernel>
concept DrainsSteps = std::bool_constant<is_between(Kernel::drain_steps, 0, 0xffffffff)>::value;

/// True if what the kernel need not have is in its place, and what it should be.
template <class Kernel, class KindOf>
consteval bool check_options_of_resumable() {
    using Walk = typename KindOf::Walk;
    constexpr bool units = !NamesUnit<Kernel, KindOf> || RebuildsUnits<Kernel, KindOf>;
    static_assert(units, "headrace: unit() of a kernel gets a resumable unit back from its State: Unit "
                         "unit(const State& state) const; another function needs another name");
    constexpr bool gathers = !requires { Kernel::gather_percent; }
    || GathersPercentage<Kernel>;
    static_assert(gathers, "headrace: gather_percent is a percentage of the lanes of a group, from 1 to 100: "
                           "static constexpr unsigned gather_percent = 50");
    constexpr bool drains = !requires { Kernel::drain_steps; }
    || DrainsSteps<Kernel>;
    static_assert(drains, "headrace: drain_steps is a number of steps: static constexpr unsigned "
                          "drain_steps = 1000");
    // A kernel may be its own Walk.
    constexpr bool placed = std::is_base_of_v<Walk, Kernel> ||
                            !(
                                requires { Walk::gather_percent; } || requires { Walk::drain_steps; } ||
                                requires { Walk::resolve_percent; } || requires { Kernel::phase_percent; });
    static_assert(placed,
                  "headrace: gather_percent, resolve_percent and drain_steps are members of the kernel, and "
                  "phase_percent is a member of the Walk of its resumable kind");
    return units && gathers && drains && placed;
}

template <class Kernel>
concept ResolvesPercentage = std::bool_constant<is_between(Kernel::resolve_percent, 1, 100)>::value;

/// True if the kernel has what it needs for units with a Result.
template <class Kernel, class KindOf, class Lane, class Traits>
consteval bool check_results() {
    using Result = typename KindOf::Walk::Result;
    constexpr bool plain = std::is_trivially_copyable_v<Result> &&
                           std::is_trivially_default_constructible_v<Result> && sizeof(Result) % 4 == 0 &&
                           alignof(Result) <= 16;
    static_assert(plain,
                  "headrace: the Result of a walk is plain data in 32-bit words without initial values");
    constexpr bool alone = (Traits::all & ~Traits::ranges) == Traits::resumable;
    static_assert(alone, "headrace: a kernel whose Walk has a Result has no other kinds but ranges");
    constexpr bool begins = BeginsUnits<Kernel, KindOf> || BeginsWithScratch<Kernel, KindOf>;
    static_assert(begins,
                  "headrace: a kernel whose Walk has a Result has State begin(auto& lane, const Unit& "
                  "unit, Scratch& scratch) const; the last argument may be left out");
    constexpr bool ends = EndsWalks<Kernel, KindOf>;
    static_assert(ends, "headrace: a kernel whose Walk has a Result has void end(auto& lane, const State& "
                        "state, Scratch& scratch, Result& result) const");
    constexpr bool finishes = FinishesResults<Kernel, KindOf, Lane>;
    static_assert(finishes, "headrace: a kernel whose Walk has a Result has void finish(auto& lane, const "
                            "Result& result, const Unit& unit) const");
    constexpr bool resolves = !requires { Kernel::resolve_percent; }
    || ResolvesPercentage<Kernel>;
    static_assert(resolves, "headrace: resolve_percent is a percentage of the lanes of a group, from 1 to "
                            "100: static constexpr unsigned resolve_percent = 25");
    constexpr bool resolve = !NearlyResolves<Kernel, KindOf> || ResolvesUnits<Kernel, KindOf>;
    static_assert(resolve,
                  "headrace: resolve of a kernel is void resolve(auto& lane, Result& result, const Unit& "
                  "unit) const");
    return plain && alone && begins && ends && finishes && resolves && resolve;
}

/// True if the kernel has what its resumable kind needs.
template <class Kernel, class KindOf, class Traits>
consteval bool check_resumable() {
    using Scratch = typename ScratchOf<typename KindOf::Walk>::type;
    using Lane = SpawningLane<Traits, Traits::template index_of<typename KindOf::Unit>(), KindOf::max_spawns,
                              LaneState<Traits, Traits::staged>>;
    constexpr bool lanes = !GroupKernel<Kernel>;
    static_assert(lanes, "headrace: a kernel with by_group has no resumable kinds: the lanes of its groups "
                         "have no units of their own");
    constexpr bool plain = std::is_default_constructible_v<typename KindOf::State> &&
                           std::is_trivially_default_constructible_v<Scratch> &&
                           std::is_trivially_copyable_v<Scratch>;
    static_assert(plain, "headrace: the State of a resumable kind has a default constructor, and its Scratch "
                         "is plain data without initial values: begin sets the State, and steps the Scratch");
    constexpr bool steps =
        has_all_steps<Kernel, KindOf>(std::make_integer_sequence<std::uint32_t, KindOf::phases>{});
    static_assert(steps, "headrace: a kernel with a resumable kind has, for each phase P, headrace::Phase "
                         "step(headrace::Constant<P>, auto& lane, State& state, Scratch& scratch) const; "
                         "a step that needs no Scratch leaves the last argument out");
    constexpr bool options = check_options_of_resumable<Kernel, KindOf>();
    constexpr bool common = lanes && plain && steps && options && KindOf::phases > 0;
    if constexpr (HasResult<typename KindOf::Walk>) {
        return common && check_results<Kernel, KindOf, Lane, Traits>();
    } else {
        constexpr bool begins = BeginsUnits<Kernel, KindOf>;
        static_assert(begins, "headrace: a kernel with a resumable kind has State begin(auto& lane, const "
                              "Unit& unit) const");
        constexpr bool finishes = FinishesUnits<Kernel, KindOf, Lane>;
        static_assert(finishes, "headrace: a kernel with a resumable kind has void finish(auto& lane, State& "
                                "state) const, perhaps with the unit as a third argument");
        return common && begins && finishes;
    }
}

} // namespace detail

/// True if kernel and seeds follow kernel.hpp, as far as every
/// compiler can see. Otherwise the code does not compile.
template <class Kernel, class Seeds>
consteval bool check_kernel() {
    constexpr bool copied = std::is_trivially_copyable_v<Kernel> && std::is_trivially_copyable_v<Seeds>;
    static_assert(copied,
                  "headrace: kernels and seeds are structs of views and numbers: they travel to devices by "
                  "value, so both must be trivially copyable");
    constexpr bool expands = std::is_invocable_v<const Seeds&, std::uint64_t>;
    static_assert(expands,
                  "headrace: seeds are called with an index, and do not change: their call operator is "
                  "Unit operator()(std::uint64_t index) const");
    if constexpr (ConsumerProducer<Kernel> && expands) {
        using Units = typename Kernel::Units;
        static_assert(detail::is_kinds<Units>,
                      "headrace: a kernel's Units is a list of kinds, also of one: using "
                      "Units = headrace::Kinds<headrace::Kind<Unit, 1>>");
        if constexpr (detail::is_kinds<Units>) {
            using Seed = typename SeedMade<Seeds>::Unit; // also if a seed may make no unit
            constexpr bool is_unit = KindTraits<Units>::template index_of<Seed>() < KindTraits<Units>::count;
            static_assert(is_unit,
                          "headrace: the seeds return no unit of the kernel's Units; or a kernel that "
                          "spawns was given to Job::kernel without Job::seeds before it");
            using Traits = KindTraits<Units>;
            if constexpr (copied && is_unit && Traits::resumes)
                return detail::check_resumable<
                    Kernel, typename Traits::template KindAt<std::countr_zero(Traits::resumable)>, Traits>();
            return copied && is_unit;
        }
        return false;
    }
    return copied && expands;
}

/// The same, and the kernel's call operator must be const. `Lanes`: those of the technology.
template <class Kernel, class Seeds, class Lanes>
consteval bool check_call() {
    if constexpr (check_kernel<Kernel, Seeds>()) {
        using Handle = typename detail::HandleOf<Kernel, Lanes>::type;
        constexpr bool lacks_const = [] {
            if constexpr (ConsumerProducer<Kernel>)
                return detail::one_lacks_const<Kernel, Handle>(typename Kernel::Units{});
            else
                return detail::lacks_const<Kernel, Handle&,
                                           std::invoke_result_t<const Seeds&, std::uint64_t>>;
        }();
        static_assert(!lacks_const,
                      "headrace: the kernel's call operator must be const: all lanes of a device share "
                      "one kernel object");
        return !lacks_const;
    } else {
        return false;
    }
}

} // namespace headrace
