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

Launcher plants() { return on_cpu::launcher<Plant, Sow>(); }
#if WRONG == 5
Launcher counts() { return on_cpu::launcher<Count, Sow>(); }
#endif
