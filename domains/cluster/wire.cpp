// domains/cluster/wire.cpp - see wire.hpp.
#include <headrace/internal/domains/cluster/wire.hpp>

#include <algorithm>
#include <utility>

namespace headrace::cluster {
namespace {

using Nanoseconds = std::chrono::nanoseconds;

Nanoseconds now() { return std::chrono::steady_clock::now().time_since_epoch(); }

MessageCount& count_of(RankTraffic& traffic, Topic topic) {
    switch (topic) {
    case Topic::want:
    case Topic::grant:
    case Topic::batch:
    case Topic::credit:
    case Topic::close:
    case Topic::failure:
        return traffic.work;
    case Topic::replicas:
    case Topic::result:
        return traffic.results;
    case Topic::report:
    case Topic::reports:
        return traffic.exchanges;
    default:
        return traffic.other;
    }
}

} // namespace

class Wire::Watched final : public Transport {
public:
    Watched(Wire& wire, std::unique_ptr<Transport> transport)
        : wire_(wire), transport_(std::move(transport)) {}
    ~Watched() override { wire_.close(); }

    [[nodiscard]] int rank() const noexcept override { return transport_->rank(); }
    [[nodiscard]] int ranks() const noexcept override { return transport_->ranks(); }
    void send_shared(int to, std::shared_ptr<const Message> message) override {
        wire_.send_queued(*transport_); // a rank that says that it leaves has sent all before
        if (to != rank()) wire_.count(*message);
        transport_->send_shared(to, std::move(message));
    }
    [[nodiscard]] std::optional<Received> receive(Nanoseconds patience) override {
        for (;; patience = Nanoseconds(0)) {
            wire_.send_queued(*transport_);
            auto received = transport_->receive(patience);
            if (!received || !wire_.take(*transport_, *received)) return received;
        }
    }
    void wake() noexcept override { transport_->wake(); }
    void forget(int rank) override {
        wire_.lose(rank);
        transport_->forget(rank);
    }
    [[nodiscard]] std::vector<int> take_heard() override { return transport_->take_heard(); }
    void leave_out_of_order() noexcept override { transport_->leave_out_of_order(); }

private:
    Wire& wire_;
    std::unique_ptr<Transport> transport_;
};

std::unique_ptr<Transport> Wire::watch(std::unique_ptr<Transport> transport) {
    const std::scoped_lock lock(mutex_);
    transport_ = transport.get();
    rank_ = transport->rank();
    ranks_ = transport->ranks();
    return std::make_unique<Watched>(*this, std::move(transport));
}

void Wire::close() {
    const std::scoped_lock lock(mutex_);
    transport_ = nullptr;
    changed_.notify_all();
}

RankTraffic Wire::sent() const {
    const std::scoped_lock lock(mutex_);
    return sent_;
}

void Wire::need(std::uint64_t bytes) {
    const std::scoped_lock lock(mutex_);
    sent_.least_result_bytes += bytes;
}

std::vector<Message> Wire::gather(Message mine) {
    std::unique_lock lock(mutex_);
    const std::uint64_t round = next_round_++;
    if (rank_ != 0) {
        queued_.push_back(Writer(Topic::figures).put(round).put(mine).take());
        if (transport_ != nullptr) transport_->wake();
        return {};
    }
    std::map<int, Message>& all = gathered_[round];
    changed_.wait(lock, [&] {
        for (int rank = 1; rank < ranks_; ++rank)
            if (!all.contains(rank) && !missing_.contains(rank)) return transport_ == nullptr;
        return true;
    });
    std::vector<Message> found(static_cast<std::size_t>(ranks_));
    found[0] = std::move(mine);
    for (auto& [rank, message] : all) found[static_cast<std::size_t>(rank)] = std::move(message);
    gathered_.erase(round);
    return found;
}

void Wire::ping_first() {
    const std::scoped_lock lock(mutex_);
    if (rank_ == 0 || transport_ == nullptr) return;
    pings_.clear();
    pings_left_ = pings_of_reading;
    must_ping_ = true;
    transport_->wake();
}

std::optional<ClockReading> Wire::clock_reading(Nanoseconds patience) {
    std::unique_lock lock(mutex_);
    if (rank_ == 0) return ClockReading{now(), Nanoseconds(0), Nanoseconds(0)};
    changed_.wait_for(lock, patience,
                      [this] { return pings_left_ == 0 || transport_ == nullptr || missing_.contains(0); });
    return reading_of(pings_);
}

void Wire::count(const Message& message) {
    const std::scoped_lock lock(mutex_);
    MessageCount& count = count_of(sent_, Reader(message).get<Topic>());
    ++count.messages;
    count.bytes += message.size();
}

void Wire::send_queued(Transport& transport) {
    std::unique_lock lock(mutex_);
    std::vector<Message> messages = std::exchange(queued_, {});
    if (std::exchange(must_ping_, false)) {
        ping_sent_ = now();
        messages.push_back(Writer(Topic::ping).put(ping_sent_).take());
    }
    lock.unlock();
    for (Message& message : messages) {
        count(message);
        transport.send(0, std::move(message));
    }
}

void Wire::lose(int rank) {
    const std::scoped_lock lock(mutex_);
    missing_.insert(rank);
    changed_.notify_all();
}

bool Wire::take(Transport& transport, const Received& received) {
    if (received.is_loss) {
        lose(received.from);
        return false;
    }
    Reader message(received.bytes);
    switch (message.get<Topic>()) {
    case Topic::ping: {
        Message answer = Writer(Topic::pong).put(message.get<Nanoseconds>()).put(now()).take();
        count(answer);
        transport.send(received.from, std::move(answer));
        return true;
    }
    case Topic::pong: {
        const Nanoseconds returned = now();
        const auto sent = message.get<Nanoseconds>();
        const std::scoped_lock lock(mutex_);
        if (sent != ping_sent_ || pings_left_ == 0) return true; // of an earlier reading
        pings_.push_back({sent, returned, message.get<Nanoseconds>()});
        must_ping_ = --pings_left_ > 0;
        changed_.notify_all();
        return true;
    }
    case Topic::figures: {
        const auto round = message.get<std::uint64_t>();
        const auto bytes = message.bytes();
        const std::scoped_lock lock(mutex_);
        gathered_[round][received.from].assign(bytes.begin(), bytes.end());
        changed_.notify_all();
        return true;
    }
    case Topic::leaving:
        lose(received.from);
        return false;
    default:
        return false;
    }
}

} // namespace headrace::cluster
