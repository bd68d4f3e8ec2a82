// domains/cluster/job_shares.cpp - see job_shares.hpp.
#include <headrace/internal/domains/cluster/job_shares.hpp>

#include <utility>

namespace headrace::cluster {

JobShares::JobShares(const Neighbours& neighbours, JobShare::Send send)
    : neighbours_(neighbours), send_(std::move(send)) {}

JobShare& JobShares::of(CallNumber job) {
    return shares_.try_emplace(job, job, neighbours_, send_).first->second;
}

void JobShares::begin(CallNumber job, std::shared_ptr<LocalWork> work, JobMark mark) {
    of(job).begin(std::move(work), std::move(mark));
}

void JobShares::receive(int from, Topic topic, Reader message, Clock::time_point now) {
    const auto number = message.get<CallNumber>();
    const auto over = over_.find(number.submitter);
    if (over != over_.end() &&
        (number.ordinal < over->second.before || over->second.more.contains(number.ordinal)))
        return; // it has failed here
    of(number).receive(from, topic, message, now);
}

std::vector<ErrorPtr> JobShares::look(Clock::time_point now) {
    std::vector<ErrorPtr> failures;
    for (auto share = shares_.begin(); share != shares_.end();) {
        share->second.look(now);
        if (!share->second.is_over()) {
            ++share;
            continue;
        }
        if (share->second.failure()) failures.push_back(share->second.failure());
        Over& over = over_[share->first.submitter];
        over.more.insert(share->first.ordinal);
        while (over.more.erase(over.before) > 0) ++over.before;
        share = shares_.erase(share);
    }
    return failures;
}

void JobShares::end_open(const ErrorPtr& why) {
    for (auto& [number, share] : shares_)
        if (!share.is_closed()) share.fail(why);
}

void JobShares::abandon(const ErrorPtr& why) {
    for (auto& [number, share] : shares_) share.abandon(why);
    shares_.clear();
    over_.clear();
}

} // namespace headrace::cluster
