// apps/headrace/report_page.hpp - reports of docs/report.schema.json as one page for a browser, and as CSV.
#pragma once
#include <nlohmann/json.hpp>

#include <span>
#include <string>

namespace headrace_program {

using ReportJson = nlohmann::ordered_json;

/// A file that was read.
struct NamedReport {
    std::string name; ///< of the file
    ReportJson json;
    ReportJson trace = nullptr; ///< of --trace; null: none
};

/// A page that needs nothing else: no script, no address. Reports stand side by side; several runs of one
/// follow each other. Every number of a table is written as in the JSON. Errors  invalid_argument: a report
/// without devices
[[nodiscard]] std::string page_of(std::span<const NamedReport> reports);

/// "report,run,where,key,value": a line for each number and text, wherever it is in the JSON.
[[nodiscard]] std::string csv_of(std::span<const NamedReport> reports);

/// What happened when, of a trace of programs (Chrome's format): a row for each device's lane, in SVG.
/// Errors  invalid_argument: not such a trace
[[nodiscard]] std::string gantt_of(const ReportJson& trace, const std::string& name);

/// For text in HTML and SVG.
[[nodiscard]] std::string escaped(std::string_view text);

/// Colours of devices, in their order.
[[nodiscard]] const char* colour_of(std::size_t device);

} // namespace headrace_program
