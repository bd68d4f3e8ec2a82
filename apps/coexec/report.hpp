// apps/coexec/report.hpp - what a run has found, for people and as JSON.
#pragma once
#include "options.hpp"
#include <headrace/domains/report.hpp>

#include <optional>
#include <string>
#include <vector>

namespace coexec {

/// One run: from giving the job out until its results are on the host.
struct Run {
    double seconds = 0;
    headrace::JobReport job;
};

/// `runs`: one at least, in order of their seconds.
struct Findings {
    std::string problem; ///< in words
    std::vector<Run> runs;
    std::optional<Verdict> verdict; ///< unless nobody asked

    [[nodiscard]] const Run& median() const { return runs[(runs.size() - 1) / 2]; }
};

/// Several lines.
[[nodiscard]] std::string table_of(const Findings& findings);
[[nodiscard]] std::string json_of(const Options& options, const Findings& findings);

} // namespace coexec
