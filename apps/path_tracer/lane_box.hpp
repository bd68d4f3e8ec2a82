// apps/path_tracer/lane_box.hpp - a box in two registers of four floats: the builder of the BVH adds up
// little else.
#pragma once
#include "build_reference.hpp"

#include <cstddef>
#include <cstring>

namespace path_tracer {

/// x, y, z, and a lane that says nothing. g++ and clang have operators for it on any processor.
using Lanes = float __attribute__((vector_size(16)));

inline Lanes smaller(Lanes a, Lanes b) { return a < b ? a : b; }
inline Lanes larger(Lanes a, Lanes b) { return a > b ? a : b; }

/// Three floats, and what lies behind them in memory.
inline Lanes lanes_from(const void* three_and_more) {
    Lanes lanes;
    std::memcpy(&lanes, three_and_more, sizeof(Lanes));
    return lanes;
}

struct LaneBox {
    Lanes lo = Lanes{} + std::numeric_limits<float>::max(), hi = -lo;

    LaneBox() = default;
    LaneBox(Lanes low, Lanes high) : lo(low), hi(high) {}
    explicit LaneBox(const Reference& reference)
        : lo(lanes_from(&reference)),
          hi(lanes_from(reinterpret_cast<const char*>(&reference) + offsetof(Box, hi))) {}

    void add(const LaneBox& other) {
        lo = smaller(other.lo, lo);
        hi = larger(other.hi, hi);
    }
    void add(Lanes point) { add({point, point}); }
    void clip_to(const LaneBox& other) {
        lo = larger(other.lo, lo);
        hi = smaller(other.hi, hi);
    }
    [[nodiscard]] bool is_empty() const { return lo[0] > hi[0] || lo[1] > hi[1] || lo[2] > hi[2]; }
    /// As that of a Box, to the bit.
    [[nodiscard]] float half_area() const {
        const Lanes size = hi - lo;
        return size[0] < 0 ? 0 : size[0] * size[1] + size[1] * size[2] + size[2] * size[0];
    }
    [[nodiscard]] Box box() const { return {{lo[0], lo[1], lo[2]}, {hi[0], hi[1], hi[2]}}; }
};
static_assert(offsetof(Reference, box) == 0 && offsetof(Box, hi) + sizeof(Lanes) == sizeof(Reference));

} // namespace path_tracer
