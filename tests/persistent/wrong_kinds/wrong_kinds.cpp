// tests/persistent/wrong_kinds/wrong_kinds.cpp - mistakes in a kernel's kinds that the compiler must find,
// one for each value of WRONG; 0 is none. CMakeLists.txt says what each is told.
#include <headrace/persistent/detail/on_cpu.hpp>

#include <cstdint>
#include <optional>

using namespace headrace;

struct Seed {
    std::uint32_t number;
};
struct Pod {
    std::uint32_t seeds;
};
struct Other {
    std::uint32_t number;
};

struct SeedsOfPod {
#if WRONG == 1
    std::uint32_t first;
#endif
#if WRONG == 2
    HEADRACE_KERNEL Other operator()(std::uint64_t index, const Pod&) const {
        return {static_cast<std::uint32_t>(index)};
    }
#else
    HEADRACE_KERNEL Seed operator()(std::uint64_t index, const Pod&) const {
        return {static_cast<std::uint32_t>(index)};
    }
#endif
};

#if WRONG == 3
constexpr unsigned most = 100'000;
#else
constexpr unsigned most = 256;
#endif
using Pods = RangeKind<Pod, SeedsOfPod>;

struct Plant {
    using Units = Kinds<Kind<Seed, most>, Pods>;
    HEADRACE_KERNEL void operator()(auto& lane, Seed seed) const {
#if WRONG == 4
        lane.spawn_range(0, seed.number, Other{3});
#else
        lane.spawn_range(0, seed.number, Pod{3});
#endif
    }
};
struct Sow {
    HEADRACE_KERNEL std::optional<Seed> operator()(std::uint64_t index) const {
        return Seed{static_cast<std::uint32_t>(index)};
    }
};
struct Count {
    HEADRACE_KERNEL void operator()(auto&, Seed) const {}
};

// A resumable kind.
struct Walk {
    struct State {
#if WRONG == 6
        std::uint32_t path[17];
#else
        std::uint32_t left;
#endif
    };
    struct Scratch {
#if WRONG == 7
        std::uint32_t stack[4] = {};
#else
        std::uint32_t stack[4];
#endif
    };
#if WRONG == 25
    static constexpr unsigned phase_percent = 25;
#elif WRONG == 26
    static constexpr double phase_percent[] = {0, 0.25};
#elif WRONG == 27
    static constexpr unsigned phase_percent[] = {0, 101};
#elif WRONG != 24
    static constexpr unsigned phase_percent[] = {0, 25};
#endif
#if WRONG == 22
    static constexpr unsigned drain_steps = 1000;
#endif
};
struct Walker {
#if WRONG == 15
    HEADRACE_KERNEL Seed unit(const Walk::State&) { return {}; } // not const
#elif WRONG == 16
    HEADRACE_KERNEL Other unit(const Walk::State&) const { return {}; }
#elif WRONG == 17
    HEADRACE_KERNEL Seed unit(const Pod&) const { return {}; }
#else
    HEADRACE_KERNEL Seed unit(const Walk::State&) const { return {}; }
#endif
#if WRONG == 18
    static constexpr double gather_percent = 0.5;
#elif WRONG == 19
    static constexpr unsigned gather_percent = 101;
#elif WRONG == 20
    unsigned gather_percent = 50;
#else
    static constexpr unsigned gather_percent = 50;
#endif
#if WRONG == 21
    static constexpr int drain_steps = -1;
#else
    static constexpr int drain_steps = 0;
#endif
#if WRONG == 23
    static constexpr unsigned phase_percent[] = {0, 25};
#endif
#if WRONG == 8
    using Units = Kinds<ResumableKind<Seed, 1, Walk>, ResumableKind<Other, 1, Walk>>;
#else
    using Units = Kinds<ResumableKind<Seed, 1, Walk>, Pods>;
#endif
#if WRONG == 9
    static constexpr bool by_group = true;
#endif
#if WRONG == 10
    HEADRACE_KERNEL Walk::State begin(auto&, const Seed&) { return {3}; } // not const
#else
    HEADRACE_KERNEL Walk::State begin(auto&, const Seed&) const { return {}; }
#endif
    HEADRACE_KERNEL Phase step(Constant<0>, auto& lane, Walk::State& walk, Walk::Scratch&) const {
#if WRONG == 11
        lane.spawn(Seed{3});
#elif WRONG == 12
        std::uint64_t sum = 0;
        lane.add(LocalSum(0), 1u, [&]() -> std::uint64_t& { return sum; });
#endif
        static_cast<void>(lane);
        static_cast<void>(walk);
        return Phase{1};
    }
#if WRONG == 13
    HEADRACE_KERNEL Phase step(Constant<1>, auto&, Walk::State&, Seed&) const { return Phase::done; }
#else
    HEADRACE_KERNEL Phase step(Constant<1>, auto&, Walk::State&, Walk::Scratch&) const { return Phase::done; }
#endif
#if WRONG == 14
    HEADRACE_KERNEL void finish(auto&, const Seed&) const {}
#else
    HEADRACE_KERNEL void finish(auto& lane, Walk::State&) const { lane.spawn_range(0, 2, Pod{3}); }
#endif
};
Launcher walkers() { return on_cpu::launcher<Walker, Sow>(); }

