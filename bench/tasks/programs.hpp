// bench/tasks/programs.hpp - the programs that run tasks, and what they are asked for.
#pragma once
#include "tasks.kernels.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace bench {

/// Every task adds a mark to a line of its own, or, as a chain, to the first one. With data, the program
/// keeps the line coherent for the task; without, the task has its address and nobody else knows of it.
struct Pattern {
    bool is_chain, has_data;
};

/// One way of running `lines.size()` tasks of a pattern, all of which have ended when it returns.
struct Program {
    std::string name;
    Pattern pattern;
    std::function<void()> run;
    /// What must be there before the clock starts: threads, registered data. What it returns keeps them.
    std::function<std::shared_ptr<void>()> prepare = {};
};

/// Each borrows `lines`.
[[nodiscard]] std::vector<Program> on_tbb(std::span<Line> lines);
[[nodiscard]] std::vector<Program> on_headrace(std::span<Line> lines);
[[nodiscard]] std::vector<Program> on_starpu(std::span<Line> lines);

} // namespace bench
