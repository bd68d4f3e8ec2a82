// persistent/group_kernel.hpp - kernels whose units a whole lane group processes together.
//
// The engine runs them as if the group were one wide lane: its queues then hold a unit for a group and not
// one for each lane, in bundles of one. What the kernel is called with is that one lane's handle: all lanes
// call it, and so must call everything that it offers, with the same arguments.
#pragma once
#include <headrace/persistent/sync.hpp>
#include <headrace/persistent/units.hpp>

namespace headrace {

/// A lane group of one lane, which all lanes of `Lanes` make up: what the engine's groups ask of a lane group
/// (lanes_host.hpp). Its values are uniform, every lane has its copy; the engine's queues get each word from
/// all lanes alike.
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
        const Mask mine = f(0u) ? 1 : 0; // of words that others write, each lane may have seen another value
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

/// Where all lanes are wanted, whatever the engine runs with.
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

/// What a group kernel sees: its lanes, and `spawn` if it has Units.
///
/// Lane values are PerLane<T>; code that differs by lane runs in each(f). See lanes_host.hpp for the calls.
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
    /// All lanes get f(0) + f(1) + ..., in an order that depends on their number alone.
    template <class F>
    HEADRACE_GROUP_CODE auto sum(F&& f) const {
        return lanes_.sum(f);
    }
    HEADRACE_GROUP_CODE void sync() const { lanes_.sync(); }

    /// The kernel's scratch_words(size) words, aligned to 16 bytes. A unit finds in it what the last one
    /// left.
    HEADRACE_GROUP_CODE std::uint32_t* scratch() const { return scratch_; }

private:
    Lanes lanes_;
    std::uint32_t* scratch_;
};

template <class Lanes, class Kernel>
inline constexpr std::uint32_t kernel_scratch = 0;
template <class Lanes, class Kernel>
inline constexpr std::uint32_t kernel_scratch<WideLanes<Lanes>, Kernel> = scratch_words<Kernel>(Lanes::size);

} // namespace headrace
