// devices/cpu/arena.hpp - the threads that compute on the chosen cores.
#pragma once
#include <headrace/core/export.hpp>
#include <headrace/devices/cpu/topology.hpp>

#include <functional>
#include <memory>
#include <span>

namespace headrace {

/// A oneTBB arena on chosen cores. A CPU kernel gets it as its native stream.
///
/// To run oneTBB algorithms in it, include <headrace/internal/devices/cpu/arena_tbb.hpp> (not installed) for
/// its `tbb::task_arena`. Threads: any; bodies from several threads share the cores.
class HEADRACE_EXPORT CpuArena {
public:
    /// Starts one thread for each hardware thread of `cores`. `pin`: the threads stay on those cores. Pinning
    /// is necessary when other devices use the other cores.
    CpuArena(std::span<const Core> cores, bool pin);
    ~CpuArena();
    CpuArena(const CpuArena&) = delete; // the arena's threads hold its address
    CpuArena& operator=(const CpuArena&) = delete;

    [[nodiscard]] unsigned threads() const noexcept;

    /// Calls body(i) for every i below `n`, in parallel on the arena's threads and on the calling thread.
    ///
    /// Errors: rethrows the first exception of a body; bodies that have not started by then are not called.
    void run(unsigned n, const std::function<void(unsigned)>& body);

    struct Impl;
    [[nodiscard]] Impl& impl() noexcept { return *impl_; }

private:
    std::unique_ptr<Impl> impl_;
};

} // namespace headrace
