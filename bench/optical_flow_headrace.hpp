// bench/optical_flow_headrace.hpp - headrace-optical-flow's own work, as a contestant.
#pragma once
#include "optical_flow_baseline.hpp"

#include <memory>
#include <string>

namespace bench {

/// `set`: as for open_set. Several devices have whole pairs or parts of pairs, found by measuring; with
/// "@whole" or "@parts" behind it these. `pairs_at_once`: whole ones on a device; 0: as many as fill it.
[[nodiscard]] std::unique_ptr<FlowProgram> optical_flow_headrace(const std::string& set,
                                                                 const FlowProblem& problem,
                                                                 std::size_t frames,
                                                                 std::size_t pairs_at_once);

} // namespace bench
