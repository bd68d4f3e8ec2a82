// bench/optical_flow_headrace.hpp - headrace-optical-flow's own work, as a contestant.
#pragma once
#include "optical_flow_baseline.hpp"

#include <memory>
#include <string>

namespace bench {

/// `set`: as for open_set. Several devices have parts of pairs, found by measuring; with "@whole" behind it
/// whole pairs.
[[nodiscard]] std::unique_ptr<FlowProgram>
optical_flow_headrace(const std::string& set, const FlowProblem& problem, std::size_t frames);

} // namespace bench
