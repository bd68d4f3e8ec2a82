// persistent/local_sums.hpp - sums that many lanes add to all the time, near them: the lower half of a 64-bit
// sum in local memory, its carries and at the end its rest in the sum itself. Nothing is rounded and nothing
// lost.
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

/// The local halves, shared by the lanes of a block on a GPU, a thread's own on a processor. Zero when a
/// launch begins and when it has ended.
struct LocalSums {
    static constexpr std::uint32_t least = 32; ///< words that there are on a GPU, whatever it asks for

    std::uint32_t* words = nullptr;
    /// Fewer than the kernel asks for where there is no room: others are added at once.
    std::uint32_t count = 0;

    /// `find` gives the sum's place, which is seldom asked for.
    template <class Find>
    HEADRACE_HOST_DEVICE void add(LocalSum sum, std::uint32_t amount, Find&& find) const {
        const bool is_near = sum.exists & (sum.number < count);
        const std::uint32_t near = is_near ? amount : 0, before = fetch_add_if(is_near, sum.number, near);
        // One branch, for what is seldom: a carry, or a sum that is not near.
        if ((before + near < before) | (!is_near & (amount != 0)))
            atomic_add(find(), is_near ? std::uint64_t{1} << 32 : std::uint64_t{amount});
    }
    template <class Find>
    HEADRACE_HOST_DEVICE void add(LocalSum sum, std::int32_t amount, Find&& find) const {
        add(sum, static_cast<std::uint32_t>(amount), find);
        if (amount < 0) atomic_add(find(), ~std::uint64_t{0} << 32); // the upper half of its complement
    }

    /// The rest of every `stride`-th sum from `first` on, when all lanes have added.
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
        // Else it adds nothing somewhere: to branch around an addition would take longer.
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
