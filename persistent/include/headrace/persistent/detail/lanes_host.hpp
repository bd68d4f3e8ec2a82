// persistent/detail/lanes_host.hpp - a lane group on a host thread: W lanes that take turns.
//
// The functions of a lane group, here and in lanes_simt.cuh:
//   size, Mask            lanes in the group; one bit for each
//   PerLane<T>            a value of each lane: an array here, a register on a GPU
//   each(f)               f(lane) for every lane; the only place where lanes may diverge
//   ballot(f)             the mask of lanes for which f(lane) is true
//   by_leader(f)          one lane evaluates f, all get the result; if f returns void, no lane waits for it
//   sum(f)                f(lane) summed over the lanes, for all of them: 32 or 64 bits, group kernels only
//   sync()                waits for all lanes; all lanes then see what each lane wrote before
#pragma once
#include <bit>
#include <cstdint>

namespace headrace {

template <unsigned Width>
struct HostLanes {
    static_assert(Width >= 1 && Width <= 64, "a mask has 64 bits");
    static constexpr std::uint32_t size = Width;
    static constexpr bool take_turns = true; ///< see pace.hpp
    using Mask = std::uint64_t;

    template <class T>
    struct PerLane {
        T values[Width];
        T& operator[](std::uint32_t lane) { return values[lane]; }
    };

    static constexpr Mask all = Width == 64 ? ~Mask{0} : (Mask{1} << (Width % 64)) - 1;
    /// Inline, because std::popcount is a call if the compiler may not use the processor's instruction.
    static constexpr std::uint32_t count(Mask mask) {
        if constexpr (Width <= 32) {
            auto bits = static_cast<std::uint32_t>(mask);
            bits -= bits >> 1 & 0x55555555u;
            bits = (bits & 0x33333333u) + (bits >> 2 & 0x33333333u);
            return ((bits + (bits >> 4)) & 0x0f0f0f0fu) * 0x01010101u >> 24;
        } else {
            return static_cast<std::uint32_t>(std::popcount(mask));
        }
    }
    static constexpr bool has(Mask mask, std::uint32_t lane) { return (mask >> lane & 1) != 0; }
    static constexpr std::uint32_t count_below(Mask mask, std::uint32_t lane) {
        return count(mask & ((Mask{1} << lane) - 1));
    }

    template <class F>
    void each(F&& f) const {
        for (std::uint32_t lane = 0; lane < Width; ++lane) f(lane);
    }
    template <class F>
    Mask ballot(F&& f) const {
        Mask mask = 0;
        for (std::uint32_t lane = 0; lane < Width; ++lane) mask |= Mask{f(lane) ? 1u : 0u} << lane;
        return mask;
    }
    template <class F>
    auto by_leader(F&& f) const {
        return f();
    }
    template <class F>
    auto sum(F&& f) const {
        auto total = f(0u);
        for (std::uint32_t lane = 1; lane < Width; ++lane) total += f(lane);
        return total;
    }
    void sync() const {}
};

} // namespace headrace
