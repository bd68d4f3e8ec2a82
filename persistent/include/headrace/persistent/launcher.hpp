// persistent/launcher.hpp - how a kernel written once reaches every technology, type-erased on the way.
// Plain C++ declares `launcher`; only the units that headrace_add_kernels() generates define it, one per
// technology, so that a kernel forgotten for one is a link error and not a null at run time.
#pragma once
#include <headrace/core/device.hpp>
#include <headrace/core/export.hpp>
#include <headrace/persistent/kernel.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>

namespace headrace {

namespace technology {
struct Cpu {
    static constexpr const char* name = "cpu"; // as DeviceInfo::technology
};
struct Cuda {
    static constexpr const char* name = "cuda";
};
struct Hip {
    static constexpr const char* name = "hip";
};
} // namespace technology

struct EngineMemory; // persistent/detail/engine_memory.hpp: the queues' memory, as the engine hands it to a
                     // launch

/// What the engine must know of a kernel to lay out its queues.
struct EngineShape {
    std::uint32_t lanes = 1;       ///< in a lane group
    std::uint32_t groups = 1;      ///< lane groups in a launch: no more than can be resident at once
    std::uint32_t kinds = 0;       ///< of work unit; 0: a consumer, no queues at all
    std::uint32_t unit_words = 0;  ///< 32-bit words of the largest unit
    std::uint32_t max_spawns = 0;  ///< the largest over the kinds
    std::uint32_t ranges = 0;      ///< the kinds that are ranges: a bit for each
    std::uint32_t liq_units = 0;   ///< room in each kind's local inbox, per lane group: a power of two, or 0
    std::uint32_t enough = 0;      ///< groups refill when fewer lanes are active; 0: see HrControl
    std::uint32_t least_claim = 0; ///< seeds that a consumer's group claims at least; 0: one for each lane

    /// The most units that one call of the kernel may put into the local inbox.
    [[nodiscard]] constexpr std::uint32_t beyond_continuation() const {
        return kinds == 1 && max_spawns > 0 ? max_spawns - 1 : max_spawns;
    }
    friend bool operator==(const EngineShape&, const EngineShape&) = default;
};

/// What the user of an engine wants otherwise than the kernel's own choice; 0: no wish.
struct EngineWishes {
    std::uint32_t groups = 0;         ///< at most so many
    std::uint32_t liq_units = 0;      ///< a power of two
    std::uint32_t refill_percent = 0; ///< below which share of active lanes a lane group looks for more
    friend bool operator==(const EngineWishes&, const EngineWishes&) = default;
};

/// Room for each kind's local inbox: for what a whole group may spawn and as much again, within `local_bytes`
/// for all kinds together; more while that is cheap; `wish` overrides. Never less than what one lane may
/// spawn, or nothing could run.
[[nodiscard]] HEADRACE_EXPORT std::uint32_t choose_liq_units(const EngineShape& shape, std::uint32_t wish,
                                                             Bytes local_bytes);

/// A kernel with its views, and its seeds, ready to be enqueued any number of times on one device.
///
/// Both calls come from inside Stream::launch's body, `prepare` first and once.
class HEADRACE_EXPORT BoundKernel {
public:
    virtual ~BoundKernel() = default;
    /// Builds what must be built, and asks the driver how many groups can be resident.
    [[nodiscard]] virtual EngineShape prepare(const NativeStream& stream, const EngineWishes& wishes) = 0;
    /// The launch, with what the host says in memory.image before it, and what became of that there after it.
    virtual void enqueue(const NativeStream& stream, const EngineMemory& memory) = 0;
    /// True if a launch of this one does what one of `other` would. May miss it.
    [[nodiscard]] virtual bool is_same(const BoundKernel& /*other*/) const { return false; }

protected:
    /// An address that only objects of one class have; null: the class does not say. It stands in for
    /// dynamic_cast: kernels are compiled in programs, which may be without RTTI.
    [[nodiscard]] virtual const void* type() const noexcept { return nullptr; }
    [[nodiscard]] static const void* type_of(const BoundKernel& other) noexcept { return other.type(); }

    /// What a class returns as its `type`.
    template <class Own>
    static constexpr char type_mark = 0;
};

/// The bytes that a kernel and its seeds were bound as, what lies between their members included: views have
/// no operator to be compared with.
template <class Kernel, class Seeds>
class KernelImage {
public:
    KernelImage(const Kernel& kernel, const Seeds& seeds) {
        std::memcpy(bytes_.data(), &kernel, sizeof(Kernel));
        std::memcpy(bytes_.data() + sizeof(Kernel), &seeds, sizeof(Seeds));
    }
    friend bool operator==(const KernelImage&, const KernelImage&) = default;

private:
    std::array<std::byte, sizeof(Kernel) + sizeof(Seeds)> bytes_;
};

/// Binds one kernel type and one seeds type for one technology. Null (false): this build lacks the
/// technology.
struct Launcher {
    std::unique_ptr<BoundKernel> (*bind)(const void* kernel, std::size_t kernel_bytes, const void* seeds,
                                         std::size_t seeds_bytes) = nullptr;
    explicit operator bool() const noexcept { return bind != nullptr; }
};

/// In a namespace whose name the linker shows where a kernel was not registered.
inline namespace kernel_is_not_compiled_see_headrace_add_kernels {
template <class Technology, class Kernel, class Seeds>
Launcher launcher();
} // namespace kernel_is_not_compiled_see_headrace_add_kernels

} // namespace headrace
