// bench/tasks/tasks.kernels.hpp - kernels of tasks that do next to nothing: each leaves a mark.
#pragma once
#include <headrace/domains/grids/index.hpp>
#include <headrace/domains/grids/roles.hpp>
#include <headrace/domains/view.hpp>

namespace bench {

/// A task's datum: a cache line, so that tasks do not get into each other's way.
struct alignas(64) Line {
    std::uint32_t marks;
};

/// Of a job: of so many work units, which a task has at the least, one marks their line.
struct MarkLines {
    headrace::View<Line> lines;
    std::uint64_t units;
    HEADRACE_KERNEL void operator()(auto&, std::uint64_t i) const {
        if (i % units == 0) ++lines[i / units].marks;
    }
};

/// Of a job that takes a while: each word is what a generator makes of its index.
struct TurnWords {
    headrace::View<std::uint64_t> words;
    std::uint32_t turns;

    HEADRACE_HOST_DEVICE static std::uint64_t turned(std::uint64_t word, std::uint32_t turns) {
        for (std::uint32_t turn = 0; turn < turns; ++turn)
            word = word * 6'364'136'223'846'793'005u + 1'442'695'040'888'963'407u;
        return word;
    }
    HEADRACE_KERNEL void operator()(auto&, std::uint64_t i) const { words[i] = turned(i, turns); }
};

/// Of jobs that wait for these words.
struct AddWords {
    headrace::View<const std::uint64_t> words;
    headrace::Sum<std::uint64_t> sum;
    HEADRACE_KERNEL void operator()(auto&, std::uint64_t i) const { sum.add(0, words[i]); }
};

/// Of a launch: marks one line.
struct MarkLine {
    headrace::Io<Line> line;
    std::int64_t number;
    HEADRACE_KERNEL void operator()(headrace::Index<1> i) const { ++line(i.x + number).marks; }
};

} // namespace bench
