// tests/domains/wrong_kernels/wrong_kernels.cpp - mistakes in kernels and jobs that the compiler must find,
// one for each value of WRONG; 0 is none. CMakeLists.txt says what each is told.
#include <headrace/headrace.hpp>
#include <headrace/persistent/detail/on_cpu.hpp>

#include <string>

using namespace headrace;

#if WRONG == 3
struct Mixed { // of one size
    using Scalar = float;
    float weight;
    std::uint32_t count;
};
#elif WRONG == 4
struct Mixed { // of one alignment less
    using Scalar = float;
    float weight;
    double sum;
};
#else
struct Mixed {
    using Scalar = float;
    struct Point {
        float x, y;
    };
    Point at;
    float weights[3];
    float last;
};
#endif

#if WRONG == 5
using Number = std::int16_t;
#elif WRONG == 6
using Number = unsigned char;
#elif WRONG == 7
using Number = long double;
#elif WRONG == 8
struct Number {
    using Scalar = short;
    short x, y;
};
#elif WRONG == 9
using Number = char32_t;
#else
using Number = double;
#endif

struct Step {
    std::uint32_t left, unused;
};

struct Starts {
#if WRONG == 10
    HEADRACE_KERNEL Step operator()(std::uint64_t i) { return {static_cast<std::uint32_t>(i), 0}; }
#elif WRONG == 11
    HEADRACE_KERNEL std::uint64_t operator()(std::uint64_t i) const { return i; }
#else
    HEADRACE_KERNEL Step operator()(std::uint64_t i) const { return {static_cast<std::uint32_t>(i), 0}; }
#endif
};

struct Walk {
#if WRONG == 1
    using Units = Kind<Step, 1>;
#else
    using Units = Kinds<Kind<Step, 1>>;
#endif
    Sum<Mixed> mixed;
    Sum<Number> numbers;
    Sum<std::int32_t> signed_32;
    Sum<std::int64_t> signed_64;
    Sum<long> longs;
    Sum<long long> long_longs;
    Sum<unsigned long long> unsigned_long_longs;
#if WRONG == 12
    std::string name;
#endif

    HEADRACE_KERNEL void operator()(auto& lane, Step step) const {
        signed_32.add(0, -1);
        signed_64.add(0, -1);
        longs.add(0, -1);
        long_longs.add(0, -1);
        unsigned_long_longs.add(0, 1);
        if (step.left == 0) return;
#if WRONG == 2
        lane.spawn({step.left - 1, 0});
#elif WRONG == 18
        lane.spawn({{step.left - 1}, {}});
#elif WRONG == 19
        lane.spawn_range(0, 2, {step.left, {step.left, 2}});
#else
        lane.spawn(Step{step.left - 1, 0});
#endif
    }
};

struct Consume {
#if WRONG == 13
    HEADRACE_KERNEL void operator()(auto&, std::uint64_t) {}
#else
    HEADRACE_KERNEL void operator()(auto&, std::uint64_t) const {}
#endif
};

struct ConsumeTogether {
    static constexpr bool by_group = true;
#if WRONG == 14
    HEADRACE_KERNEL void operator()(auto& group, std::uint64_t) { group.sync(); }
#else
    HEADRACE_KERNEL void operator()(auto& group, std::uint64_t) const { group.sync(); }
#endif
};

struct WalkTogether {
    static constexpr bool by_group = true;
    using Units = Kinds<Kind<Step, 1>>;
#if WRONG == 15
    HEADRACE_KERNEL void operator()(auto& group, Step step){
#else
    HEADRACE_KERNEL void operator()(auto& group, Step step) const {
#endif
        if (group.others_are_idle()) group.spawn(step);
}
}
;

/// Compiled, as by headrace_add_kernels.
template Launcher on_cpu::launcher<Walk, Starts>();
template Launcher on_cpu::launcher<Consume, Indices>();
template Launcher on_cpu::launcher<ConsumeTogether, Indices>();
template Launcher on_cpu::launcher<WalkTogether, Starts>();

/// Used by a job.
Job job(Domain<Mixed>& mixed) {
    Job described("walk", 10);
    described.accumulates(mixed);
#if WRONG == 16
    return described.kernel([](Task&) { return Walk{}; });
#elif WRONG == 17
    Domain<short> shorts("shorts", {1});
    return described.accumulates(shorts).kernel([](Task&) { return Consume{}; });
#else
    return described.seeds(Starts{}).kernel([](Task&) { return Walk{}; });
#endif
}
