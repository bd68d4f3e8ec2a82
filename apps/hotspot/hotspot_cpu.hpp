// apps/hotspot/hotspot_cpu.hpp - several steps on blocks of cells that stay in a core's own cache; each row
// of a block is a loop that the compiler turns into vector instructions.
#pragma once
#include <headrace/devices/cpu/arena.hpp>

#include <algorithm>

namespace hotspot {

/// One row, compiled for each of the instruction sets that x86 processors have: the build is for the oldest.
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)
[[gnu::target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")]]
#endif
static void
step_row(const Factors& factors, int cells, const float* north, const float* here, const float* south,
         const float* power, float* __restrict out) {
    const Factors f = factors; // not in memory that `out` could be
    for (int j = 1; j < cells - 1; ++j)
        out[j] = stepped(f, here[j], north[j], south[j], here[j - 1], here[j + 1], power[j]);
}

/// A block of cells with `fused` more on every side, which are there to be stepped from.
class Block {
public:
    /// Its planes fill about half of the megabyte that a core has for itself.
    static constexpr int kept_rows = 64, kept_columns = 512;

    /// Advances the cells from (top, left) to the block's or the grid's end, and writes them.
    void advance(const Hotspot& k, const headrace::Grid<2>& grid, int top, int left) {
        const int rows = std::min(kept_rows, static_cast<int>(grid.end[0]) - top);
        const int columns = std::min(kept_columns, static_cast<int>(grid.end[1]) - left);
        for (int i = 0; i < rows + 2 * fused; ++i) {
            const int row = mirrored(top + i - fused, k.rows);
            read(&k.before(row, 0), k.before.columns(), left - fused, columns + 2 * fused, planes_[0][i]);
            read(&k.power(row, 0), k.power.columns(), left - fused, columns + 2 * fused, power_[i]);
        }
        for (int step = 0; step < k.steps; ++step) {
            auto& now = planes_[step % 2];
            auto& next = planes_[(step + 1) % 2];
            const int rim = step + 1; // what is beyond has gone wrong: it lacked neighbours
            for (int i = rim; i < rows + 2 * fused - rim; ++i)
                step_row(k.factors, columns + 2 * fused, now[i - 1], now[i], now[i + 1], power_[i], next[i]);
        }
        float* const out = k.after.data() + static_cast<std::int64_t>(top) * k.after.columns() + left;
        for (int i = 0; i < rows; ++i)
            std::copy_n(planes_[k.steps % 2][fused + i] + fused, columns,
                        out + static_cast<std::int64_t>(i) * k.after.columns());
    }

private:
    /// `count` cells of a row from `first` on, which may begin and end beyond it.
    static void read(const float* row, int cells, int first, int count, float* into) {
        const int begin = std::max(0, -first), end = std::min(count, cells - first);
        for (int j = 0; j < begin; ++j) into[j] = row[mirrored(first + j, cells)];
        std::copy(row + first + begin, row + first + end, into + begin);
        for (int j = end; j < count; ++j) into[j] = row[mirrored(first + j, cells)];
    }

    using Plane = float[kept_rows + 2 * fused][kept_columns + 2 * fused];
    alignas(64) Plane planes_[2], power_;
};

inline void specialise(headrace::technology::Cpu, headrace::Implementations<Hotspot>& all) {
    all.on("cpu", [](const Hotspot& k, headrace::Grid<2> grid, const headrace::NativeStream& stream) {
        const auto blocks = [](std::int64_t n, int size) {
            return static_cast<unsigned>((n + size - 1) / size);
        };
        const unsigned across = blocks(grid.size(1), Block::kept_columns);
        const unsigned down = blocks(grid.size(0), Block::kept_rows);
        static_cast<headrace::CpuArena*>(stream.stream)->run(across * down, [&](unsigned i) {
            static thread_local Block block;
            block.advance(k, grid, static_cast<int>(grid.first + i / across * Block::kept_rows),
                          static_cast<int>(i % across * Block::kept_columns));
        });
    });
}

} // namespace hotspot
