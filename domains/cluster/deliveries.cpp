// domains/cluster/deliveries.cpp - see deliveries.hpp.
#include <headrace/core/error.hpp>
#include <headrace/internal/domains/cluster/deliveries.hpp>

#include <algorithm>
#include <iterator>

namespace headrace::cluster {
namespace {

std::uint64_t key_of(int from, int to) {
    return std::uint64_t{static_cast<std::uint32_t>(from)} << 32 | static_cast<std::uint32_t>(to);
}

} // namespace

Deliveries::Deliveries(const SimulatedDelays& delays) : delays_(delays), random_(delays.seed) {
    if (delays.least_delay < Time::zero() || delays.most_delay < delays.least_delay)
        throw Error{ErrorKind::invalid_argument,
                    "delays of a simulated network: the least must not be negative, nor above the most"};
}

void Deliveries::send(Time now, int from, int to, Message message) {
    if (lost_.contains(from) || lost_.contains(to) || forgotten_.contains(key_of(from, to))) return;
    if (from != to) {
        ++traffic_.messages;
        traffic_.bytes += message.size();
    }
    add(now, to, {.from = from, .bytes = std::move(message)});
}

void Deliveries::report_loss(Time now, int lost, int to) {
    if (!lost_.contains(to)) add(now, to, {.from = lost, .is_loss = true});
}

void Deliveries::add(Time now, int to, Received received) {
    std::uniform_int_distribution<Time::rep> delay(delays_.least_delay.count(), delays_.most_delay.count());
    Pair& pair = pairs_[key_of(received.from, to)];
    pair.latest = std::max(now + Time(delay(random_)), pair.latest);
    ++pair.messages;
    sent_.emplace(Key{pair.latest, numbers_++}, Delivery{to, std::move(received)});
}

bool Deliveries::lose(int rank) {
    if (!lost_.insert(rank).second) return false;
    std::map<int, std::size_t> arriving; // ordered, so that a seed always loses the same messages
    for (const auto& [key, delivery] : sent_)
        if (delivery.received.from == rank) ++arriving[delivery.to];
    for (auto& [to, messages] : arriving)
        messages = std::uniform_int_distribution<std::size_t>(0, messages)(random_);

    const auto still_arrives = [&](const Delivery& delivery) {
        if (delivery.to == rank) return false;
        if (delivery.received.from != rank) return true;
        std::size_t& left = arriving[delivery.to];
        if (left == 0) return false;
        --left;
        return true;
    };
    for (auto sent = sent_.begin(); sent != sent_.end();)
        sent = still_arrives(sent->second) ? std::next(sent) : erase(sent);
    return true;
}

void Deliveries::forget(int from, int to) {
    forgotten_.insert(key_of(from, to));
    for (auto sent = sent_.begin(); sent != sent_.end();)
        sent = sent->second.to == to && sent->second.received.from == from ? erase(sent) : std::next(sent);
}

std::optional<Deliveries::Time> Deliveries::next() const {
    return sent_.empty() ? std::nullopt : std::optional(sent_.begin()->first.time);
}

std::pair<int, Received> Deliveries::take() {
    HEADRACE_ASSERT(!sent_.empty());
    const auto first = sent_.begin();
    std::pair<int, Received> taken{first->second.to, std::move(first->second.received)};
    erase(first);
    return taken;
}

Deliveries::Sent::iterator Deliveries::erase(Sent::iterator sent) {
    const auto pair = pairs_.find(key_of(sent->second.received.from, sent->second.to));
    if (--pair->second.messages == 0) pairs_.erase(pair);
    return sent_.erase(sent);
}

} // namespace headrace::cluster
