// internal/domains/cluster/deliveries.hpp - messages on their way, with random delays. For tests and
// simulations.
#pragma once
#include <headrace/core/export.hpp>
#include <headrace/internal/domains/cluster/transport.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <random>
#include <unordered_map>
#include <unordered_set>
#include <utility>

namespace headrace::cluster {

/// How a simulated network behaves. Each message has its own delay, between the least and the most.
struct SimulatedDelays {
    std::uint64_t seed = 1;
    std::chrono::nanoseconds least_delay{0};
    std::chrono::nanoseconds most_delay{0};
};

/// What ranks have sent to other ranks. Messages from or to a lost rank are not counted.
struct Traffic {
    std::uint64_t messages = 0;
    std::uint64_t bytes = 0;
};

/// The messages that are sent and not yet received. It knows no clock: callers say the time.
///
/// Messages from one rank to another keep their order. Their delays decide any other order.
///
/// Threads   one at a time
class HEADRACE_EXPORT Deliveries {
public:
    using Time = std::chrono::nanoseconds; ///< since some beginning

    explicit Deliveries(const SimulatedDelays& delays);

    /// A message from or to a lost rank is dropped.
    void send(Time now, int from, int to, Message message);
    /// Drops all messages to `rank`. Of its messages to another rank a random number, the last ones, is lost.
    /// False if it was lost before.
    bool lose(int rank);
    /// Tells `to` that `lost` is lost, after the messages of `lost` that still arrive.
    void report_loss(Time now, int lost, int to);

    /// Drops all messages from one rank to another, also later ones.
    void forget(int from, int to);

    /// When the next message arrives.
    [[nodiscard]] std::optional<Time> next() const;
    /// The next message, and the rank that gets it. Needs a message on its way.
    [[nodiscard]] std::pair<int, Received> take();

    [[nodiscard]] const Traffic& traffic() const noexcept { return traffic_; }

private:
    struct Key {
        Time time;
        std::uint64_t number; ///< of two messages at one time, the earlier one was sent first
        friend auto operator<=>(const Key&, const Key&) = default;
    };
    struct Delivery {
        int to = 0;
        Received received;
    };
    /// From one rank to another; kept while messages are under way.
    struct Pair {
        Time latest{};
        std::size_t messages = 0;
    };
    using Sent = std::map<Key, Delivery>;

    void add(Time now, int to, Received received);
    Sent::iterator erase(Sent::iterator sent);

    SimulatedDelays delays_;
    std::mt19937_64 random_;
    Sent sent_;
    std::uint64_t numbers_ = 0;
    std::unordered_map<std::uint64_t, Pair> pairs_;
    std::unordered_set<int> lost_;
    std::unordered_set<std::uint64_t> forgotten_; ///< pairs
    Traffic traffic_;
};

} // namespace headrace::cluster
