// domains/jobs/job_node.cpp - see job_node.hpp.
#include <headrace/domains/detail/job_node.hpp>

#include <algorithm>
#include <unordered_set>
#include <utility>

namespace headrace {

/// Not recursive: with the last job of a long chain of cancelled jobs, all earlier ones may go too.
JobNode::~JobNode() {
    std::vector<JobNodePtr> left = std::move(past_);
    while (!left.empty()) {
        const JobNodePtr one = std::move(left.back());
        left.pop_back();
        if (one.use_count() > 1) continue;
        for (JobNodePtr& before : std::exchange(one->past_, {})) left.push_back(std::move(before));
    }
}

void JobNode::come_after(const std::vector<Predecessor>& jobs) {
    const std::scoped_lock lock(mutex_);
    past_.reserve(past_.size() + jobs.size());
    for (const Predecessor& before : jobs) past_.push_back(before.job);
}

void JobNode::forget_past() {
    std::vector<JobNodePtr> past; // released without the lock
    const std::scoped_lock lock(mutex_);
    past.swap(past_);
}

void JobNode::begin_wait(const JobNodePtr& job) {
    const std::scoped_lock lock(mutex_);
    waited_for_.push_back(job);
}

void JobNode::end_wait(const JobNodePtr& job) {
    const std::scoped_lock lock(mutex_);
    waited_for_.erase(std::ranges::find(waited_for_, job));
}

std::vector<JobNodePtr> JobNode::past() const {
    const std::scoped_lock lock(mutex_);
    std::vector<JobNodePtr> past = past_;
    past.insert(past.end(), waited_for_.begin(), waited_for_.end());
    return past;
}

bool JobNode::has_past() const {
    const std::scoped_lock lock(mutex_);
    return !past_.empty() || !waited_for_.empty();
}

bool JobNode::waits_for(const JobNode& other) const {
    if (this == &other) return true;
    std::vector<JobNodePtr> left = unfinished(past());
    std::unordered_set<const JobNode*> seen;
    while (!left.empty()) {
        const JobNodePtr one = std::move(left.back());
        left.pop_back();
        if (one.get() == &other) return true;
        if (!seen.insert(one.get()).second) continue;
        for (JobNodePtr& before : unfinished(one->past())) left.push_back(std::move(before));
    }
    return false;
}

std::vector<JobNodePtr> unfinished(std::vector<JobNodePtr> jobs) {
    // The usual case: no job was cancelled while it waited.
    if (std::ranges::none_of(jobs,
                             [](const JobNodePtr& one) { return one->end().done() && one->has_past(); })) {
        std::erase_if(jobs, [](const JobNodePtr& one) { return one->end().done(); });
        return jobs;
    }
    std::vector<JobNodePtr> found;
    std::unordered_set<const JobNode*> seen;
    while (!jobs.empty()) {
        JobNodePtr one = std::move(jobs.back());
        jobs.pop_back();
        if (!seen.insert(one.get()).second) continue;
        if (!one->end().done()) {
            found.push_back(std::move(one));
            continue;
        }
        for (JobNodePtr& before : one->past()) jobs.push_back(std::move(before));
    }
    return found;
}

void when_ended(std::vector<Predecessor> before, std::function<void(const ErrorPtr&)> then) {
    if (before.empty()) return then(nullptr);
    std::vector<Event> ends;
    std::vector<JobNodePtr> jobs;
    ends.reserve(before.size());
    jobs.reserve(before.size());
    for (const Predecessor& one : before) {
        ends.push_back(one.passes_failure ? one.job->end() : one.job->end().order_only());
        jobs.push_back(one.job);
    }
    Event::all(ends).then([jobs = std::move(jobs), then = std::move(then)](const ErrorPtr& error) {
        std::vector<Predecessor> rest;
        for (JobNodePtr& job : unfinished(jobs)) rest.push_back({std::move(job), false});
        if (rest.empty()) return then(error);
        when_ended(std::move(rest), [then, error](const ErrorPtr&) { then(error); });
    });
}

JobNodePtr join(const std::vector<JobNodePtr>& jobs) {
    const std::vector<JobNodePtr> left = unfinished(jobs);
    if (left.empty()) return nullptr;
    if (left.size() == 1) return left.front();
    std::vector<Predecessor> before;
    for (const JobNodePtr& job : left) before.push_back({job, true});
    auto ended = std::make_shared<Promise>();
    auto all = std::make_shared<JobNode>("", ended->event());
    all->come_after(before);
    when_ended(before, [all, ended](const ErrorPtr& error) {
        all->forget_past();
        error ? ended->fail(error) : ended->complete();
    });
    return all;
}

} // namespace headrace
