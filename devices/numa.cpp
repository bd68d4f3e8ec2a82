// devices/numa.cpp - see numa.hpp. It makes the system calls directly: a library for three calls would be one
// more dependency.
#include <headrace/internal/devices/numa.hpp>

#include <fstream>
#include <vector>

#include <linux/mempolicy.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace headrace {
namespace {

/// NUMA nodes as the system calls take them.
class NodeMask {
public:
    explicit NodeMask(NumaRange nodes) : words_(nodes.last / word_bits + 1) {
        for (unsigned node = nodes.first; node <= nodes.last; ++node)
            words_[node / word_bits] |= 1UL << node % word_bits;
    }
    [[nodiscard]] const unsigned long* words() const { return words_.data(); }
    /// One more than the mask has: the system calls expect this by tradition.
    [[nodiscard]] unsigned long bits() const { return words_.size() * word_bits + 1; }

private:
    static constexpr unsigned word_bits = 8 * sizeof(unsigned long);
    std::vector<unsigned long> words_;
};

} // namespace

void bind_to_nodes(void* memory, Bytes size, NumaRange nodes) {
    const NodeMask mask(nodes);
    static_cast<void>(syscall(SYS_mbind, memory, size, MPOL_INTERLEAVE, mask.words(), mask.bits(), 0));
}

bool prefer_node(unsigned node) {
    const NodeMask mask({node, node});
    return syscall(SYS_set_mempolicy, MPOL_PREFERRED, mask.words(), mask.bits()) == 0;
}

OnNode::OnNode(std::optional<unsigned> node) {
    if (!node || syscall(SYS_get_mempolicy, &mode_, before_.data(), most_nodes, nullptr, 0) != 0) return;
    changed_ = mode_ == MPOL_DEFAULT && prefer_node(*node);
}

OnNode::~OnNode() {
    if (changed_) static_cast<void>(syscall(SYS_set_mempolicy, mode_, before_.data(), most_nodes));
}

std::optional<unsigned> node_of(std::string_view physical_id, const std::filesystem::path& bus) {
    constexpr std::string_view pci = "pci:";
    if (!physical_id.starts_with(pci)) return std::nullopt;
    std::ifstream file(bus / physical_id.substr(pci.size()) / "numa_node");
    int node = -1; // the system also reports -1 on machines with one node
    if (!(file >> node) || node < 0) return std::nullopt;
    return static_cast<unsigned>(node);
}

} // namespace headrace
