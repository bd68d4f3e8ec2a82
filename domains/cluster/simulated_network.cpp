// domains/cluster/simulated_network.cpp - see simulated_network.hpp.
#include <headrace/core/error.hpp>
#include <headrace/internal/domains/cluster/simulated_network.hpp>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <mutex>
#include <string>
#include <utility>

namespace headrace::cluster {

/// What one rank will receive. Order and delays concern one recipient, so that ranks share no lock.
struct SimulatedNetwork::Inbox {
    explicit Inbox(const SimulatedDelays& delays) : deliveries(delays) {}

    // Relaxed: a rank that knows its loss, from `receive`, sends nothing more. Locks order all else.
    std::atomic<bool> is_lost = false;
    std::mutex mutex; // guards what follows
    std::condition_variable changed;
    Deliveries deliveries;
    bool is_woken = false;
};

class SimulatedNetwork::Connection final : public Transport {
public:
    Connection(SimulatedNetwork& network, int rank)
        : network_(network), rank_(rank), inbox_(*network.inboxes_[static_cast<std::size_t>(rank)]) {}

    [[nodiscard]] int rank() const noexcept override { return rank_; }
    [[nodiscard]] int ranks() const noexcept override { return static_cast<int>(network_.inboxes_.size()); }

    void send_shared(int to, std::shared_ptr<const Message> message) override {
        HEADRACE_ASSERT(to >= 0 && to < ranks());
        if (inbox_.is_lost.load(std::memory_order_relaxed)) return;
        Inbox& inbox = *network_.inboxes_[static_cast<std::size_t>(to)];
        const std::scoped_lock lock(inbox.mutex);
        inbox.deliveries.send(network_.now(), rank_, to, Message(*message));
        inbox.changed.notify_one();
    }

    [[nodiscard]] std::optional<Received> receive(std::chrono::nanoseconds patience) override {
        constexpr std::chrono::nanoseconds longest = std::chrono::hours(24); // the clock must not overflow
        const Deliveries::Time end = network_.now() + std::min(patience, longest);
        std::unique_lock lock(inbox_.mutex);
        for (;;) {
            if (inbox_.is_lost.load(std::memory_order_relaxed))
                throw Error{ErrorKind::device, "rank " + std::to_string(rank_) + " is lost (simulated)"};
            const Deliveries::Time now = network_.now();
            const std::optional<Deliveries::Time> next = inbox_.deliveries.next();
            const bool has_message = next && *next <= now;
            if (has_message || inbox_.is_woken || now >= end) {
                inbox_.is_woken = false;
                if (!has_message) return std::nullopt;
                return inbox_.deliveries.take().second;
            }
            inbox_.changed.wait_until(lock, network_.begin_ + std::min(end, next.value_or(end)));
        }
    }

    void wake() noexcept override {
        const std::scoped_lock lock(inbox_.mutex);
        inbox_.is_woken = true;
        inbox_.changed.notify_one();
    }
    void forget(int rank) override {
        const std::scoped_lock lock(inbox_.mutex);
        inbox_.deliveries.forget(rank, rank_);
    }

private:
    SimulatedNetwork& network_;
    int rank_;
    Inbox& inbox_;
};

SimulatedNetwork::SimulatedNetwork(int ranks, const SimulatedDelays& delays) {
    HEADRACE_ASSERT(ranks > 0);
    for (int rank = 0; rank < ranks; ++rank) {
        SimulatedDelays own = delays;
        // The constant is odd, so ranks and seeds near each other give different numbers.
        own.seed = delays.seed + static_cast<std::uint64_t>(rank) * 0x9e3779b97f4a7c15;
        inboxes_.push_back(std::make_unique<Inbox>(own));
    }
}

SimulatedNetwork::~SimulatedNetwork() = default;

std::unique_ptr<Transport> SimulatedNetwork::transport(int rank) {
    HEADRACE_ASSERT(rank >= 0 && static_cast<std::size_t>(rank) < inboxes_.size());
    return std::make_unique<Connection>(*this, rank);
}

void SimulatedNetwork::lose(int rank, bool is_told) {
    HEADRACE_ASSERT(rank >= 0 && static_cast<std::size_t>(rank) < inboxes_.size());
    {
        Inbox& own = *inboxes_[static_cast<std::size_t>(rank)];
        const std::scoped_lock lock(own.mutex);
        if (!own.deliveries.lose(rank)) return;
        own.is_lost.store(true, std::memory_order_relaxed);
        own.changed.notify_one();
    }
    for (std::size_t to = 0; to < inboxes_.size(); ++to) {
        if (static_cast<int>(to) == rank) continue;
        Inbox& inbox = *inboxes_[to];
        const std::scoped_lock lock(inbox.mutex);
        inbox.deliveries.lose(rank);
        if (is_told) inbox.deliveries.report_loss(now(), rank, static_cast<int>(to));
        inbox.changed.notify_one();
    }
}

void SimulatedNetwork::cut(int a, int b) {
    for (const auto& [from, to] : {std::pair(a, b), std::pair(b, a)}) {
        Inbox& inbox = *inboxes_[static_cast<std::size_t>(to)];
        const std::scoped_lock lock(inbox.mutex);
        inbox.deliveries.forget(from, to);
    }
}

Traffic SimulatedNetwork::traffic() const {
    Traffic sum;
    for (const auto& inbox : inboxes_) {
        const std::scoped_lock lock(inbox->mutex);
        sum.messages += inbox->deliveries.traffic().messages;
        sum.bytes += inbox->deliveries.traffic().bytes;
    }
    return sum;
}

Deliveries::Time SimulatedNetwork::now() const { return std::chrono::steady_clock::now() - begin_; }

} // namespace headrace::cluster
