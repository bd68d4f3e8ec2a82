// internal/domains/cluster/job_share.hpp - what one rank has of a shared job, and what it owes: a state
// machine without threads. Internal to domains/.
//
// A rank gets ranges of work units from the rank above. It gives parts of them to the ranks below, and the
// rest to its devices. A grant carries as much credit as it has units. A rank returns credit when units are
// completed. Rank 0 begins with all units, so the job is complete when all credit has come back.
//
//     rank above   grant ->  this rank   grant ->   rank below
//                <- want                <- want
//                <- credit              <- credit
//                 close ->               close ->
//
// Units that spawned move in batches, up and down the tree: from a rank whose devices have some to a
// neighbour that wants units.
//
//     rank above   batch ->  this rank   batch ->   rank below    to a rank that wants units
//                 want ->               want ->                   from a rank that lacks units
//                <- batch               <- batch
//
// A rank lacks units if it is quiet, or if a device has nothing to do and the others give it none. Its own
// want may be on its way when it is asked for units, and it may have some by then: so it is asked too. Then a
// batch goes up, and the rank above forgets that want.
//
// When the job is complete. A rank is *quiet* if nothing is open on it, its devices have nothing, and so
// have the ranks below, as far as it knows. A rank *owes* if the rank above counts on it: it has got a grant
// or a batch whose credit it has not returned. It returns the credit of its batches, and that of the last
// unit of its grants, only when it is quiet. It sends work only while it owes. Two ranks keep the order of
// their messages.
// - Invariant: if there is a unit on a rank, or on its way between this rank and those below it, the rank
//   above has not got all its credit, and is not quiet.
// - Units that come from above: the rank above has sent a grant or a batch, and counts it as not completed.
//   Units that go up: the batch arrives before the credit that the rank returns later, so the rank above has
//   these units before it counts the rank's work as completed. A quiet rank has all credit of those below.
//   By induction from there, no unit is left on them, nor on its way to it.
// - So rank 0 ends when no unit is left. And it does end: when none is left, ranks become quiet from the
//   leaves of the tree on, and each returns all its credit.
// A rank that does work again, because it has lost a device, may not owe any more. It then keeps that work.
#pragma once
#include <headrace/core/export.hpp>
#include <headrace/internal/domains/cluster/local_work.hpp>
#include <headrace/internal/domains/cluster/message.hpp>
#include <headrace/internal/domains/cluster/neighbours.hpp>
#include <headrace/internal/domains/cluster/numbers.hpp>

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace headrace::cluster {

/// What a job is, for ranks to see that they run the same program.
struct HEADRACE_EXPORT JobMark {
    std::string name;
    std::uint64_t work_units = 0;
    [[nodiscard]] static JobMark read(Reader& message);
    friend bool operator==(const JobMark&, const JobMark&) = default;
};

/// One job on one rank. Messages about it may come before this rank submits it.
///
/// Threads   one at a time
/// Errors    those of LocalWork
class HEADRACE_EXPORT JobShare {
public:
    using Clock = LocalWork::Clock;
    using Send = std::function<void(int rank, Message message)>;

    /// `number`: the same on all ranks.
    JobShare(CallNumber number, const Neighbours& neighbours, Send send);

    /// This rank has submitted the job.
    void begin(std::shared_ptr<LocalWork> work, JobMark mark);
    /// A message about this job, after its topic and number.
    void receive(int from, Topic topic, Reader message, Clock::time_point now);
    /// Looks for what there is to send. To be called often while the job runs.
    void look(Clock::time_point now);
    /// It is over on this rank, and there is nothing to send any more.
    [[nodiscard]] bool is_over() const noexcept { return is_over_; }
    /// All its units are completed.
    [[nodiscard]] bool is_closed() const noexcept { return is_closed_; }
    [[nodiscard]] const ErrorPtr& failure() const noexcept { return failure_; }
    /// Ends it on this rank and on the others, without success.
    void fail(const ErrorPtr& why, int told_by = -1);
    /// Ends it on this rank, without success and without a word: the others end it too.
    void abandon(const ErrorPtr& why);

private:
    struct Grant {
        IndexRange units;
        Clock::time_point at;
    };
    struct Below {
        int rank = 0;
        bool wants = false;
        bool lacks_units = false;    ///< it, or a device of it, has nothing to do
        bool takes_units = false;    ///< that spawned elsewhere
        JobMark mark = {};           ///< of the job as that rank has submitted it
        std::deque<Grant> grants;    ///< not completed
        std::uint64_t completed = 0; ///< units, of grants in the queue
        std::uint64_t progress = 0;  ///< units, of the first grant: those that its work knows to be completed
        std::uint64_t credit = 0;    ///< units that it has completed in all
        std::deque<WorkRange> batches = {}; ///< not completed; without their units
        std::uint64_t settled = 0;          ///< batches that it has completed in all
        bool was_asked = false;             ///< for units, and has got and sent none since
        Clock::time_point idle_since = {};
        Clock::duration busy = {};     ///< that it has worked in all
        Clock::duration measured = {}; ///< what of this is told with completed grants
    };

    void ask_above(const LocalWork::Supply& supply, bool lacks_units);
    void give_credit(const LocalWork::Supply& supply, Clock::time_point now);
    void serve(Below& below, Clock::time_point now);
    void take_credit(Below& below, Reader message, Clock::time_point now);
    void receive_units(int from, Reader message);
    void ask_below(const LocalWork::Supply& supply);
    void send_units_above();
    [[nodiscard]] bool owes() const;
    [[nodiscard]] bool lacks_units(const LocalWork::Supply& supply, Clock::time_point now);
    void forget_wish_above();
    void close();
    void stop(const ErrorPtr& why);
    [[nodiscard]] bool is_refused(int rank, const JobMark& mark);
    [[nodiscard]] ErrorPtr named(const Error& why) const;
    [[nodiscard]] Writer about(Topic topic) const;
    [[nodiscard]] Below& below(int rank);

    const CallNumber number_;
    const Neighbours& neighbours_;
    const Send send_;
    std::shared_ptr<LocalWork> work_; ///< null: this rank has not submitted it yet
    JobMark mark_;
    std::optional<JobMark> mark_above_; ///< the job is complete, and was this one on the rank above
    std::vector<Below> below_;
    ErrorPtr failure_; ///< of any rank
    bool has_told_failure_ = false, has_asked_ = false, has_told_lack_ = false, is_closed_ = false,
         is_over_ = false;
    bool above_wants_ = false;                     ///< units
    std::optional<Clock::time_point> lacks_since_; ///< a device, or a rank next to this one, wants units
    std::uint64_t last_grant_ = 0;                 ///< units
    std::uint64_t granted_ = 0;                    ///< units, to this rank
    std::uint64_t credit_ = 0;                     ///< units, returned
    std::uint64_t batches_ = 0;                    ///< from the rank above
    std::uint64_t settled_ = 0;                    ///< batches whose credit is returned
    Clock::time_point credit_at_ = {};
};

} // namespace headrace::cluster
