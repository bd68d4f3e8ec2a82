// apps/hotspot/saved.hpp - the program's own copy of what was simulated, taken by several threads.
#pragma once
#include <oneapi/tbb/task_arena.h>

#include <span>
#include <vector>

namespace hotspot {

/// Cells as they were when they were last saved.
class Saved {
public:
    Saved(std::size_t cells, int threads);

    /// Copies `cells`, as many as there are, past the caches: they are written once and not read soon.
    void take(const float* cells);
    [[nodiscard]] std::span<const float> cells() const noexcept { return cells_; }

private:
    std::vector<float> cells_;
    tbb::task_arena arena_;
};

} // namespace hotspot