// A step may leave out a Scratch, or take what is none.
template <bool NamesNone>
struct Stroll {
    struct State {
        std::uint32_t left;
    };
    using Scratch = NoScratch;
    static constexpr unsigned phase_percent[] = {0, 0};
};
template <>
struct Stroll<false> {
    using State = Stroll<true>::State;
    static constexpr unsigned phase_percent[] = {0, 0};
};
template <class WalkType>
struct Stroller {
    using Units = Kinds<ResumableKind<Seed, 0, WalkType>>;
    HEADRACE_KERNEL typename WalkType::State begin(auto&, const Seed&) const { return {}; }
    HEADRACE_KERNEL Phase step(Constant<0>, auto&, typename WalkType::State&) const { return Phase{1}; }
    HEADRACE_KERNEL Phase step(Constant<1>, auto&, typename WalkType::State&, auto&) const {
        return Phase::done;
    }
    HEADRACE_KERNEL void finish(auto&, typename WalkType::State&) const {}
};
Launcher strollers() { return on_cpu::launcher<Stroller<Stroll<true>>, Sow>(); }
Launcher others() { return on_cpu::launcher<Stroller<Stroll<false>>, Sow>(); }
Launcher walkers_with_scratch() { return on_cpu::launcher<Stroller<Walk>, Sow>(); }

// A resumable kind with a Result.
struct Errand {
    struct State {
        std::uint32_t left;
    };
    struct Result {
#if WRONG == 28
        std::uint32_t found = 0;
#else
        std::uint32_t found;
#endif
    };
    static constexpr unsigned phase_percent[] = {0};
};
struct Gatherer {
#if WRONG == 29
    using Units = Kinds<ResumableKind<Seed, 1, Errand>, Kind<Other, 0>>;
#else
    using Units = Kinds<ResumableKind<Seed, 1, Errand>, Pods>;
#endif
#if WRONG == 30
    static constexpr unsigned resolve_percent = 0;
#endif
    HEADRACE_KERNEL Errand::State begin(auto&, const Seed&) const { return {}; }
    HEADRACE_KERNEL Phase step(Constant<0>, auto&, Errand::State&) const { return Phase::done; }
#if WRONG == 31
    HEADRACE_KERNEL Errand::Result end(auto&, const Errand::State&, NoScratch&) const { return {}; }
#else
    HEADRACE_KERNEL void end(auto&, const Errand::State&, NoScratch&, Errand::Result&) const {}
#endif
#if WRONG == 32
    HEADRACE_KERNEL void finish(auto&, Errand::State&) const {}
#else
    HEADRACE_KERNEL void finish(auto&, const Errand::Result&, const Seed&) const {}
#endif
#if WRONG == 34
    HEADRACE_KERNEL void resolve(auto& lane, Errand::Result&, const Seed&){// not const
#else
    HEADRACE_KERNEL void resolve(auto& lane, Errand::Result&, const Seed&) const {
#endif
#if WRONG == 33
                                                                           lane.spawn(Seed{3});
#endif
    static_cast<void>(lane);
}
}
;

struct Square {
    HEADRACE_KERNEL void operator()(auto&, std::uint64_t) const {}
#ifdef HEADRACE_HAS_BATCHES
    template <std::uint32_t Width>
    #if WRONG == 35
    void batch(Constant<Width>, auto*, const std::uint64_t*, std::uint32_t) {
    }
    #else
    void batch(Constant<Width>, auto*, const std::uint64_t*, std::uint32_t) const {
    }
    #endif
#endif
};
Launcher squares() { return on_cpu::launcher<Square, Indices>(); }

Launcher gatherers() { return on_cpu::launcher<Gatherer, Sow>(); }

Launcher plants() { return on_cpu::launcher<Plant, Sow>(); }
#if WRONG == 5
Launcher counts() { return on_cpu::launcher<Count, Sow>(); }
#endif
