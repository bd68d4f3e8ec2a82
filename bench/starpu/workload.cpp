// bench/starpu/workload.cpp - see workload.hpp.
#include "workload.hpp"

#include <algorithm>

namespace bench {

std::vector<Bands> cut(const void* problem, std::uint32_t bands, std::uint32_t tasks) {
    tasks = std::min(tasks, bands);
    std::vector<Bands> all;
    const auto begin = [&](std::uint64_t task) { return static_cast<std::uint32_t>(bands * task / tasks); };
    for (std::uint32_t task = 0; task < tasks; ++task)
        all.push_back({problem, begin(task), begin(task + 1) - begin(task)});
    return all;
}

} // namespace bench
