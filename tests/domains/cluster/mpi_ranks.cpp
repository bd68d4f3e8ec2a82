// tests/domains/cluster/mpi_ranks.cpp - one rank of a test of the MPI transport; mpirun starts several.
// Exit code 0 and a line of rank 0 if all is right. Each rank says what is wrong.
#include <headrace/core/error.hpp>
#include <headrace/domains/cluster/session.hpp>
#include <headrace/internal/domains/cluster/mpi_module.hpp>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <deque>
#include <optional>
#include <random>
#include <string>
#include <thread>
#include <vector>

namespace headrace::test {
namespace {

using cluster::Message, cluster::Received, cluster::Transport;
using Clock = std::chrono::steady_clock;

constexpr std::size_t most_bytes_of_part = 100'000; // so that messages have up to 50 parts
constexpr int messages_to_each = 40;

[[noreturn]] void fail(const std::string& what) { throw Error{ErrorKind::internal, what}; }

/// The bytes of a message, and their number, follow from its sender, its recipient and its number.
Message message_of(int from, int to, int number) {
    std::mt19937_64 random(static_cast<std::uint64_t>(from) << 40 | static_cast<std::uint64_t>(to) << 20 |
                           static_cast<std::uint64_t>(number));
    // Most are small; every tenth has up to 5 MB, and the first none.
    const std::size_t most = number == 0 ? 0 : number % 10 == 5 ? 5'000'000 : 3000;
    Message bytes(std::uniform_int_distribution<std::size_t>(0, most)(random));
    for (std::size_t begin = 0; begin < bytes.size(); begin += sizeof(std::uint64_t)) {
        const std::uint64_t word = random();
        std::memcpy(bytes.data() + begin, &word, std::min(sizeof word, bytes.size() - begin));
    }
    return bytes;
}

/// Receives messages of a certain rank. Ranks are not equally far, so that those of others may come before.
class Mail {
public:
    explicit Mail(Transport& transport)
        : transport_(transport), kept_(static_cast<std::size_t>(transport.ranks())) {}

    Message next_of(int from) {
        std::deque<Message>& of_this = kept_[static_cast<std::size_t>(from)];
        const auto end = Clock::now() + std::chrono::seconds(40);
        while (of_this.empty()) {
            if (Clock::now() > end) fail("no message of rank " + std::to_string(from) + " for 40 s");
            look(std::chrono::seconds(1));
        }
        Message first = std::move(of_this.front());
        of_this.pop_front();
        return first;
    }
    void look(std::chrono::nanoseconds patience) {
        std::optional<Received> received = transport_.receive(patience);
        if (!received) return;
        if (received->is_loss) fail("rank " + std::to_string(received->from) + " is reported as lost");
        kept_[static_cast<std::size_t>(received->from)].push_back(std::move(received->bytes));
    }

private:
    Transport& transport_;
    std::vector<std::deque<Message>> kept_; ///< for each rank
};

/// All ranks send to all, themselves included, while they receive.
void exchange(Transport& transport, Mail& mail) {
    const int ranks = transport.ranks();
    for (int number = 0; number < messages_to_each; ++number) {
        for (int i = 0; i < ranks; ++i) {
            const int to = (transport.rank() + i) % ranks;
            transport.send(to, message_of(transport.rank(), to, number));
        }
        mail.look(std::chrono::nanoseconds(0));
    }
    for (int from = 0; from < ranks; ++from)
        for (int number = 0; number < messages_to_each; ++number)
            if (const Message bytes = mail.next_of(from); bytes != message_of(from, transport.rank(), number))
                fail("message " + std::to_string(number) + " of rank " + std::to_string(from) +
                     " is another, of " + std::to_string(bytes.size()) + " bytes");
}

/// A message of 20 MB and 201 parts goes round, and its elements become larger by one at each rank.
void pass_round(Transport& transport, Mail& mail) {
    constexpr std::size_t size = 20'000'001;
    const int rank = transport.rank();
    const int ranks = transport.ranks();
    if (rank == 0) transport.send(1 % ranks, Message(size, std::byte{1}));
    Message bytes = mail.next_of((rank + ranks - 1) % ranks);
    if (bytes != Message(size, static_cast<std::byte>(rank == 0 ? ranks : rank)))
        fail("the large message has changed");
    if (rank == 0) return;
    std::ranges::fill(bytes, static_cast<std::byte>(rank + 1));
    transport.send((rank + 1) % ranks, std::move(bytes));
}

void wait_for_wake(Transport& transport) {
    const auto begin = Clock::now();
    transport.wake();
    if (transport.receive(std::chrono::seconds(30))) fail("a message that no rank has sent");
    const std::jthread waker([&] { transport.wake(); });
    if (transport.receive(std::chrono::seconds(30))) fail("a message that no rank has sent");
    if (Clock::now() - begin > std::chrono::seconds(20)) fail("a wake is not noticed");
}

/// One rank after another, so that no messages are under way meanwhile.
void wake_all(Transport& transport, Mail& mail) {
    if (transport.rank() != 0) {
        static_cast<void>(mail.next_of(0));
        wait_for_wake(transport);
        transport.send(0, {});
        static_cast<void>(mail.next_of(0));
        return;
    }
    wait_for_wake(transport);
    for (int to = 1; to < transport.ranks(); ++to) {
        transport.send(to, {});
        static_cast<void>(mail.next_of(to));
    }
    for (int to = 1; to < transport.ranks(); ++to) transport.send(to, {});
}

void run() {
    const auto transport = cluster::load_mpi_transport({.most_bytes_of_part = most_bytes_of_part});
    if (cluster::was_started_by_mpi() != (transport->ranks() > 1)) fail("was_started_by_mpi is wrong");
    Mail mail(*transport);
    wake_all(*transport, mail);
    exchange(*transport, mail);
    pass_round(*transport, mail);
    if (transport->rank() != 0) return;
    std::printf("%d ranks: all %d messages to each are right\n", transport->ranks(),
                transport->ranks() * messages_to_each);
    // The others end meanwhile, and receive nothing more.
    for (int to = 1; to < transport->ranks(); ++to) transport->send(to, Message(1'000'000));
}

} // namespace
} // namespace headrace::test

int main() {
    try {
        headrace::test::run();
        return 0;
    } catch (const std::exception& error) {
        std::fprintf(stderr, "mpi_ranks: %s\n", error.what());
        std::fflush(stderr);
        std::_Exit(1); // mpirun ends the others
    }
}
