// domains/cluster/mpi_transport.cpp - messages over MPI. The only source that calls MPI, with mpi_calls.hpp.
//
// A message is one message of MPI or, if it is large, several. The tag of each says how many parts follow.
// MPI keeps the order of messages between two ranks, also across tags, so that parts need no other header.
// All receives are non-blocking: a receive that waits for the rest of a large message must not wait for a
// rank that has died.
#include "cluster/mpi_calls.hpp"
#include "cluster/poll_pause.hpp"
#include <headrace/core/log.hpp>
#include <headrace/internal/domains/cluster/mpi_module.hpp>

#include <algorithm>
#include <climits>
#include <deque>
#include <numeric>
#include <tuple>

namespace headrace::cluster {
namespace {

using Clock = PollPause::Clock;

constexpr std::size_t most_parts = 32768; // every MPI has the tags 0 to 32767
constexpr int most_matches = 64;          // messages that are matched before `receive` returns one of them

class MpiTransport final : public Transport {
public:
    explicit MpiTransport(const MpiOptions& options) : most_bytes_of_part_(options.most_bytes_of_part) {
        HEADRACE_ASSERT(most_bytes_of_part_ > 0 && most_bytes_of_part_ <= INT_MAX);
        start();
        mpi::check(MPI_Comm_dup(MPI_COMM_WORLD, &all_), "MPI_Comm_dup");
        mpi::check(MPI_Comm_set_errhandler(all_, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
        mpi::check(MPI_Comm_rank(all_, &rank_), "MPI_Comm_rank");
        mpi::check(MPI_Comm_size(all_, &ranks_), "MPI_Comm_size");
        peers_.resize(static_cast<std::size_t>(ranks_));
    }

    ~MpiTransport() override {
        try {
            end();
        } catch (const Error& error) {
            log_error(std::string("the connection to other ranks does not end in order: ") + error.what());
            ends_in_order_ = false;
        }
        if (ends_in_order_) return;
        // MPI may still use the memory of its requests. So it is never freed.
        using Used = std::tuple<std::vector<Peer>, mpi::Requests<Sent>, mpi::Requests<Part>>;
        static_cast<void>(
            std::make_unique<Used>(std::move(peers_), std::move(sends_), std::move(parts_)).release());
    }

    [[nodiscard]] int rank() const noexcept override { return rank_; }
    [[nodiscard]] int ranks() const noexcept override { return ranks_; }

    void send_shared(int to, std::shared_ptr<const Message> message) override {
        HEADRACE_ASSERT(to >= 0 && to < ranks_);
        if (peer(to).is_lost) return;
        if (to == rank_) {
            ready_.push_back({.from = rank_, .bytes = *message});
            return;
        }
        const std::size_t size = message->size();
        const std::size_t parts = std::max<std::size_t>(1, divided(size, most_bytes_of_part_));
        if (parts > most_parts)
            throw Error{ErrorKind::unsupported, "a message of " + std::to_string(size) +
                                                    " bytes is too large: at most " +
                                                    std::to_string(most_parts) + " parts of " +
                                                    std::to_string(most_bytes_of_part_) + " bytes"};
        const std::size_t part = divided(size, parts); // equal, so that recipients can predict the sum
        for (std::size_t begin = 0, following = parts; following-- > 0; begin += part)
            send_part(to, message, std::min(begin, size), part, static_cast<int>(following));
    }

    [[nodiscard]] std::optional<Received> receive(std::chrono::nanoseconds patience) override {
        constexpr std::chrono::nanoseconds longest = std::chrono::hours(24); // the clock must not overflow
        const Clock::time_point end = Clock::now() + std::min(patience, longest);
        pause_.restart();
        for (;;) {
            if (progress()) pause_.restart();
            const bool is_woken = pause_.take_wake();
            if (!ready_.empty()) {
                Received first = std::move(ready_.front());
                ready_.pop_front();
                return first;
            }
            if (is_woken || Clock::now() >= end) return std::nullopt;
            pause_.pause(end, is_transferring());
        }
    }

    void wake() noexcept override { pause_.wake(); }

    void forget(int rank) override {
        std::erase_if(ready_, [rank](const Received& received) { return received.from == rank; });
        peer(rank).is_lost = true; // requests with it stay, since MPI may still use their memory
        ends_in_order_ = false;
    }
    [[nodiscard]] std::vector<int> take_heard() override { return std::exchange(heard_, {}); }
    void leave_out_of_order() noexcept override { ends_in_order_ = false; }

private:
    /// A message that arrives. Requests write into `bytes`, so it stays where it is.
    struct Arrival {
        Message bytes;
        std::size_t matched = 0;  ///< bytes of the parts that MPI has announced
        int parts_to_match = 0;   ///< that MPI has not announced
        int parts_to_receive = 0; ///< that MPI has not delivered
        [[nodiscard]] bool is_complete() const { return parts_to_match == 0 && parts_to_receive == 0; }
    };
    struct Peer {
        std::deque<Arrival> arrivals; ///< in the order in which they were sent
        bool is_lost = false;
    };
    struct Sent {
        int to = 0;
        std::shared_ptr<const Message> bytes;
    };
    struct Part {
        int from = 0;
        Arrival* arrival = nullptr;
    };

    static std::size_t divided(std::size_t number, std::size_t by) { return (number + by - 1) / by; }

    [[nodiscard]] bool is_transferring() const { return !sends_.empty() || !parts_.empty(); }

    Peer& peer(int rank) { return peers_[static_cast<std::size_t>(rank)]; }

    /// A program may have started MPI itself. Then it also ends it.
    void start() {
        int is_started = 0;
        int is_ended = 0;
        int level = MPI_THREAD_SINGLE;
        MPI_Initialized(&is_started);
        MPI_Finalized(&is_ended);
        if (is_ended != 0)
            throw Error{ErrorKind::unsupported, "MPI has ended in this process, and it starts once only"};
        if (is_started == 0) {
            mpi::check(MPI_Init_thread(nullptr, nullptr, MPI_THREAD_FUNNELED, &level), "MPI_Init_thread");
            starts_and_ends_ = true;
        } else {
            int is_main = 0;
            mpi::check(MPI_Query_thread(&level), "MPI_Query_thread");
            mpi::check(MPI_Is_thread_main(&is_main), "MPI_Is_thread_main");
            if (is_main == 0 && level < MPI_THREAD_MULTIPLE) level = MPI_THREAD_SINGLE;
        }
        if (level < MPI_THREAD_FUNNELED)
            throw Error{ErrorKind::unsupported,
                        "this MPI may not be called from a thread of Headrace; a program "
                        "that starts MPI itself asks for MPI_THREAD_MULTIPLE"};
    }

    void send_part(int to, const std::shared_ptr<const Message>& bytes, std::size_t begin, std::size_t most,
                   int following) {
        const int count = static_cast<int>(std::min(most, bytes->size() - begin));
        MPI_Request request = MPI_REQUEST_NULL;
        const int code = MPI_Isend(bytes->data() + begin, count, MPI_BYTE, to, following, all_, &request);
        if (code == MPI_SUCCESS)
            sends_.add(request, {to, bytes});
        else
            lose_or_fail(to, code, "MPI_Isend");
    }

    /// Returns whether anything has happened.
    bool progress() try {
        bool is_news = sends_.test([this](const Sent& sent, int code) {
            if (code != MPI_SUCCESS) lose_or_fail(sent.to, code, "MPI_Isend");
        });
        for (int matches = 0; matches < most_matches && match(); ++matches) is_news = true;
        is_news |= parts_.test([this](const Part& part, int code) {
            if (code != MPI_SUCCESS) lose_or_fail(part.from, code, "MPI_Imrecv");
            if (code == MPI_SUCCESS) --part.arrival->parts_to_receive;
            if (heard_.empty() || heard_.back() != part.from) heard_.push_back(part.from);
            hand_out(part.from);
        });
        return is_news;
    } catch (...) {
        ends_in_order_ = false;
        throw;
    }

    /// Begins to receive the next message of MPI. Returns whether there was one.
    bool match() {
        int is_there = 0;
        MPI_Message message = MPI_MESSAGE_NULL;
        MPI_Status status;
        if (const int code = MPI_Improbe(MPI_ANY_SOURCE, MPI_ANY_TAG, all_, &is_there, &message, &status);
            code != MPI_SUCCESS) {
            if (!lose_failed_ranks()) mpi::fail(code, "MPI_Improbe");
            return false;
        }
        if (is_there == 0) return false;
        int count = 0;
        mpi::check(MPI_Get_count(&status, MPI_BYTE, &count), "MPI_Get_count");
        const auto bytes = static_cast<std::size_t>(count);
        std::deque<Arrival>& arrivals = peer(status.MPI_SOURCE).arrivals;
        if (arrivals.empty() || arrivals.back().parts_to_match == 0)
            arrivals.emplace_back().parts_to_match = status.MPI_TAG + 1;
        Arrival& arrival = arrivals.back();
        // No part is larger than the first, so that this has room for all. Later calls change nothing but the
        // size: they must not move what requests write to.
        if (arrival.matched == 0)
            arrival.bytes.resize(bytes * static_cast<std::size_t>(arrival.parts_to_match));
        if (status.MPI_TAG == 0) arrival.bytes.resize(arrival.matched + bytes);
        --arrival.parts_to_match;
        ++arrival.parts_to_receive;

        MPI_Request request = MPI_REQUEST_NULL;
        const int code =
            MPI_Imrecv(arrival.bytes.data() + arrival.matched, count, MPI_BYTE, &message, &request);
        arrival.matched += bytes;
        if (code == MPI_SUCCESS)
            parts_.add(request, {status.MPI_SOURCE, &arrival});
        else
            lose_or_fail(status.MPI_SOURCE, code, "MPI_Imrecv");
        return true;
    }

    /// Messages of a peer that are complete, in their order.
    void hand_out(int from) {
        Peer& peer = this->peer(from);
        for (; !peer.arrivals.empty() && peer.arrivals.front().is_complete(); peer.arrivals.pop_front())
            if (!peer.is_lost)
                ready_.push_back({.from = from, .bytes = std::move(peer.arrivals.front().bytes)});
    }

    void lose_or_fail(int rank, int code, const char* call) {
        ends_in_order_ = false;
        if (!mpi::is_loss_of_peer(code)) mpi::fail(code, call + (" with rank " + std::to_string(rank)));
        lose(rank);
    }

    void lose(int rank) {
        hand_out(rank);
        if (std::exchange(peer(rank).is_lost, true)) return;
        ends_in_order_ = false;
        ready_.push_back({.from = rank, .is_loss = true});
    }

    /// MPI refuses to look for messages of any rank until the failures of ranks are acknowledged.
    bool lose_failed_ranks() {
#if defined(MPIX_ERR_PROC_FAILED) && defined(OPEN_MPI)
        MPI_Group failed = MPI_GROUP_NULL;
        MPI_Group group = MPI_GROUP_NULL;
        int count = 0;
        mpi::check(MPIX_Comm_failure_ack(all_), "MPIX_Comm_failure_ack");
        mpi::check(MPIX_Comm_failure_get_acked(all_, &failed), "MPIX_Comm_failure_get_acked");
        mpi::check(MPI_Comm_group(all_, &group), "MPI_Comm_group");
        mpi::check(MPI_Group_size(failed, &count), "MPI_Group_size");
        std::vector<int> numbers(static_cast<std::size_t>(count));
        std::vector<int> ranks(numbers.size());
        std::iota(numbers.begin(), numbers.end(), 0);
        mpi::check(MPI_Group_translate_ranks(failed, count, numbers.data(), group, ranks.data()),
                   "MPI_Group_translate_ranks");
        MPI_Group_free(&failed);
        MPI_Group_free(&group);
        for (const int rank : ranks) lose(rank);
        return count > 0;
#else
        return false;
#endif
    }

    /// Goes on receiving, because a large message leaves only when its recipient receives it.
    template <class Condition>
    void progress_until(Condition&& holds) {
        for (pause_.restart(); !holds();
             pause_.pause(Clock::now() + std::chrono::seconds(1), is_transferring())) {
            if (progress()) pause_.restart();
            ready_.clear();
            static_cast<void>(pause_.take_wake());
        }
    }

    void end() {
        // After a loss, ranks end without this one, so that its last messages may have no recipient. A rank
        // may also be killed now, when no other one watches it.
        constexpr std::chrono::seconds patience{30}, patience_after_loss{2};
        const Clock::time_point limit = Clock::now() + (ends_in_order_ ? patience : patience_after_loss);
        progress_until([&] {
            const auto is_expected = [this](const Sent& sent) { return !peer(sent.to).is_lost; };
            return !sends_.any_of(is_expected) || Clock::now() > limit;
        });
        if (!sends_.empty()) ends_in_order_ = false;
        if (!ends_in_order_) return; // MPI_Finalize would wait for the lost rank
        MPI_Request all_end = MPI_REQUEST_NULL;
        mpi::check(MPI_Ibarrier(all_, &all_end), "MPI_Ibarrier");
        progress_until([&] {
            int is_complete = 0;
            mpi::check(MPI_Test(&all_end, &is_complete, MPI_STATUS_IGNORE), "MPI_Test");
            ends_in_order_ = is_complete != 0;
            return ends_in_order_ || Clock::now() > limit;
        });
        if (!ends_in_order_) return;
        mpi::check(MPI_Comm_free(&all_), "MPI_Comm_free");
        if (starts_and_ends_) mpi::check(MPI_Finalize(), "MPI_Finalize");
    }

    std::size_t most_bytes_of_part_;
    bool starts_and_ends_ = false;
    MPI_Comm all_ = MPI_COMM_NULL;
    int rank_ = 0;
    int ranks_ = 0;
    std::vector<Peer> peers_;
    mpi::Requests<Sent> sends_;
    mpi::Requests<Part> parts_;
    std::vector<int> heard_;     ///< senders of parts
    std::deque<Received> ready_; ///< in the order in which `receive` returns them
    bool ends_in_order_ = true;  ///< no rank is lost, and MPI has not failed
    PollPause pause_;
};

} // namespace
} // namespace headrace::cluster

extern "C" HEADRACE_EXPORT headrace::cluster::Transport*
headrace_cluster_mpi_open(const headrace::cluster::MpiOptions& options) {
    return std::make_unique<headrace::cluster::MpiTransport>(options).release();
}
