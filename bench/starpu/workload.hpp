// bench/starpu/workload.hpp - a problem that StarPU does in any number of tasks.
#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace bench {

/// One task: bands [first, first + count) of the picture. Also what its codelet is told.
struct Bands {
    const void* problem;
    std::uint32_t first, count;
};

/// `bands` in so many tasks of about equal size, or one each if there are fewer.
[[nodiscard]] std::vector<Bands> cut(const void* problem, std::uint32_t bands, std::uint32_t tasks);

/// A problem with its data in StarPU, cut into tasks; lives within a session.
class StarPuWorkload {
public:
    virtual ~StarPuWorkload() = default;
    StarPuWorkload(const StarPuWorkload&) = delete; // StarPU holds addresses of its members
    StarPuWorkload& operator=(const StarPuWorkload&) = delete;
    /// Submits the tasks, waits for them, has the results on the host.
    virtual void run() = 0;

protected:
    StarPuWorkload() = default;
};

} // namespace bench
