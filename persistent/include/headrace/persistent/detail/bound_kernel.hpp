// persistent/detail/bound_kernel.hpp - what the bound kernels of host threads and of GPUs share.
#pragma once
#include <headrace/core/error.hpp>
#include <headrace/persistent/detail/inbox.hpp>
#include <headrace/persistent/detail/kernel_checks.hpp>
#include <headrace/persistent/launcher.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>

namespace headrace {

/// The bytes of a bound kernel and its seeds, including the padding
/// between members. Bytes are compared, because views have no operator==.
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

/// The shape of an engine's queues for the groups `Group` of `Kernel`, but for the number of groups.
/// `local_bytes`: of a group's LIQs.
template <class Group, class Kernel>
[[nodiscard]] EngineShape queue_shape(std::uint32_t lanes, const EngineWishes& wishes, Bytes local_bytes) {
    EngineShape shape;
    shape.lanes = lanes;
    shape.kinds = Group::kinds;
    shape.unit_words = Group::unit_words;
    shape.max_spawns = Group::max_spawns;
    shape.ranges = Group::ranges;
    shape.liq_units = choose_liq_units(shape, wishes.liq_units, local_bytes);
    shape.enough = enough_lanes_for<Kernel>(lanes, wishes.refill_percent);
    shape.inbox_units = inbox_units<Kernel>(lanes);
    shape.inbox_words = inbox_words<Kernel>();
    return shape;
}

/// The launcher of a technology that binds kernels as `Bound`. `Lanes`: its lanes.
template <class Bound, class Kernel, class Seeds, class Lanes>
[[nodiscard]] Launcher launcher_of() {
    if constexpr (!check_call<Kernel, Seeds, Lanes>())
        return {};
    else
        return {[](const void* kernel, std::size_t kernel_bytes, const void* seeds,
                   std::size_t seeds_bytes) -> std::unique_ptr<BoundKernel> {
            // The sizes detect a device compiler that lays out the structs differently.
            HEADRACE_ASSERT(kernel_bytes == sizeof(Kernel) && seeds_bytes == sizeof(Seeds));
            return std::make_unique<Bound>(*static_cast<const Kernel*>(kernel),
                                           *static_cast<const Seeds*>(seeds));
        }};
}

} // namespace headrace
