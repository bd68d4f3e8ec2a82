// internal/domains/cluster/node.hpp - one rank of a cluster: its thread that talks to the other ranks.
// Internal to domains/.
#pragma once
#include <headrace/core/device.hpp>
#include <headrace/core/export.hpp>
#include <headrace/internal/domains/cluster/job_share.hpp>
#include <headrace/internal/domains/cluster/transport.hpp>

#include <condition_variable>
#include <cstdint>
#include <exception>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <vector>

namespace headrace::cluster {

/// All ranks make the same calls of `exchange` and `share` in the same order.
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

    [[nodiscard]] int rank() const noexcept { return neighbours_.rank; }
    [[nodiscard]] int ranks() const noexcept { return ranks_; }
    [[nodiscard]] const Neighbours& neighbours() const noexcept { return neighbours_; }
    [[nodiscard]] const std::vector<std::string>& hosts() const noexcept { return hosts_; } ///< of all ranks

    /// The messages of all ranks, by rank. Blocks until all have called it.
    [[nodiscard]] std::vector<Message> exchange(Message mine);
    /// The number of the next job that the ranks share.
    [[nodiscard]] std::uint64_t next_job();
    /// This rank has submitted the job.
    void begin(std::uint64_t job, std::shared_ptr<LocalWork> work, JobMark mark);

    // Joins: `key` is the same on all ranks, and used once.

    /// On rank 0: what the others have sent, by rank; its own is empty. Blocks.
    [[nodiscard]] std::vector<Message> collect(std::uint64_t key);
    /// On rank 0: all others get this.
    void publish(std::uint64_t key, Message result);
    /// On another rank: sends its part, and returns what rank 0 publishes. Blocks.
    [[nodiscard]] Message exchange_with_first(std::uint64_t key, Message part);

    /// The node of this thread or process; null: there is one process.
    [[nodiscard]] static std::shared_ptr<Node> current();
    /// Makes it the node of the process, or of none.
    static void set_current(std::shared_ptr<Node> node);
    /// For tests with several ranks in one process: it is the node of this thread as long as this lives.
    class HEADRACE_EXPORT OfThisThread {
    public:
        explicit OfThisThread(std::shared_ptr<Node> node);
        ~OfThisThread();
        OfThisThread(const OfThisThread&) = delete;
        OfThisThread& operator=(const OfThisThread&) = delete;
    };

private:
    /// What has come of one exchange or join.
    struct Collected {
        std::map<int, Message> parts = {};
        std::optional<Message> result = {};
    };

    void run(const OpenTransport& open);
    void meet();
    [[nodiscard]] JobShare& share_of(std::uint64_t job);
    void look_after_jobs();
    void end_open_jobs();
    void receive(Received received);
    void receive_about_job(int from, Topic topic, Reader message);
    void forward_down(const Message& message);
    void finish_exchange(std::uint64_t number, const Collected& all);
    void post(std::function<void()> call);
    [[nodiscard]] std::vector<std::function<void()>> take_posted();
    void send(int to, Message message);
    void fail(const ErrorPtr& why);             ///< everything that waits, and all that comes
    [[nodiscard]] bool has_first_ended() const; ///< with the lock
    [[nodiscard]] Error has_ended(int rank) const;
    void expect_alive() const; ///< with the lock
    template <class Ready>
    void wait(std::unique_lock<std::mutex>& lock, const Ready& ready);

    std::unique_ptr<Transport> transport_; ///< used by the thread alone, but for `wake`
    int ranks_ = 0;
    Neighbours neighbours_;
    std::map<std::uint64_t, JobShare> jobs_; ///< used by the thread alone
    std::set<std::uint64_t> over_;           ///< jobs that are over, from `all_over_` on
    std::uint64_t all_over_ = 0;             ///< jobs before this one are over
    bool can_send_ = true;                   ///< the thread serves the transport
    bool has_news_of_end_ = false;           ///< another rank has ended

    mutable std::mutex mutex_; ///< for all that follows
    std::condition_variable changed_;
    std::vector<std::string> hosts_; ///< empty until the ranks have met
    std::vector<std::function<void()>> posted_;
    std::map<std::uint64_t, Collected> exchanges_, joins_;
    std::uint64_t next_exchange_ = 0, next_job_ = 0;
    std::map<int, ErrorPtr> left_; ///< ranks that end, and why they failed
    ErrorPtr last_failure_;        ///< of a job, or why this rank ends
    std::optional<int> lost_;      ///< the first rank that was lost
    bool is_open_ = false, is_leaving_ = false;
    ErrorPtr failure_;
    std::jthread thread_; ///< last: it uses the rest
};

} // namespace headrace::cluster
