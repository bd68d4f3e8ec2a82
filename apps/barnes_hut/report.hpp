// apps/barnes_hut/report.hpp - what came out, for people and for programs.
#pragma once
#include "job_program/job_sum.hpp"
#include "options.hpp"
#include "simulation.hpp"

#include <string>
#include <vector>

namespace barnes_hut {

[[nodiscard]] std::string json_of(const Options& options, const Simulation& simulation,
                                  const std::vector<Totals>& history, const job_program::JobSum& jobs);
[[nodiscard]] std::string table_of(const Simulation& simulation, const std::vector<Totals>& history,
                                   const job_program::JobSum& jobs);

} // namespace barnes_hut
