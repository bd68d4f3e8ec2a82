// domains/jobs/running_jobs.cpp - see running_jobs.hpp.
#include "jobs/running_jobs.hpp"

#include <algorithm>

namespace headrace {

bool RunningJobs::has_room_for(const Key& key) const {
    for (const std::size_t device : key.second) {
        const auto others = std::ranges::count_if(running_, [&](const auto& job) {
            return -job->job().priority() <= key.first && job->participants().participant_of(device);
        });
        if (static_cast<std::size_t>(others) < most) return true;
    }
    return false;
}

bool RunningJobs::begin(const std::shared_ptr<JobExecution>& job) {
    if (running_.size() >= most) // otherwise there is room on every device
        if (const Key key{-job->job().priority(), job->participants().devices()}; !has_room_for(key)) {
            waiting_[key].push_back(job);
            return false;
        }
    running_.push_back(job);
    return true;
}

std::vector<std::shared_ptr<JobExecution>> RunningJobs::end(const JobExecution& job) {
    std::erase_if(running_, [&](const auto& one) { return one.get() == &job; });
    std::vector<std::shared_ptr<JobExecution>> next;
    for (auto queue = waiting_.begin(); queue != waiting_.end();) {
        auto& [key, jobs] = *queue;
        while (!jobs.empty() && (running_.size() < most || has_room_for(key))) {
            if (jobs.front()->hold_for_start()) {
                running_.push_back(jobs.front());
                next.push_back(jobs.front());
            }
            jobs.pop_front();
        }
        queue = jobs.empty() ? waiting_.erase(queue) : std::next(queue);
    }
    return next;
}

} // namespace headrace
