// tests/domains/cluster/numbered.hpp - messages with their sender, their recipient and their number.
#pragma once
#include <headrace/internal/domains/cluster/transport.hpp>

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <random>
#include <utility>

namespace headrace::test {

/// Message `number` from one rank to another. Its bytes and their number follow from that; some have none.
inline cluster::Message numbered(int from, int to, int number) {
    std::mt19937 random(static_cast<std::uint32_t>((from * 1009 + to) * 1009 + number));
    cluster::Message bytes(number % 5 == 0 ? 0 : random() % 200);
    for (std::byte& byte : bytes) byte = static_cast<std::byte>(random());
    return bytes;
}

/// What one rank has received. It expects messages of each rank in their order, one loss, and nothing after
/// it.
class Received {
public:
    explicit Received(int rank) : rank_(rank) {}

    void add(const cluster::Received& received) {
        From& from = from_[received.from];
        EXPECT_FALSE(from.is_lost) << "rank " << rank_ << " receives something of rank " << received.from
                                   << " after its loss";
        if (received.is_loss)
            from.is_lost = true;
        else
            EXPECT_EQ(received.bytes, numbered(received.from, rank_, from.messages++))
                << "of rank " << received.from;
    }
    [[nodiscard]] int messages(int from) const { return of(from).messages; }
    [[nodiscard]] bool is_lost(int from) const { return of(from).is_lost; }

private:
    struct From {
        int messages = 0;
        bool is_lost = false;
    };
    [[nodiscard]] From of(int from) const {
        const auto found = from_.find(from);
        return found == from_.end() ? From{} : found->second;
    }

    int rank_;
    std::map<int, From> from_;
};

} // namespace headrace::test
