// internal/domains/cluster/wire.hpp - what a rank sends beside its work: it counts messages, compares clocks,
// and passes figures and traces to rank 0. Internal to domains/.
#pragma once
#include <headrace/core/export.hpp>
#include <headrace/domains/cluster/traffic.hpp>
#include <headrace/internal/domains/cluster/clock_offset.hpp>
#include <headrace/internal/domains/cluster/message.hpp>
#include <headrace/internal/domains/cluster/transport.hpp>

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <vector>

namespace headrace::cluster {

/// Lies between a Node and its transport. The node does not see the messages of the wire itself, and the wire
/// needs no agreement between ranks: a rank that is lost, has left or fails is missing.
///
/// Lifetime  outlives what `watch` returns
/// Threads   any
class HEADRACE_EXPORT Wire {
public:
    Wire() = default;
    Wire(const Wire&) = delete; // a transport holds its address
    Wire& operator=(const Wire&) = delete;

    /// The same transport, watched. To be called once, by the thread that uses it. Then all else works.
    [[nodiscard]] std::unique_ptr<Transport> watch(std::unique_ptr<Transport> transport);

    /// What this rank has sent so far. Its rank and host are those that the caller fills in.
    [[nodiscard]] RankTraffic sent() const;
    /// Counts as RankTraffic::least_result_bytes.
    void need(std::uint64_t bytes);

    /// On rank 0, waits, and returns what each rank has passed, by rank; empty for one that is missing. On
    /// another rank, sends, and returns nothing at once. All ranks call it in the same order.
    [[nodiscard]] std::vector<Message> gather(Message mine);

    /// Sends some pings to rank 0, one after the other. Does not wait for them.
    void ping_first();
    /// Waits for the answers, for so long at most. Nothing: there was none. On rank 0, the offset is 0.
    [[nodiscard]] std::optional<ClockReading> clock_reading(std::chrono::nanoseconds patience);

private:
    class Watched;

    static constexpr int pings_of_reading = 8;

    // Called by the thread of the transport:
    void close();
    void count(const Message& message);
    void send_queued(Transport& transport);
    void lose(int rank);
    /// True: the message is for the wire alone.
    [[nodiscard]] bool take(Transport& transport, const Received& received);

    mutable std::mutex mutex_; // guards what follows
    std::condition_variable changed_;
    Transport* transport_ = nullptr; ///< null: not there yet, or not any more
    int rank_ = 0, ranks_ = 1;
    RankTraffic sent_;
    std::set<int> missing_; ///< ranks that are lost or have left
    std::uint64_t next_round_ = 0;
    std::vector<Message> queued_;                                   ///< to rank 0
    std::map<std::uint64_t, std::map<int, Message>> gathered_ = {}; ///< by round and rank
    int pings_left_ = 0; ///< of this reading, with the one under way
    bool must_ping_ = false;
    std::chrono::nanoseconds ping_sent_{0};
    std::vector<Ping> pings_;
};

} // namespace headrace::cluster
