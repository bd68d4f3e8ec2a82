// persistent/detail/lanes_simt.cuh - a lane group on a GPU: a warp or a wavefront. lanes_host.hpp says what
// each call means.
#pragma once
#include <headrace/persistent/detail/sync_simt.cuh>

namespace headrace::HEADRACE_ON_SIMT {

#if defined(__CUDACC__)
inline constexpr std::uint32_t lane_group_size = 32;
using LaneMask = std::uint32_t;
#elif defined(__AMDGCN_WAVEFRONT_SIZE)
inline constexpr std::uint32_t lane_group_size = __AMDGCN_WAVEFRONT_SIZE;
using LaneMask = std::uint64_t;
#else
inline constexpr std::uint32_t lane_group_size = 64; // the host's compiler pass, which runs no lane
using LaneMask = std::uint64_t;
#endif

struct SimtLanes {
    static constexpr std::uint32_t size = lane_group_size;
    using Mask = LaneMask;

    template <class T>
    struct PerLane {
        T value;
        __device__ T& operator[](std::uint32_t) { return value; }
    };

    static constexpr Mask all = static_cast<Mask>(~std::uint64_t{0} >> (64 - size));
    std::uint32_t rank; ///< of the calling lane in its group
#if defined(__CUDACC__)
    Mask below; ///< the lanes before it, in a register: otherwise the compiler would shift at each use
#endif

    __device__ explicit SimtLanes(std::uint32_t rank_in_group) : rank(rank_in_group) {
#if defined(__CUDACC__)
        asm volatile("mov.u32 %0, %%lanemask_lt;" : "=r"(below));
#endif
    }

    static __device__ std::uint32_t count(Mask mask) {
        if constexpr (sizeof(Mask) == 8)
            return static_cast<std::uint32_t>(__popcll(mask));
        else
            return static_cast<std::uint32_t>(__popc(mask));
    }
    static __device__ bool has(Mask mask, std::uint32_t lane) { return (mask >> lane & 1) != 0; }
    __device__ std::uint32_t count_below(Mask mask, std::uint32_t lane) const {
#if defined(__CUDACC__)
        return count(mask & below); // a lane asks only about itself
#else
        return count(mask & ((Mask{1} << lane) - 1));
#endif
    }

    template <class F>
    __device__ void each(F&& f) const {
        f(rank);
    }
    template <class F>
    __device__ Mask ballot(F&& f) const {
        const bool vote = f(rank);
#if defined(__CUDACC__)
        return __ballot_sync(all, vote); // waits for all lanes of the warp
#else
        return static_cast<Mask>(__ballot(vote));
#endif
    }
    template <class F>
    __device__ auto by_leader(F&& f) const {
        if constexpr (std::is_void_v<decltype(f())>) {
            if (rank == 0) f();
        } else {
            decltype(f()) result{};
            if (rank == 0) result = f();
            return broadcast(result);
        }
    }
    template <class F>
    __device__ auto sum(F&& f) const {
        auto total = f(rank);
        HEADRACE_UNROLL
        for (std::uint32_t step = size / 2; step > 0; step /= 2) {
#if defined(__CUDACC__)
            total += __shfl_xor_sync(all, total, step);
#else
            total += __shfl_xor(total, static_cast<int>(step));
#endif
        }
        return total;
    }
    __device__ void sync() const {
#if defined(__CUDACC__)
        __syncwarp(all);
#else
        // HIP 5.2 has no __syncwarp. A wavefront runs in step, so this
        // only makes the compiler keep the order and orders memory.
        __builtin_amdgcn_fence(__ATOMIC_RELEASE, "wavefront");
        __builtin_amdgcn_wave_barrier();
        __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "wavefront");
#endif
    }

private:
    /// Broadcasts the leader's value, word by word.
    template <class T>
    __device__ T broadcast(T value) const {
        if constexpr (sizeof(T) < 4) {
            return static_cast<T>(broadcast(static_cast<std::uint32_t>(value)));
        } else {
            static_assert(sizeof(T) % 4 == 0);
            struct Words {
                std::uint32_t word[sizeof(T) / 4];
            };
            auto words = __builtin_bit_cast(Words, value);
            HEADRACE_UNROLL
            for (std::uint32_t& word : words.word) {
#if defined(__CUDACC__)
                word = __shfl_sync(all, word, 0);
#else
                // The leader is the first lane, and all lanes are here.
                // So the compiler also knows that the result is uniform.
                word = static_cast<std::uint32_t>(__builtin_amdgcn_readfirstlane(static_cast<int>(word)));
#endif
            }
            return __builtin_bit_cast(T, words);
        }
    }
};

} // namespace headrace::HEADRACE_ON_SIMT
