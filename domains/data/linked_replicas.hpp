// domains/data/linked_replicas.hpp - joins on the devices what they have scattered, and brings it to the host
// piece by piece. Internal to domains/.
#pragma once
#include <headrace/core/export.hpp>
#include <headrace/domains/detail/joining.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace headrace {

/// Private replicas of linked devices (`LinkedDevices`), as if they were one.
///
/// One member after the other has the next piece. It gets the piece as it was before, takes up in its own
/// memory what the others have changed, reading them over the link, and sends it to the host. So each bus
/// carries one share of the domain in each direction, and no device keeps the domain as it was. Two pieces
/// of each member are on their way: while one is taken up, the other one moves.
///
/// Threads: one at a time; any may use what `read` returned. The replicas outlive this object; their
/// contents are mixed from the first `fetch` on.
class HEADRACE_EXPORT LinkedReplicas {
public:
    /// At least two `members`. `most`: size of the largest piece in bytes. Errors: out_of_memory, if a device
    /// or the host has no room for two pieces.
    LinkedReplicas(std::vector<const Replica*> members, Bytes most, Bytes element);
    ~LinkedReplicas();
    LinkedReplicas(const LinkedReplicas&) = delete; // requests hold addresses of its buffers
    LinkedReplicas& operator=(const LinkedReplicas&) = delete;

    /// So many pieces are on their way.
    [[nodiscard]] std::size_t ahead() const noexcept { return buffers_.size(); }
    /// Starts to fetch piece `number`, bytes [begin, begin + bytes) of the domain. `before`: the same bytes
    /// of the domain as it was, on the host; they stay until `read`.
    void fetch(std::size_t number, Bytes begin, Bytes bytes, const std::byte* before);
    /// Blocks until the piece has come. It stays until piece `number` + `ahead()` is fetched. Errors: the
    /// devices'.
    [[nodiscard]] const std::byte* read(std::size_t number) const;
    /// The least element of all pieces that two members have changed, into different bytes; or `no_conflict`.
    /// Blocks.
    [[nodiscard]] std::uint64_t conflict() const;

private:
    struct Buffer {
        const Replica* member;
        std::unique_ptr<Memory> before, conflict; ///< the piece as it was; a number
        std::shared_ptr<void> on_host;
        Event came;
        std::unique_ptr<Stream> stream; ///< the last: its requests end before memory goes
    };
    const std::vector<const Replica*> members_;
    const Bytes element_;
    std::vector<Buffer> buffers_;
};

} // namespace headrace
