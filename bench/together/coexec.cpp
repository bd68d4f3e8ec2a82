// bench/together/coexec.cpp - headrace-coexec's problems.
#include "coexec/problems.hpp"
#include "workload.hpp"

#include <algorithm>
#include <memory>

namespace bench {

Workload coexec(const std::string& problem, std::uint64_t size, bool is_double) {
    namespace app = ::coexec;
    const auto kind = std::ranges::find(app::problem_kinds(), problem, &app::ProblemKind::name);
    app::Settings settings;
    settings.size = size > 0 ? size : kind->size;
    settings.is_double = is_double;
    return {problem + " " + std::to_string(settings.size) + (is_double ? ", doubles" : ""),
            [settings, make = kind->make](headrace::Runtime& runtime) -> TakeTurn {
                const std::shared_ptr<app::Problem> made = make(settings, runtime);
                return [&runtime, made] {
                    made->reset();
                    return timed(runtime, made->job(), [&] { made->collect(); });
                };
            }};
}

bool is_coexec(const std::string& problem) {
    return std::ranges::find(::coexec::problem_kinds(), problem, &::coexec::ProblemKind::name) !=
           ::coexec::problem_kinds().end();
}

} // namespace bench
