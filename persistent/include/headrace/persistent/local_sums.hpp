// persistent/local_sums.hpp - 64-bit sums to which many lanes add often. The lower half of a sum is in local
// memory. Its carries go to the sum in memory at once, and the half itself at the end. Results are exact: no
// rounding, no loss.
#pragma once
#include <headrace/persistent/atomics.hpp>
#include <headrace/persistent/kernel.hpp>

namespace headrace {

/// A kernel with local sums: see kernel.hpp.
template <class Kernel>
concept KeepsLocalSums = requires(const Kernel& kernel) {
    static_cast<std::uint32_t>(kernel.local_sums());
    static_cast<std::uint64_t&>(kernel.sum_of(0u));
};

/// The local halves. On a GPU the lanes of a block share them; on a CPU each thread has its own. They are
/// zero before a launch and after it.
struct LocalSums {
    static constexpr std::uint32_t least = 32; ///< words that a block of a GPU has at least

    std::uint32_t* words = nullptr;
    /// Fewer than the kernel asks for if memory is short. Other amounts go to memory at once.
    std::uint32_t count = 0;

    /// `find` returns the sum in memory. It is seldom called.
    template <class Find>
    HEADRACE_HOST_DEVICE void add(LocalSum sum, std::uint32_t amount, Find&& find) const {
        const bool is_near = sum.exists & (sum.number < count);
        const std::uint32_t near = is_near ? amount : 0, before = fetch_add_if(is_near, sum.number, near);
        // One branch for the rare cases: a carry, or a sum that is not local.
        if ((before + near < before) | (!is_near & (amount != 0)))
            atomic_add(find(), is_near ? std::uint64_t{1} << 32 : std::uint64_t{amount});
    }
    template <class Find>
    HEADRACE_HOST_DEVICE void add(LocalSum sum, std::int32_t amount, Find&& find) const {
        add(sum, static_cast<std::uint32_t>(amount), find);
        if (amount < 0) atomic_add(find(), ~std::uint64_t{0} << 32); // -2^32, in two's complement
    }

    /// Moves the local half of every `stride`-th sum from `first` on to memory, when all lanes have added.
    template <class Kernel>
    HEADRACE_HOST_DEVICE void hand_over(const Kernel& kernel, std::uint32_t first,
                                        std::uint32_t stride) const {
        for (std::uint32_t sum = first; sum < count; sum += stride) {
            if (words[sum] != 0) atomic_add(kernel.sum_of(sum), std::uint64_t{words[sum]});
            words[sum] = 0;
        }
    }

private:
    HEADRACE_HOST_DEVICE std::uint32_t fetch_add_if(bool does, std::uint32_t sum,
                                                    std::uint32_t amount) const {
#if defined(__CUDA_ARCH__) || defined(__HIP_DEVICE_COMPILE__)
        // If `does` is false, this adds 0 to some word. A branch around the addition would take longer.
        return ::atomicAdd(words + (does ? sum : threadIdx.x % least), amount);
#else
        if (!does) return 0;
        const std::uint32_t before = words[sum];
        words[sum] = before + amount;
        return before;
#endif
    }
};

} // namespace headrace
