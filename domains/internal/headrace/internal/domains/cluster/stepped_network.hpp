// internal/domains/cluster/stepped_network.hpp - thousands of ranks on one thread, in virtual time. For tests
// and simulations.
#pragma once
#include <headrace/core/export.hpp>
#include <headrace/internal/domains/cluster/deliveries.hpp>
#include <headrace/internal/domains/cluster/transport.hpp>

#include <memory>
#include <optional>
#include <utility>

namespace headrace::cluster {

/// Connects ranks that are values, not threads. The caller takes one delivery after another and lets its
/// recipient react. Equal seeds and equal calls give equal deliveries.
///
/// Lifetime  outlives its transports
/// Threads   one
/// Cost      a message takes O(log n) time of the n that are under way
class HEADRACE_EXPORT SteppedNetwork {
public:
    using Time = Deliveries::Time; ///< since the network began

    explicit SteppedNetwork(int ranks, const SimulatedDelays& delays = {});
    SteppedNetwork(const SteppedNetwork&) = delete; // transports hold its address
    SteppedNetwork& operator=(const SteppedNetwork&) = delete;

    void send(int from, int to, Message message);
    /// For code that sends through the interface. Its `receive` returns nothing: `step` does instead.
    [[nodiscard]] std::unique_ptr<Transport> transport(int rank);
    /// `rank` receives nothing more, what it has sent may be lost (`Deliveries::lose`), and all others
    /// receive its loss.
    void lose(int rank);

    /// Advances the clock to the next delivery. Returns it with its recipient, or nothing if none is under
    /// way.
    [[nodiscard]] std::optional<std::pair<int, Received>> step();
    /// When the next `step` is.
    [[nodiscard]] std::optional<Time> next() const { return deliveries_.next(); }
    /// Advances the clock for an event of the caller, which must not be after the next delivery.
    void advance(Time to);
    [[nodiscard]] Time now() const noexcept { return now_; }

    [[nodiscard]] int ranks() const noexcept { return ranks_; }
    [[nodiscard]] const Traffic& traffic() const noexcept { return deliveries_.traffic(); }

private:
    class Connection;

    int ranks_;
    Time now_{};
    Deliveries deliveries_;
};

} // namespace headrace::cluster
