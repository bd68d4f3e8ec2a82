// domains/cluster/stepped_network.cpp - see stepped_network.hpp.
#include <headrace/core/error.hpp>
#include <headrace/internal/domains/cluster/stepped_network.hpp>

namespace headrace::cluster {

class SteppedNetwork::Connection final : public Transport {
public:
    Connection(SteppedNetwork& network, int rank) : network_(network), rank_(rank) {}

    [[nodiscard]] int rank() const noexcept override { return rank_; }
    [[nodiscard]] int ranks() const noexcept override { return network_.ranks_; }
    void send_shared(int to, std::shared_ptr<const Message> message) override {
        network_.send(rank_, to, Message(*message));
    }
    [[nodiscard]] std::optional<Received> receive(std::chrono::nanoseconds /*patience*/) override {
        return std::nullopt;
    }
    void wake() noexcept override {}
    void forget(int rank) override { network_.deliveries_.forget(rank, rank_); }

private:
    SteppedNetwork& network_;
    int rank_;
};

SteppedNetwork::SteppedNetwork(int ranks, const SimulatedDelays& delays)
    : ranks_(ranks), deliveries_(delays) {
    HEADRACE_ASSERT(ranks > 0);
}

void SteppedNetwork::send(int from, int to, Message message) {
    HEADRACE_ASSERT(from >= 0 && from < ranks_ && to >= 0 && to < ranks_);
    deliveries_.send(now_, from, to, std::move(message));
}

std::unique_ptr<Transport> SteppedNetwork::transport(int rank) {
    HEADRACE_ASSERT(rank >= 0 && rank < ranks_);
    return std::make_unique<Connection>(*this, rank);
}

void SteppedNetwork::lose(int rank) {
    HEADRACE_ASSERT(rank >= 0 && rank < ranks_);
    if (!deliveries_.lose(rank)) return;
    for (int to = 0; to < ranks_; ++to)
        if (to != rank) deliveries_.report_loss(now_, rank, to);
}

std::optional<std::pair<int, Received>> SteppedNetwork::step() {
    const std::optional<Time> next = deliveries_.next();
    if (!next) return std::nullopt;
    now_ = *next;
    return deliveries_.take();
}

void SteppedNetwork::advance(Time to) {
    HEADRACE_ASSERT(to >= now_ && (!next() || to <= *next()));
    now_ = to;
}

} // namespace headrace::cluster
