// apps/job_program/job_sum.hpp - several jobs of a program as one report.
#pragma once
#include <headrace/domains/report.hpp>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace job_program {

/// What all jobs of a run did together: seconds, tasks and traffic are sums.
class JobSum {
public:
    /// `nothing`: why there are no figures, if no job is added.
    explicit JobSum(const std::string& nothing);
    void add(const headrace::JobReport& job);
    void set_ranks(std::vector<headrace::cluster::RankTraffic> ranks) { total_.ranks = std::move(ranks); }
    [[nodiscard]] const headrace::JobReport& total() const { return total_; }
    [[nodiscard]] std::uint64_t jobs() const { return jobs_; }

private:
    headrace::JobReport total_;
    std::uint64_t jobs_ = 0;
};

} // namespace job_program
