// internal/devices/numa.hpp - chooses the NUMA nodes that memory comes from.
#pragma once
#include <headrace/core/device.hpp>
#include <headrace/core/export.hpp>
#include <headrace/internal/devices/settings.hpp>

#include <array>
#include <filesystem>
#include <optional>
#include <string_view>

namespace headrace {

/// Takes the pages of `memory` from these NUMA nodes in turn. If the system cannot do that, each page comes
/// from the node where it is first touched. `memory` must begin at a page.
HEADRACE_EXPORT void bind_to_nodes(void* memory, Bytes size, NumaRange nodes);

/// Prefers that NUMA node for all later allocations of the calling thread and of threads that it starts
/// later, while the node has room. False: there is no such node, or the system cannot do that.
[[nodiscard]] HEADRACE_EXPORT bool prefer_node(unsigned node);

/// Calls `prefer_node` and in its destructor restores the previous state. Changes nothing without a node, or
/// if the thread already has a preference, because that preference is intended.
class HEADRACE_EXPORT OnNode {
public:
    explicit OnNode(std::optional<unsigned> node);
    ~OnNode();
    OnNode(const OnNode&) = delete; // the destructor restores the state of its own thread
    OnNode& operator=(const OnNode&) = delete;

private:
    static constexpr unsigned most_nodes = 1024; // the limit of the Linux kernel
    int mode_ = 0;
    std::array<unsigned long, most_nodes / (8 * sizeof(unsigned long))> before_{};
    bool changed_ = false;
};

/// The NUMA node nearest to a device on the bus, by the device's `physical_id` ("pci:0000:1b:00.0"). Empty if
/// the machine has only one node or does not report it.
[[nodiscard]] HEADRACE_EXPORT std::optional<unsigned>
node_of(std::string_view physical_id, const std::filesystem::path& bus = "/sys/bus/pci/devices");

} // namespace headrace
