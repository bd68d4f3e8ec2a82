// persistent/detail/on_cpu.hpp - the engine on the CPU device: a lane
// group on each thread of its arena, with a vector's worth of lanes.
#pragma once
#include <headrace/devices/cpu/arena.hpp>
#include <headrace/devices/cpu/batch.hpp>
#include <headrace/persistent/detail/on_host.hpp>

namespace headrace::on_cpu {

struct ArenaRunner {
    static CpuArena& arena(const NativeStream& stream) { return *static_cast<CpuArena*>(stream.stream); }
    static unsigned threads(const NativeStream& stream) { return arena(stream).threads(); }
    static void run(const NativeStream& stream, unsigned n, const std::function<void(unsigned)>& body) {
        arena(stream).run(n, body);
    }
};

/// Lanes that take turns, or are those of the processor's vectors where the kernel has a batch form.
template <unsigned Width>
struct VectorLanes : HostLanes<Width> {
#ifdef HEADRACE_HAS_BATCHES
    static constexpr bool has_vectors = true;
    static std::uint32_t vector_lanes() { return headrace::vector_lanes(); }
    static bool run_with_vectors(auto&& f) { return headrace::run_with_vectors(f); }
#endif
};

/// Lanes take turns on one thread. They are enough to share the cost of
/// a queue operation, and few enough for the thread's first-level cache.
using CpuLanes = VectorLanes<16>;

template <class Kernel, class Seeds>
Launcher launcher() {
    return make_launcher<Kernel, Seeds, CpuLanes, ArenaRunner>();
}

} // namespace headrace::on_cpu
