// apps/coexec/report.cpp - see report.hpp.
#include "report.hpp"
#include <headrace/core/report.hpp>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace coexec {

std::string table_of(const Findings& findings) {
    std::string table = findings.problem + "\n";
    const std::vector<Run>& runs = findings.runs;
    if (runs.size() == 1)
        table += fmt::format("{:.6g} s\n", runs.front().seconds);
    else
        table += fmt::format("{:.6g} s, median of {} runs ({:.6g} to {:.6g})\n", findings.median().seconds,
                             runs.size(), runs.front().seconds, runs.back().seconds);
    if (findings.verdict)
        table +=
            fmt::format("verified: {} values compared, {} wrong, largest error {:.3g} of what is allowed\n",
                        findings.verdict->compared, findings.verdict->wrong, findings.verdict->worst);
    return table + findings.median().job.table();
}

std::string json_of(const Options& options, const Findings& findings) {
    nlohmann::ordered_json json{{"problem", options.problem->name},
                                {"description", findings.problem},
                                {"size", options.settings.size},
                                {"seed", options.settings.seed},
                                {"memory", memory_names[static_cast<unsigned>(options.runtime.memory)]},
                                {"median_seconds", findings.median().seconds},
                                {"least_seconds", findings.runs.front().seconds},
                                {"most_seconds", findings.runs.back().seconds},
                                {"runs", findings.runs.size()}};
    if (const auto& verdict = findings.verdict)
        json["verdict"] = {{"compared", verdict->compared},
                           {"wrong", verdict->wrong},
                           {"worst_of_allowed", verdict->worst}, // infinite: null
                           {"first_wrong", verdict->first_wrong}};
    json["job"] = findings.median().job;
    return headrace::report_json(json) + "\n";
}

} // namespace coexec
