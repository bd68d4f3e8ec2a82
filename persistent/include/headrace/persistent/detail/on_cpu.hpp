// persistent/detail/on_cpu.hpp - the engine on the CPU device: a lane
// group on each thread of its arena, with a vector's worth of lanes.
#pragma once
#include <headrace/devices/cpu/arena.hpp>
#include <headrace/persistent/detail/on_host.hpp>

namespace headrace::on_cpu {

struct ArenaRunner {
    static CpuArena& arena(const NativeStream& stream) { return *static_cast<CpuArena*>(stream.stream); }
    static unsigned threads(const NativeStream& stream) { return arena(stream).threads(); }
    static void run(const NativeStream& stream, unsigned n, const std::function<void(unsigned)>& body) {
        arena(stream).run(n, body);
    }
};

/// Lanes take turns on one thread. They are enough to share the cost of
/// a queue operation, and few enough for the thread's first-level cache.
using CpuLanes = HostLanes<16>;

template <class Kernel, class Seeds>
Launcher launcher() {
    return make_launcher<Kernel, Seeds, CpuLanes, ArenaRunner>();
}

} // namespace headrace::on_cpu
