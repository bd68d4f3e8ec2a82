// apps/coexec/problems.hpp - the problems that there are.
#pragma once
#include "problem.hpp"

#include <memory>
#include <span>
#include <string_view>

namespace coexec {

using MakeProblem = std::unique_ptr<Problem> (*)(const Settings& settings, const headrace::Runtime& runtime);

struct ProblemKind {
    std::string_view name;
    std::uint64_t size;    ///< unless the user says: that of the paper's table 1
    std::uint64_t small;   ///< seconds at most on one core, its serial version too
    std::uint64_t largest; ///< indices stay within 32 bits
    MakeProblem make;
};

/// Source  Nozal, Bosque, "Straightforward heterogeneous computing with the oneAPI coexecutor runtime",
///         Electronics 10(19), 2021, table 1
[[nodiscard]] std::span<const ProblemKind> problem_kinds();

[[nodiscard]] std::unique_ptr<Problem> make_gaussian(const Settings&, const headrace::Runtime&);
[[nodiscard]] std::unique_ptr<Problem> make_matmul(const Settings&, const headrace::Runtime&);
[[nodiscard]] std::unique_ptr<Problem> make_taylor(const Settings&, const headrace::Runtime&);
[[nodiscard]] std::unique_ptr<Problem> make_rap(const Settings&, const headrace::Runtime&);
[[nodiscard]] std::unique_ptr<Problem> make_ray(const Settings&, const headrace::Runtime&);
[[nodiscard]] std::unique_ptr<Problem> make_mandelbrot(const Settings&, const headrace::Runtime&);
[[nodiscard]] std::unique_ptr<Problem> make_nbody(const Settings&, const headrace::Runtime&);

} // namespace coexec
