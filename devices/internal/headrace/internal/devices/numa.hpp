// internal/devices/numa.hpp - from which of the machine's NUMA nodes memory comes.
#pragma once
#include <headrace/core/device.hpp>
#include <headrace/core/export.hpp>
#include <headrace/internal/devices/settings.hpp>

#include <array>
#include <filesystem>
#include <optional>
#include <string_view>

namespace headrace {

/// Lets the pages of a memory come from these NUMA nodes, in turns; where the system cannot, they come from
/// where they are first touched. `memory` begins at a page.
HEADRACE_EXPORT void bind_to_nodes(void* memory, Bytes size, NumaRange nodes);

/// What the calling thread allocates from now on, and what threads that it starts do, comes from that NUMA
/// node while it has room. False: there is no such node, or the system cannot.
[[nodiscard]] HEADRACE_EXPORT bool prefer_node(unsigned node);

/// The same for as long as it lives; then it is as before. Nothing changes without a node, or where the
/// thread has a preference already: somebody asked for that.
class HEADRACE_EXPORT OnNode {
public:
    explicit OnNode(std::optional<unsigned> node);
    ~OnNode();
    OnNode(const OnNode&) = delete; // it undoes what it did, in its thread
    OnNode& operator=(const OnNode&) = delete;

private:
    static constexpr unsigned most_nodes = 1024; // the kernel's own limit
    int mode_ = 0;
    std::array<unsigned long, most_nodes / (8 * sizeof(unsigned long))> before_{};
    bool changed_ = false;
};

/// The node to whose processors a device on the bus is nearest, by its physical_id ("pci:0000:1b:00.0").
/// Nothing if the machine has but one, or does not say.
[[nodiscard]] HEADRACE_EXPORT std::optional<unsigned>
node_of(std::string_view physical_id, const std::filesystem::path& bus = "/sys/bus/pci/devices");

} // namespace headrace
