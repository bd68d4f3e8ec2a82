// apps/barnes_hut/report.hpp - what came out, for people and for programs.
#pragma once
#include "options.hpp"
#include "simulation.hpp"
#include <headrace/domains/report.hpp>

#include <string>
#include <utility>
#include <vector>

namespace barnes_hut {

/// What all jobs of a run did together: seconds, tasks and traffic are sums.
class JobSum {
public:
    JobSum();
    void add(const headrace::JobReport& job);
    void set_ranks(std::vector<headrace::cluster::RankTraffic> ranks) { total_.ranks = std::move(ranks); }
    [[nodiscard]] const headrace::JobReport& total() const { return total_; }
    [[nodiscard]] std::uint64_t jobs() const { return jobs_; }

private:
    headrace::JobReport total_;
    std::uint64_t jobs_ = 0;
};

[[nodiscard]] std::string json_of(const Options& options, const Simulation& simulation,
                                  const std::vector<Totals>& history, const JobSum& jobs);
[[nodiscard]] std::string table_of(const Simulation& simulation, const std::vector<Totals>& history,
                                   const JobSum& jobs);

} // namespace barnes_hut
