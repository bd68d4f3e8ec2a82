// persistent/launcher.hpp - a kernel of the engine with its type erased, as each technology's unit makes it.
#pragma once
#include <headrace/core/device.hpp>
#include <headrace/core/export.hpp>
#include <headrace/devices/kernels/registry.hpp>
#include <headrace/persistent/kernel.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>

namespace headrace {

struct EngineMemory; // persistent/detail/engine_memory.hpp: the memory of the queues, as a launch gets it
                     // from the engine

/// What the engine must know about a kernel to lay out its queues.
struct EngineShape {
    std::uint32_t lanes = 1;       ///< in a lane group
    std::uint32_t groups = 1;      ///< lane groups in a launch: no more than can be resident at once
    std::uint32_t kinds = 0;       ///< of work unit; 0: a consumer, without queues
    std::uint32_t unit_words = 0;  ///< 32-bit words of the largest unit
    std::uint32_t max_spawns = 0;  ///< the largest of all kinds
    std::uint32_t ranges = 0;      ///< the kinds that are ranges: one bit for each
    std::uint32_t liq_units = 0;   ///< room in each kind's LIQ, per lane group: a power of two, or 0
    std::uint32_t inbox_units = 0; ///< room in a lane group's inbox: see detail/inbox.hpp
    std::uint32_t inbox_words = 0; ///< 32-bit words of a unit there, with its walk's result
    std::uint32_t enough = 0;      ///< groups refill when fewer lanes are active; 0: see HrControl
    std::uint32_t least_claim = 0; ///< fewest seeds that a consumer's group claims; 0: one for each lane

    /// The most units that one call of the kernel may put into the LIQ (local inbox queue).
    [[nodiscard]] constexpr std::uint32_t beyond_continuation() const {
        return kinds == 1 && max_spawns > 0 ? max_spawns - 1 : max_spawns;
    }
    friend bool operator==(const EngineShape&, const EngineShape&) = default;
};

/// What the user of an engine sets instead of the kernel's own choice. 0: not set.
struct EngineWishes {
    std::uint32_t groups = 0;         ///< most lane groups of a launch
    std::uint32_t liq_units = 0;      ///< room in each kind's LIQ: a power of two
    std::uint32_t refill_percent = 0; ///< a lane group refills below this percentage of active lanes
    friend bool operator==(const EngineWishes&, const EngineWishes&) = default;
};

/// Chooses the room of each kind's LIQ. It fits what a whole group may spawn and one unit per lane, within
/// `local_bytes` for all kinds together, and grows up to a third of `local_bytes`. `wish` overrides it. It is
/// never less than what one call may spawn, so that every unit can run.
[[nodiscard]] HEADRACE_EXPORT std::uint32_t choose_liq_units(const EngineShape& shape, std::uint32_t wish,
                                                             Bytes local_bytes);

/// A kernel with its views and its seeds. It can be enqueued any number of times on one device.
///
/// Both calls come from the body of Stream::launch. `prepare` comes first, and once.
class HEADRACE_EXPORT BoundKernel {
public:
    virtual ~BoundKernel() = default;
    /// Builds the kernel if necessary, and asks the driver how many groups can be resident.
    [[nodiscard]] virtual EngineShape prepare(const NativeStream& stream, const EngineWishes& wishes) = 0;
    /// Enqueues the launch. Copies memory.image to the control block before it, and the block back after it.
    virtual void enqueue(const NativeStream& stream, const EngineMemory& memory) = 0;
    /// True if a launch of this kernel does the same as one of `other`. May be false although it does.
    [[nodiscard]] virtual bool is_same(const BoundKernel& /*other*/) const { return false; }

protected:
    /// An address that is unique to one class; null: the class does not say. It replaces dynamic_cast,
    /// because programs compile kernels and may do that without RTTI.
    [[nodiscard]] virtual const void* type() const noexcept { return nullptr; }
    [[nodiscard]] static const void* type_of(const BoundKernel& other) noexcept { return other.type(); }

    /// A class returns the address of this as its `type`.
    template <class Own>
    static constexpr char type_mark = 0;
};

/// Binds one kernel type and one seeds type for one technology.
/// If it is null (false), this build lacks the technology.
struct Launcher {
    std::unique_ptr<BoundKernel> (*bind)(const void* kernel, std::size_t kernel_bytes, const void* seeds,
                                         std::size_t seeds_bytes) = nullptr;
    explicit operator bool() const noexcept { return bind != nullptr; }
};

/// The form of a kernel of the engine: see registry.hpp.
template <class Kernel, class Seeds>
struct EngineKernel {
    using Compiled = Launcher;
};

/// The launcher that headrace_add_kernels() compiled for a technology.
template <class Technology, class Kernel, class Seeds>
[[nodiscard]] Launcher launcher() {
    return compiled_for<Technology, EngineKernel<Kernel, Seeds>>();
}

} // namespace headrace
