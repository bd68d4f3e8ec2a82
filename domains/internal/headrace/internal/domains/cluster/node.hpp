// internal/domains/cluster/node.hpp - one rank of a cluster: its thread that talks to the other ranks.
// Internal to domains/.
#pragma once
#include <headrace/core/device.hpp>
#include <headrace/core/export.hpp>
#include <headrace/internal/domains/cluster/collected.hpp>
#include <headrace/internal/domains/cluster/ended_ranks.hpp>
#include <headrace/internal/domains/cluster/job_shares.hpp>
#include <headrace/internal/domains/cluster/membership.hpp>
#include <headrace/internal/domains/cluster/numbers.hpp>
#include <headrace/internal/domains/cluster/submitters.hpp>
#include <headrace/internal/domains/cluster/transport.hpp>
#include <headrace/internal/domains/cluster/wire.hpp>

#include <condition_variable>
#include <cstdint>
#include <exception>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

namespace headrace::cluster {

/// Each of its submitters makes the same calls of `exchange` and `next_job` in the same order on all ranks.
///
/// When a rank is lost, all ends. After `continue_after_losses`, the others go on without it: all calls throw
/// the loss, jobs fail with it, and `recover` begins the next generation, whose exchanges and jobs are
/// numbered anew. So the members that are left must be brought to make the same calls again.
///
/// Threads   any
/// Errors    each blocking call throws the error of the transport, or that a rank is lost or has ended
class HEADRACE_EXPORT Node {
public:
    using OpenTransport = std::function<std::unique_ptr<Transport>()>;

    /// Connects the ranks. `open` is called by the thread that then makes all calls of the transport. Blocks
    /// until all ranks are there. Throws invalid_argument if they do not run the same program.
    explicit Node(const OpenTransport& open);
    Node(const Node&) = delete;
    Node& operator=(const Node&) = delete;
    /// After `leave`. Jobs share the node, and any thread may end the last one.
    ~Node();
    /// Waits until all ranks leave. To be called once, after all else, by the thread that made the node.
    /// `why`: this rank has failed; ranks that wait for it get to know.
    void leave(ErrorPtr why = nullptr) noexcept;
    /// After `leave`: whether rank 0 has said that it ends because of a failure, or has seen the loss of
    /// another rank.
    [[nodiscard]] bool has_first_failed() const;
    /// Rank 0 has ended without a failure: it has all results that it wants.
    [[nodiscard]] bool has_first_ended_well() const;

    [[nodiscard]] int rank() const noexcept { return rank_; }
    [[nodiscard]] int ranks() const noexcept { return ranks_; } ///< at the start
    [[nodiscard]] Neighbours neighbours() const;
    [[nodiscard]] std::vector<int> members() const; ///< ranks that are not lost, ascending
    [[nodiscard]] const std::vector<std::string>& hosts() const noexcept { return hosts_; } ///< of all ranks
    [[nodiscard]] Wire& wire() noexcept { return wire_; }
    [[nodiscard]] Submitters& submitters() noexcept { return submitters_; }

    /// From now on, the loss of a rank other than rank 0 does not end the others. A rank of which its
    /// neighbours hear nothing for so long is lost. All ranks call it. Blocks until all have called it. A
    /// second call does nothing. The calling thread's submitter is then the only one.
    void continue_after_losses(Membership::Clock::duration patience);
    /// After an error. True: the error is the loss of ranks, and this rank goes on with the others. Jobs that
    /// it had submitted have failed, or are over.
    [[nodiscard]] bool recover();

    /// The messages of all ranks, by rank; empty for a lost one. Blocks until all have called it.
    [[nodiscard]] std::vector<Message> exchange(Message mine);
    /// The number of the next job that the ranks share.
    [[nodiscard]] CallNumber next_job();
    /// This rank has submitted the job.
    void begin(CallNumber job, std::shared_ptr<LocalWork> work, JobMark mark);

    // Joins: `join` is the same on all ranks, and used once.

    /// On rank 0: what the others have sent, by rank; its own and that of a lost one are empty. Blocks.
    [[nodiscard]] std::vector<Message> collect(JoinNumber join);
    /// On rank 0: all others get this. Bytes that a rank has are empty there, unless it forwards them.
    void publish(JoinNumber join, std::vector<Answer> answers);
    /// On another rank: sends its part, and returns what rank 0 publishes, in its order. Blocks.
    [[nodiscard]] std::vector<Answer> exchange_with_first(JoinNumber join, Message part);

private:
    void run(const OpenTransport& open);
    void look_after_jobs();
    void end_open_jobs();
    void look_after_members();
    void change_members();
    void receive(Received received);
    void receive_from_member(Received received);
    void forward_down(const Message& message, int has_it = -1);
    void finish_exchange(CallNumber number, const Collected& all);
    void post(std::function<void()> call);
    [[nodiscard]] std::vector<std::function<void()>> take_posted();
    void send(int to, Message message);
    void fail(const ErrorPtr& why);                      ///< everything that waits, and all that comes
    [[nodiscard]] bool has_first_ended() const;          ///< with the lock
    [[nodiscard]] bool have_all_left() const;            ///< with the lock
    void expect_alive() const;                           ///< with the lock
    void expect_current(std::uint32_t generation) const; ///< with the lock
    template <class Ready>
    void wait(std::unique_lock<std::mutex>& lock, const Ready& ready);

    Wire wire_;
    Submitters submitters_;
    std::unique_ptr<Transport> transport_; ///< used by the thread alone, but for `wake`
    int rank_ = 0, ranks_ = 0;
    std::optional<Membership> membership_; ///< changed by the thread alone, and with the lock
    std::vector<Received> held_;           ///< of a generation that has not begun here
    std::optional<JobShares> jobs_;        ///< used by the thread alone
    bool can_send_ = true;                 ///< the thread serves the transport
    bool is_cut_off_ = false;              ///< rank 0 is lost, or goes on without this rank
    bool has_news_of_end_ = false;         ///< another rank has ended
    std::size_t told_losses_ = 0;          ///< ranks that the user knows to be lost

    mutable std::mutex mutex_; ///< for all that follows
    std::condition_variable changed_;
    std::vector<std::string> hosts_; ///< empty until the ranks have met
    std::vector<std::function<void()>> posted_;
    std::map<CallNumber, Collected> exchanges_;
    std::map<JoinNumber, Collected> joins_;
    std::uint32_t generation_ = 0; ///< of membership_, as calls of this node know it
    EndedRanks ended_;
    ErrorPtr last_failure_;  ///< of a job, or why this rank ends
    bool continues_ = false; ///< after the loss of a rank
    ErrorPtr last_loss_;
    bool must_recover_ = false; ///< from it
    bool is_changing_ = false;  ///< the thread begins a generation
    bool is_open_ = false, is_leaving_ = false;
    ErrorPtr failure_;
    std::jthread thread_; ///< last: it uses the rest
};

} // namespace headrace::cluster
