// domains/job_order.cpp - see job_order.hpp.
#include <headrace/core/log.hpp>
#include <headrace/domains/job_handle.hpp>
#include <headrace/domains/job_order.hpp>

#include <algorithm>
#include <optional>
#include <unordered_set>
#include <utility>

namespace headrace {
namespace {

bool writes_alone(Access access) { return access == Access::write || access == Access::update; }

/// The jobs that use domains of `job` in ways that conflict with its own, the latest first, each with the
/// name of one such domain. Of jobs that were submitted before one that writes a domain in order, that one
/// takes care.
class Conflicts {
public:
    explicit Conflicts(const Job& job) : is_in_order_(job.is_in_order()) {
        for (const Job::Use& use : job.uses()) uses_.push_back(&use);
    }
    /// False: there are none before the last one that was looked at.
    [[nodiscard]] bool goes_on() const noexcept { return !uses_.empty(); }
    struct Conflict {
        const DomainData* domain = nullptr; ///< null: none
        bool is_of_sums = false;            ///< which one of the two adds to, and the other finds whole
    };
    Conflict look_at(const Job& other) {
        Conflict found;
        for (const Job::Use& theirs : other.uses()) {
            const auto is_it = [&](const Job::Use* mine) { return mine->slice.data == theirs.slice.data; };
            for (const Job::Use* mine : uses_)
                if (is_it(mine) && (writes_alone(mine->access) || mine->access != theirs.access)) {
                    found.domain = theirs.slice.data.get();
                    found.is_of_sums = found.is_of_sums || (mine->access == Access::accumulate) !=
                                                               (theirs.access == Access::accumulate);
                }
        }
        // Who waits for that one waits for those that it waits for.
        if (other.is_in_order() && (is_in_order_ || found.is_of_sums))
            for (const Job::Use& theirs : other.uses())
                if (writes_alone(theirs.access))
                    std::erase_if(
                        uses_, [&](const Job::Use* mine) { return mine->slice.data == theirs.slice.data; });
        return found;
    }

private:
    const bool is_in_order_;
    std::vector<const Job::Use*> uses_; ///< of domains that earlier jobs may still conflict about
};

} // namespace

/// Jobs that have not ended and that one comes after, or one of these does: found as far as somebody asks.
class JobOrder::AllBefore {
public:
    AllBefore(const JobOrder& order, const Job& job) : order_(order) { add_all(job.predecessors()); }

    bool contain(const JobExecution& job) {
        while (!found_.contains(&job) && !left_.empty()) {
            const JobExecution* const one = left_.back();
            left_.pop_back();
            add_all(one->predecessors());
            if (const auto known = order_.neighbours_.find(one); known != order_.neighbours_.end())
                for (const JobExecution* const earlier : known->second.earlier) add(earlier);
        }
        return found_.contains(&job);
    }

private:
    void add(const JobExecution* one) {
        if (!one->event().done() && found_.insert(one).second) left_.push_back(one);
    }
    void add_all(const Job::Predecessors& predecessors) {
        if (!predecessors) return;
        kept_.push_back(predecessors);
        for (const JobHandle& predecessor : *predecessors) add(predecessor.execution().get());
    }

    const JobOrder& order_;
    std::unordered_set<const JobExecution*> found_;
    std::vector<const JobExecution*> left_; ///< of those, not looked behind yet
    std::vector<Job::Predecessors> kept_;   ///< whose runtimes may let go of them meanwhile
};

std::vector<Event> JobOrder::add(std::shared_ptr<JobExecution> execution) {
    const Job& job = execution->job();
    std::vector<Event> ends;
    std::optional<AllBefore> before;
    Conflicts conflicts(job);
    for (auto other = jobs_.rbegin(); other != jobs_.rend() && conflicts.goes_on(); ++other) {
        const JobExecution& earlier = **other;
        if (earlier.event().done()) continue;
        const auto conflict = conflicts.look_at(earlier.job());
        if (!conflict.domain) continue;
        // Sums are added up before others use them, and then nobody may be adding any more.
        if (job.is_in_order() || conflict.is_of_sums) {
            // What nobody asked for an order passes no failure on.
            ends.push_back(job.is_in_order() ? earlier.event() : earlier.event().order_only());
            neighbours_[execution.get()].earlier.push_back(&earlier);
            neighbours_[&earlier].later.push_back(execution.get());
        }
        if (job.is_in_order()) continue;
        if (!before) before.emplace(*this, job);
        if (!before->contain(earlier))
            log_warning("jobs '" + earlier.job().name() + "' and '" + job.name() + "' both use domain '" +
                        conflict.domain->name() +
                        "' and one of them writes it: order them with after() or in_order()");
    }
    jobs_.push_back(std::move(execution));
    return ends;
}

void JobOrder::ended(const JobExecution& job) {
    const auto found = std::ranges::find(jobs_, &job, [](const auto& one) { return one.get(); });
    if (found != jobs_.end()) jobs_.erase(found);
    const auto mine = neighbours_.extract(&job);
    if (!mine) return;
    for (const JobExecution* const later : mine.mapped().later)
        std::erase(neighbours_.at(later).earlier, &job);
    for (const JobExecution* const earlier : mine.mapped().earlier)
        std::erase(neighbours_.at(earlier).later, &job);
}

} // namespace headrace
