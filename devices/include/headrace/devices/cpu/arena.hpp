// devices/cpu/arena.hpp - the threads that compute on the chosen cores.
#pragma once
#include <headrace/core/export.hpp>
#include <headrace/devices/cpu/topology.hpp>

#include <functional>
#include <memory>
#include <span>

namespace headrace {

/// A oneTBB arena on chosen cores: what a CPU kernel gets as its native stream.
///
/// Include <headrace/devices/cpu/arena_tbb.hpp> for the tbb::task_arena itself, to run oneTBB algorithms in
/// it. Threads: any; bodies that come from several threads share the cores.
class HEADRACE_EXPORT CpuArena {
public:
    /// One thread for each hardware thread of `cores`. `pin`: they stay on those cores, as they must where
    /// the others belong to somebody else.
    CpuArena(std::span<const Core> cores, bool pin);
    ~CpuArena();
    CpuArena(const CpuArena&) = delete; // its threads hold its address
    CpuArena& operator=(const CpuArena&) = delete;

    [[nodiscard]] unsigned threads() const noexcept;

    /// Calls body(i) for every i below `n`, in parallel on the arena's threads, the caller's among them.
    ///
    /// Errors: rethrows the first exception of a body; bodies that have not begun by then are not called.
    void run(unsigned n, const std::function<void(unsigned)>& body);

    struct Impl;
    [[nodiscard]] Impl& impl() noexcept { return *impl_; }

private:
    std::unique_ptr<Impl> impl_;
};

} // namespace headrace
