// domains/data/domain_users.cpp - see domain_users.hpp.
#include <headrace/domains/detail/domain_users.hpp>

#include <algorithm>
#include <utility>

namespace headrace {
namespace {

/// A job that was cancelled before it started has ended, but its predecessors may not have.
bool is_past(const JobNodePtr& job) { return job->end().done() && unfinished({job}).empty(); }

} // namespace

void DomainUsers::Jobs::add(const JobNodePtr& job) {
    if (all.size() >= many) sweep();
    all.push_back(job);
}

void DomainUsers::Jobs::sweep() {
    std::erase_if(all, is_past);
    many = std::max<std::size_t>(16, 2 * all.size());
}

void DomainUsers::add(const JobNodePtr& job, DomainUse use, std::vector<JobNodePtr>& before) {
    (writes(use.access) ? writers_ : readers_).add(job);
    if (use.is_concurrent && !use.joining) {
        // Private replicas are joined before the domain is used in another way.
        if (const JobNodePtr replicas = now_.joining ? join(now_.jobs.all) : replicas_)
            before.push_back(replicas);
        return;
    }
    const bool commutes = use.access == Access::read || use.joining;
    const bool is_of_turn = now_.access == use.access && now_.joining == use.joining &&
                            (!use.joining || now_.is_shared == use.is_shared);
    if (!commutes || !is_of_turn) {
        const bool had_replicas = now_.joining;
        now_ = {use.access, use.joining, {}, join(now_.jobs.all), use.is_shared};
        if (had_replicas) replicas_ = now_.before;
    }
    now_.jobs.add(job);
    if (now_.before) before.push_back(now_.before);
}

std::vector<JobNodePtr> DomainUsers::unfinished(bool also_readers) {
    writers_.sweep();
    std::vector<JobNodePtr> jobs = writers_.all;
    if (also_readers) {
        readers_.sweep();
        jobs.insert(jobs.end(), readers_.all.begin(), readers_.all.end());
    }
    return headrace::unfinished(std::move(jobs));
}

} // namespace headrace
