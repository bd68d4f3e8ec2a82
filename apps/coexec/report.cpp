// apps/coexec/report.cpp - see report.hpp.
#include "report.hpp"

#include <nlohmann/json.hpp>

#include <cmath>
#include <cstdio>

namespace coexec {
namespace {

using Json = nlohmann::ordered_json;

Json json_of(const Verdict& verdict) {
    // JSON has no infinity.
    return {{"compared", verdict.compared},
            {"wrong", verdict.wrong},
            {"worst_of_allowed", std::isfinite(verdict.worst) ? Json(verdict.worst) : Json()},
            {"first_wrong", verdict.first_wrong}};
}

std::string text(const char* form, auto... values) {
    char line[200];
    std::snprintf(line, sizeof line, form, values...);
    return line;
}

} // namespace

std::string table_of(const Findings& findings) {
    std::string table = findings.problem + "\n";
    const std::vector<Run>& runs = findings.runs;
    if (runs.size() == 1)
        table += text("%.6g s\n", runs.front().seconds);
    else
        table += text("%.6g s, median of %zu runs (%.6g to %.6g)\n", findings.median().seconds, runs.size(),
                      runs.front().seconds, runs.back().seconds);
    if (findings.verdict)
        table += text("verified: %llu values compared, %llu wrong, largest error %.3g of what is allowed\n",
                      static_cast<unsigned long long>(findings.verdict->compared),
                      static_cast<unsigned long long>(findings.verdict->wrong), findings.verdict->worst);
    return table + findings.median().job.table();
}

std::string json_of(const Options& options, const Findings& findings) {
    Json json{{"problem", std::string(options.problem->name)},
              {"description", findings.problem},
              {"size", options.settings.size},
              {"seed", options.settings.seed},
              {"memory", memory_names[static_cast<unsigned>(options.runtime.memory)]},
              {"median_seconds", findings.median().seconds},
              {"least_seconds", findings.runs.front().seconds},
              {"most_seconds", findings.runs.back().seconds},
              {"runs", findings.runs.size()}};
    if (findings.verdict) json["verdict"] = json_of(*findings.verdict);
    json["job"] = Json::parse(findings.median().job.json());
    return json.dump(2) + "\n";
}

} // namespace coexec
