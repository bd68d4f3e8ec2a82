// persistent/group_kernel.hpp - kernels that process each unit with all lanes of a lane group together.
//
// The engine runs them as if the group were one wide lane. The queues then hold one unit for a group, not one
// for each lane, in bundles of one. The kernel gets the handle of this one lane. All lanes call the kernel,
// and all lanes must call each function of the handle, with the same arguments.
#pragma once
#include <headrace/persistent/sync.hpp>
#include <headrace/persistent/units.hpp>

namespace headrace {

/// A lane group of one wide lane, which consists of all lanes of `Lanes`. It has
/// the functions of a lane group (lanes_host.hpp). Its values are uniform, and
/// every lane has a copy. All lanes write the same words to the engine's queues.
template <class Lanes>
struct WideLanes {
    static constexpr std::uint32_t size = 1;
    using Mask = std::uint32_t;
    using Narrow = Lanes;

    template <class T>
    struct PerLane {
        T value;
        HEADRACE_GROUP_CODE T& operator[](std::uint32_t) { return value; }
    };

    static constexpr Mask all = 1;
    static HEADRACE_GROUP_CODE std::uint32_t count(Mask mask) { return mask; }
    static HEADRACE_GROUP_CODE bool has(Mask mask, std::uint32_t lane) { return (mask >> lane & 1) != 0; }
    static HEADRACE_GROUP_CODE std::uint32_t count_below(Mask, std::uint32_t) { return 0; }

    template <class F>
    HEADRACE_GROUP_CODE void each(F&& f) const {
        f(0u);
    }
    template <class F>
    HEADRACE_GROUP_CODE Mask ballot(F&& f) const {
        const Mask mine = f(0u) ? 1 : 0; // lanes may see different values of words that change
        return lanes.by_leader([&] { return mine; });
    }
    template <class F>
    HEADRACE_GROUP_CODE auto by_leader(F&& f) const {
        return lanes.by_leader(f);
    }
    HEADRACE_GROUP_CODE void sync() const { lanes.sync(); }

    Lanes lanes;
};

template <class Lanes>
inline constexpr bool is_wide = false;
template <class Lanes>
inline constexpr bool is_wide<WideLanes<Lanes>> = true;

/// The real lanes, even if the engine runs with one wide lane.
template <class Lanes>
HEADRACE_GROUP_CODE auto real_lanes(const Lanes& lanes) {
    if constexpr (is_wide<Lanes>)
        return lanes.lanes;
    else
        return lanes;
}

/// The lane group that the engine runs `Kernel` with.
template <class Lanes, class Kernel>
using LanesFor = std::conditional_t<GroupKernel<Kernel>, WideLanes<Lanes>, Lanes>;

/// The handle of a group kernel: its lanes, and `spawn` if the kernel has Units.
///
/// A value of each lane is a PerLane<T>. Code that differs by lane runs in each(f): see lanes_host.hpp.
template <class Lanes, class Spawner>
class KernelGroup : public Spawner {
public:
    static constexpr std::uint32_t size = Lanes::size; ///< lanes: 16, 32 or 64
    using Mask = typename Lanes::Mask;
    template <class T>
    using PerLane = typename Lanes::template PerLane<T>;

    HEADRACE_GROUP_CODE KernelGroup(Lanes lanes, Spawner spawner, std::uint32_t* scratch)
        : Spawner(spawner), lanes_(lanes), scratch_(scratch) {}

    static HEADRACE_GROUP_CODE std::uint32_t count(Mask mask) { return Lanes::count(mask); }
    static HEADRACE_GROUP_CODE bool has(Mask mask, std::uint32_t lane) { return Lanes::has(mask, lane); }
    static HEADRACE_GROUP_CODE std::uint32_t count_below(Mask mask, std::uint32_t lane) {
        return count(mask & ((Mask{1} << lane) - 1));
    }
    template <class F>
    HEADRACE_GROUP_CODE void each(F&& f) const {
        lanes_.each(f);
    }
    template <class F>
    HEADRACE_GROUP_CODE Mask ballot(F&& f) const {
        return lanes_.ballot(f);
    }
    template <class F>
    HEADRACE_GROUP_CODE auto by_leader(F&& f) const {
        return lanes_.by_leader(f);
    }
    /// All lanes get f(0) + f(1) + .... The order of additions depends on the number of lanes alone.
    template <class F>
    HEADRACE_GROUP_CODE auto sum(F&& f) const {
        return lanes_.sum(f);
    }
    HEADRACE_GROUP_CODE void sync() const { lanes_.sync(); }

    /// The kernel's scratch_words(size) words, aligned to 16 bytes.
    /// They keep their values from one unit to the next unit.
    HEADRACE_GROUP_CODE std::uint32_t* scratch() const {
#if defined(__CUDA_ARCH__)
        // A kernel that is not inlined cannot know that this is shared memory. There and back, by an
        // instruction that the compiler cannot remove, it does.
        std::size_t offset;
        asm("cvta.to.shared.u64 %0, %1;" : "=l"(offset) : "l"(scratch_));
        return static_cast<std::uint32_t*>(__cvta_shared_to_generic(offset));
#else
        return scratch_;
#endif
    }

private:
    Lanes lanes_;
    std::uint32_t* scratch_;
};

template <class Lanes, class Kernel>
inline constexpr std::uint32_t kernel_scratch = 0;
template <class Lanes, class Kernel>
inline constexpr std::uint32_t kernel_scratch<WideLanes<Lanes>, Kernel> = scratch_words<Kernel>(Lanes::size);

} // namespace headrace
