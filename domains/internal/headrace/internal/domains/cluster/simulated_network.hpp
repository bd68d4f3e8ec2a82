// internal/domains/cluster/simulated_network.hpp - ranks within one process, each with a thread. For tests.
// Virtual time, for thousands of ranks on one thread: stepped_network.hpp.
#pragma once
#include <headrace/core/export.hpp>
#include <headrace/internal/domains/cluster/deliveries.hpp>
#include <headrace/internal/domains/cluster/transport.hpp>

#include <chrono>
#include <memory>
#include <vector>

namespace headrace::cluster {

/// Connects ranks whose threads block in `receive`. Delays are real time.
///
/// Lifetime  outlives its transports
/// Threads   any
class HEADRACE_EXPORT SimulatedNetwork {
public:
    explicit SimulatedNetwork(int ranks, const SimulatedDelays& delays = {});
    ~SimulatedNetwork();
    SimulatedNetwork(const SimulatedNetwork&) = delete; // transports hold its address
    SimulatedNetwork& operator=(const SimulatedNetwork&) = delete;

    /// Once for each rank. Messages that are sent before wait. The end of a transport waits for no other
    /// rank.
    [[nodiscard]] std::unique_ptr<Transport> transport(int rank);
    /// `rank` ends at once, as if its process was killed. What it has sent may be lost (`Deliveries::lose`),
    /// all others receive its loss if `is_told`, and its own `receive` throws an Error (ErrorKind::device).
    void lose(int rank, bool is_told = true);
    /// Messages between the two ranks get lost from now on, without a word.
    void cut(int a, int b);
    [[nodiscard]] Traffic traffic() const;

private:
    class Connection;
    struct Inbox;

    [[nodiscard]] Deliveries::Time now() const;

    std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
    std::vector<std::unique_ptr<Inbox>> inboxes_; ///< one a rank
};

} // namespace headrace::cluster
