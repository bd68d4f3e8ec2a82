// apps/fluorescence/report.hpp - what became of the light, for people and for programs.
#pragma once
#include "problem.hpp"
#include "simulation.hpp"
#include <headrace/domains/report.hpp>

#include <string>

namespace fluorescence {

/// The figures of one run beside those of its job. JSON: an object; figures are {value, standard_error}.
[[nodiscard]] std::string json_of(const Problem& problem, const Settings& settings, const Totals& totals,
                                  const headrace::JobReport& job);
/// Several of them: {"runs": [...]}.
[[nodiscard]] std::string json_of(const std::vector<std::string>& runs);

[[nodiscard]] std::string table_of(const Problem& problem, const Settings& settings, const Totals& totals);

} // namespace fluorescence
