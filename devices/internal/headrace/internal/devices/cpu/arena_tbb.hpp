// internal/devices/cpu/arena_tbb.hpp - the oneTBB arena of a CpuArena, for kernels that call oneTBB. Apart
// from arena.hpp, so that only code that uses oneTBB needs its headers.
#pragma once
#include <headrace/core/export.hpp>
#include <headrace/devices/cpu/arena.hpp>

#include <oneapi/tbb/task_arena.h>

namespace headrace {

/// `tbb_arena(arena).execute([] { tbb::parallel_sort(...); })` sorts on the arena's cores.
[[nodiscard]] HEADRACE_EXPORT tbb::task_arena& tbb_arena(CpuArena& arena) noexcept;

} // namespace headrace
