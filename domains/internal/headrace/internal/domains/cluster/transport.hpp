// internal/domains/cluster/transport.hpp - messages between the processes of a cluster. Internal to domains/.
//
// Two kinds exist: MPI (mpi_module.hpp, a module that is loaded on demand), and ranks within one process
// (simulated_network.hpp, stepped_network.hpp), with delays, reordering and losses, for tests.
#pragma once
#include <headrace/core/export.hpp>

#include <chrono>
#include <cstddef>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

namespace headrace::cluster {

using Message = std::vector<std::byte>;

/// What a rank has received. If `is_loss`, it is not a message: rank `from` is lost, and none of its
/// messages follows.
struct Received {
    int from = 0;
    Message bytes = {};
    bool is_loss = false;
};

/// The connections of one rank to all ranks. Messages have any size. Messages from one rank to another
/// arrive in the order in which they were sent.
///
/// Threads   `wake` any; all else one thread, the same for the whole life of the object
/// Errors    Error (ErrorKind::device) if the transport itself fails
class HEADRACE_EXPORT Transport {
public:
    Transport(const Transport&) = delete;
    Transport& operator=(const Transport&) = delete;
    /// Of a rank that ends in order: all that it has sent is delivered before. The ranks end together, or
    /// soon after each other if one is lost.
    virtual ~Transport() = default;

    [[nodiscard]] virtual int rank() const noexcept = 0;
    [[nodiscard]] virtual int ranks() const noexcept = 0; ///< their number
    /// Enqueues the message. Never waits for the recipient. A message to a lost rank, or to this one's own,
    /// is legal: the first is dropped, the second is received like any other.
    virtual void send_shared(int to, std::shared_ptr<const Message> message) = 0;
    void send(int to, Message message) {
        send_shared(to, std::make_shared<const Message>(std::move(message)));
    }
    /// The next message or loss. Waits at most so long for one, and less if `wake` is called meanwhile, or
    /// was called since the last `receive` ended. Delivers what was sent in the meantime.
    [[nodiscard]] virtual std::optional<Received> receive(std::chrono::nanoseconds patience) = 0;
    /// Ends a waiting `receive` early.
    virtual void wake() noexcept = 0;
    /// Ranks from which something has come since the last call, also parts of a message that is not complete.
    [[nodiscard]] virtual std::vector<int> take_heard() { return {}; }
    /// That rank is lost: the caller knows it from others. From now on, nothing is sent to it or received
    /// from it.
    virtual void forget(int rank) = 0;
    /// This rank will end without the others, because it has failed: its end waits for none of them.
    virtual void leave_out_of_order() noexcept {}

protected:
    Transport() = default;
};

} // namespace headrace::cluster
