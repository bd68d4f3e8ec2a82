// internal/core/compiling.hpp - drivers that compile kernels: that takes seconds in which a task gives no
// sign of life, and hangs for no other reason.
#pragma once
#include <headrace/core/export.hpp>

#include <chrono>

namespace headrace {

/// While it lives, this process compiles; a compiler that takes longer than `longest` has hung.
///
/// Threads  any; several at once
class HEADRACE_EXPORT Compiling {
public:
    static constexpr std::chrono::minutes longest{2};

    Compiling();
    ~Compiling();
    Compiling(const Compiling&) = delete; // counts once
    Compiling& operator=(const Compiling&) = delete;

    /// Now if something is being compiled, else when the last compiler ended; long ago if none has.
    [[nodiscard]] static std::chrono::steady_clock::time_point last_sign();

private:
    const std::chrono::steady_clock::time_point begin_;
};

} // namespace headrace
