// internal/core/compiling.hpp - tells a watchdog when a driver compiles kernels. This takes seconds in which
// a task reports no progress, although it does not hang.
#pragma once
#include <headrace/core/export.hpp>

#include <chrono>

namespace headrace {

/// While an object exists, this process compiles. A compiler that takes longer than `longest` hangs.
///
/// Threads  any; several at once
class HEADRACE_EXPORT Compiling {
public:
    static constexpr std::chrono::minutes longest{2};

    Compiling();
    ~Compiling();
    Compiling(const Compiling&) = delete; // each object counts once
    Compiling& operator=(const Compiling&) = delete;

    /// Now while a compiler runs (at most until `longest`), else the end of the last one; min() if none ran.
    [[nodiscard]] static std::chrono::steady_clock::time_point last_sign();

private:
    const std::chrono::steady_clock::time_point begin_;
};

} // namespace headrace
