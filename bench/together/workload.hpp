// bench/together/workload.hpp - a problem that any set of devices can be measured with.
#pragma once
#include <headrace/headrace.hpp>

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>

namespace bench {

struct Turn {
    double seconds = 0; ///< from submission until the results are on the host
    headrace::JobReport report;
};
/// Does the whole problem once.
using TakeTurn = std::function<Turn()>;

/// Submits, waits, has the results `collect`ed.
template <class Collect>
Turn timed(headrace::Runtime& runtime, const headrace::Job& job, Collect collect) {
    const auto begin = std::chrono::steady_clock::now();
    const headrace::JobHandle handle = runtime.submit(job);
    handle.wait();
    collect();
    return {std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count(), handle.report()};
}

struct Workload {
    std::string name;
    /// Makes its data for this runtime, which outlives what is returned.
    std::function<TakeTurn(headrace::Runtime&)> prepare;
};

/// "matmul:4096", "fluorescence:producer:20000000": a problem, then what it takes, each with a default.
/// Errors: invalid_argument, with the known ones.
[[nodiscard]] Workload make_workload(const std::string& text);

// kernel: "consumer" or "producer".
[[nodiscard]] Workload fluorescence(const std::string& kernel, std::uint64_t packets);
[[nodiscard]] Workload path_tracing(const std::string& kernel, std::uint64_t samples,
                                    const std::string& scene);
[[nodiscard]] Workload barnes_hut(const std::string& kernel, std::uint64_t bodies);
/// One of the co-execution paper's, of which there must be one of that name; size 0: as in the paper.
[[nodiscard]] Workload coexec(const std::string& problem, std::uint64_t size, bool is_double);
[[nodiscard]] bool is_coexec(const std::string& problem);

} // namespace bench
