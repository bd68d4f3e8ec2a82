// apps/headrace/report_gantt.cpp - see report_page.hpp: a trace as a picture.
#include "report_page.hpp"
#include <headrace/core/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <map>
#include <string>
#include <utility>

namespace headrace_program {
namespace {

constexpr double gantt_width = 900, labels = 220, gantt_row = 16, axis = 22;
/// Requests beyond so many are too narrow to be seen, and make pages that browsers do not open.
constexpr std::size_t most_boxes = 20000;

using Row = std::pair<std::int64_t, std::int64_t>; // process, thread

} // namespace

std::string gantt_of(const ReportJson& trace, const std::string& name) {
    const auto events = trace.find("traceEvents");
    const ReportJson& list = events != trace.end() ? *events : trace;
    if (!list.is_array())
        throw headrace::Error{headrace::ErrorKind::invalid_argument, name + ": --trace is no trace"};
    std::map<std::int64_t, std::string> processes;
    std::map<Row, std::string> threads;
    std::map<Row, std::size_t> rows;
    double begin = 1e300, end = 0;
    std::size_t boxes = 0;
    for (const ReportJson& event : list) {
        const std::string phase = event.value("ph", "");
        const Row row{event.value("pid", std::int64_t{0}), event.value("tid", std::int64_t{0})};
        if (phase == "M" && event.value("name", "") == "process_name")
            processes[row.first] = event.at("args").value("name", "");
        if (phase == "M" && event.value("name", "") == "thread_name")
            threads[row] = event.at("args").value("name", "");
        if (phase != "X") continue;
        rows.emplace(row, 0);
        begin = std::min(begin, event.value("ts", 0.0));
        end = std::max(end, event.value("ts", 0.0) + event.value("dur", 0.0));
        ++boxes;
    }
    if (rows.empty())
        throw headrace::Error{headrace::ErrorKind::invalid_argument, name + ": --trace has no requests"};
    std::size_t count = 0, process = 0;
    std::string text;
    std::map<std::int64_t, std::size_t> colours;
    for (auto& [row, place] : rows) {
        place = count++;
        if (colours.emplace(row.first, process).second) ++process;
        const double y = gantt_row * static_cast<double>(place);
        text += fmt::format("<text x=\"0\" y=\"{:.1f}\">{} {}</text>", y + 12, escaped(processes[row.first]),
                            escaped(threads[row]));
    }
    const double scale = (gantt_width - labels) / std::max(end - begin, 1e-3);
    const double least = boxes > most_boxes ? 0.3 : 0; // of a pixel
    for (const ReportJson& event : list) {
        if (event.value("ph", "") != "X") continue;
        const Row row{event.value("pid", std::int64_t{0}), event.value("tid", std::int64_t{0})};
        const double length = event.value("dur", 0.0) * scale;
        if (length < least) continue;
        text += fmt::format("<rect x=\"{:.2f}\" y=\"{:.1f}\" width=\"{:.2f}\" height=\"{}\" fill=\"{}\">"
                            "<title>{}: {:.6g} ms</title></rect>",
                            labels + (event.value("ts", 0.0) - begin) * scale,
                            gantt_row * static_cast<double>(rows[row]) + 1, std::max(length, 0.25),
                            gantt_row - 2, colour_of(colours[row.first]), escaped(event.value("name", "")),
                            event.value("dur", 0.0) / 1000);
    }
    const double height = gantt_row * static_cast<double>(count) + axis;
    constexpr int ticks = 5;
    for (int i = 0; i <= ticks; ++i) {
        const double part = static_cast<double>(i) / ticks, x = labels + part * (gantt_width - labels);
        text +=
            fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"{}\">{:.4g} ms</text>", x, height - 6,
                        i == 0       ? "start"
                        : i == ticks ? "end"
                                     : "middle",
                        part * (end - begin) / 1000);
    }
    return fmt::format("<svg width=\"{0}\" height=\"{1}\" viewBox=\"0 0 {0} {1}\" role=\"img\">"
                       "<title>What ran when</title>{2}</svg>\n",
                       gantt_width, height, text);
}

} // namespace headrace_program
