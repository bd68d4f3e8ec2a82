// apps/headrace/report_page.cpp - see report_page.hpp: the page.
#include "report_page.hpp"
#include <headrace/core/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <string_view>
#include <utility>
#include <vector>

namespace headrace_program {
namespace {

constexpr double chart_width = 560, row_height = 22, label_width = 150;

constexpr std::string_view style = R"(
body { font: 15px/1.45 system-ui, sans-serif; margin: 2rem; color: #1d2129; background: #fff; }
h1 { font-size: 1.35rem; margin: 0 0 .2rem; } h2 { font-size: 1.05rem; margin: 1.6rem 0 .4rem; }
.reports { display: flex; flex-wrap: wrap; gap: 3rem; align-items: flex-start; }
.report { max-width: 46rem; } .report > p { margin: .2rem 0; color: #555c66; }
table { border-collapse: collapse; font-size: .9rem; } caption { text-align: left; font-weight: 600; padding-top: .8rem; }
th, td { text-align: right; padding: .15rem .6rem; border-bottom: 1px solid #e3e6ea; vertical-align: top; }
th:first-child, td:first-child { text-align: left; } td.text { text-align: left; }
svg text { font: 12px system-ui, sans-serif; fill: #1d2129; } svg { display: block; max-width: 100%; }
ul { margin: .2rem 0; padding-left: 1.2rem; } .scroll { overflow-x: auto; }
)";

/// As in the JSON; text without quotes.
std::string text_of(const ReportJson& value) {
    if (value.is_string()) return value.get<std::string>();
    return value.dump(-1, ' ', false, ReportJson::error_handler_t::replace);
}

double number_of(const ReportJson& object, const char* key) {
    const auto found = object.find(key);
    return found != object.end() && found->is_number() ? found->get<double>() : 0;
}

std::string rounded(double value) { return fmt::format("{:.3g}", value); }

std::string bytes_text(double bytes) {
    constexpr std::array units{"B", "KB", "MB", "GB", "TB", "PB"};
    std::size_t unit = 0;
    while (bytes >= 1000 && unit + 1 < units.size()) {
        bytes /= 1000;
        ++unit;
    }
    return fmt::format("{:.3g} {}", bytes, units[unit]);
}

/// Parts of a report that have devices of their own: runs of an input file, the job of a report about a
/// problem.
std::vector<ReportJson> runs_of(const ReportJson& report) {
    if (const auto runs = report.find("runs"); runs != report.end() && runs->is_array())
        return {runs->begin(), runs->end()};
    if (const auto job = report.find("job"); job != report.end() && job->is_object()) {
        ReportJson both = report;
        both.erase("job");
        both.update(*job);
        return {both};
    }
    return {report};
}

/// Bars, one below the other.
class Bars {
public:
    explicit Bars(double most) : most_(most > 0 ? most : 1) {}

    /// The first part of it, up to `dark`, is the stronger colour.
    void add(const std::string& label, double value, double dark, const char* colour,
             const std::string& says) {
        const double y = row_height * static_cast<double>(rows_++), width = chart_width - label_width - 150;
        text_ += fmt::format("<text x=\"0\" y=\"{:.1f}\">{}</text>", y + 15, escaped(label));
        const auto bar = [&](double length, double opacity) {
            text_ += fmt::format("<rect x=\"{}\" y=\"{:.1f}\" width=\"{:.2f}\" height=\"{}\" fill=\"{}\" "
                                 "fill-opacity=\"{}\"/>",
                                 label_width, y + 3, std::clamp(length / most_, 0.0, 1.0) * width,
                                 row_height - 6, colour, opacity);
        };
        bar(value, 0.35);
        bar(dark, 1);
        text_ +=
            fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\">{}</text>",
                        label_width + std::clamp(value / most_, 0.0, 1.0) * width + 6, y + 15, escaped(says));
    }
    [[nodiscard]] std::string svg(const std::string& title) const {
        const double height = row_height * static_cast<double>(rows_);
        return fmt::format("<svg width=\"{0}\" height=\"{1}\" viewBox=\"0 0 {0} {1}\" role=\"img\">"
                           "<title>{2}</title>{3}</svg>\n",
                           chart_width, height, escaped(title), text_);
    }

private:
    double most_;
    std::size_t rows_ = 0;
    std::string text_;
};

/// The keys that are numbers, texts or figures, of objects side by side.
std::string table_of(const std::string& caption,
                     const std::vector<std::pair<std::string, ReportJson>>& columns) {
    std::vector<std::string> keys;
    for (const auto& [name, object] : columns)
        for (const auto& [key, value] : object.items())
            if ((value.is_primitive() || (value.is_object() && value.contains("absent"))) &&
                std::ranges::find(keys, key) == keys.end())
                keys.push_back(key);
    if (keys.empty()) return {};
    std::string html =
        "<div class=\"scroll\"><table><caption>" + escaped(caption) + "</caption><tr><th></th>";
    for (const auto& [name, object] : columns) html += "<th>" + escaped(name) + "</th>";
    html += "</tr>\n";
    for (const std::string& key : keys) {
        html += "<tr><td>" + escaped(key) + "</td>";
        for (const auto& [name, object] : columns) {
            const auto found = object.find(key);
            const ReportJson value = found == object.end() ? ReportJson("")
                                     : found->is_object()  ? found->at("absent")
                                                           : *found;
            html += fmt::format("<td{} data-column=\"{}\" data-key=\"{}\">{}</td>",
                                value.is_string() ? " class=\"text\"" : "", escaped(name), escaped(key),
                                escaped(text_of(value)));
        }
        html += "</tr>\n";
    }
    return html + "</table></div>\n";
}

/// What a device did and why, in sentences.
std::string decisions_about(const ReportJson& device) {
    std::vector<std::string> says;
    if (device.contains("capability"))
        says.push_back(fmt::format("counted as {} of the fastest device, and got {} of the work in {} tasks",
                                   rounded(number_of(device, "capability")),
                                   fmt::format("{:.1f} %", 100 * number_of(device, "share")),
                                   text_of(device.value("tasks", ReportJson(0)))));
    if (const double slowdown = number_of(device, "slowdown"); slowdown > 1.05)
        says.push_back(fmt::format("was {} times as slow at its end as at its best, so its tasks shrank",
                                   rounded(slowdown)));
    if (const double given = number_of(device, "seeds_given") + number_of(device, "units_given"); given > 0)
        says.push_back(fmt::format("gave {} seeds and units to devices that had nothing to do", given));
    if (const double received = number_of(device, "units_received"); received > 0)
        says.push_back(fmt::format("received {} units of others", received));
    if (device.contains("reserve")) says.push_back("was on standby: " + text_of(device.at("reserve")));
    if (device.contains("failure")) says.push_back("was retired: " + text_of(device.at("failure")));
    if (says.empty()) return {};
    return "<li><b>" + escaped(text_of(device.value("id", ReportJson("?")))) + "</b> " +
           escaped(fmt::format("{}", fmt::join(says, "; "))) + ".</li>\n";
}

std::string charts_of(const ReportJson& run, const ReportJson& devices) {
    const double seconds = number_of(run, "seconds");
    double most_bytes = 0, most_joules = 0;
    for (const ReportJson& device : devices) {
        most_bytes = std::max({most_bytes, number_of(device, "bytes_in"), number_of(device, "bytes_out")});
        most_joules = std::max(most_joules, number_of(device, "energy_joules"));
    }
    Bars shares(1), times(seconds), transfers(most_bytes), energy(most_joules), lanes(1);
    bool has_shares = false, has_lanes = false;
    for (std::size_t i = 0; i < devices.size(); ++i) {
        const ReportJson& device = devices[i];
        const std::string id = text_of(device.value("id", ReportJson("?")));
        const char* const colour = colour_of(i);
        if (device.contains("share")) {
            has_shares = true;
            const double share = number_of(device, "share");
            shares.add(id, share, share, colour, fmt::format("{:.2f} %", 100 * share));
        }
        const double busy = number_of(device, "busy_seconds"),
                     end = std::max(busy, number_of(device, "finished_seconds"));
        times.add(id, end, busy, colour, fmt::format("busy {} s, until {} s", rounded(busy), rounded(end)));
        const double in = number_of(device, "bytes_in"), out = number_of(device, "bytes_out");
        transfers.add(id + " in", in, in, colour, bytes_text(in));
        transfers.add(id + " out", out, out, colour, bytes_text(out));
        if (const auto joules = device.find("energy_joules"); joules != device.end() && joules->is_number())
            energy.add(id, joules->get<double>(), joules->get<double>(), colour,
                       rounded(joules->get<double>()) + " J");
        if (const auto engine = device.find("engine");
            engine != device.end() && number_of(*engine, "lanes") > 0) {
            has_lanes = true;
            const double at_work = number_of(*engine, "lanes_at_work");
            lanes.add(id, at_work, at_work, colour,
                      fmt::format("{:.1f} % of {} lanes", 100 * at_work, number_of(*engine, "lanes")));
        }
    }
    std::string html;
    if (has_shares) html += "<h2>Shares of the work</h2>\n" + shares.svg("Share of each device");
    html += "<h2>Balance</h2>\n" + times.svg("Busy time of each device, and when it had finished");
    html += "<h2>Transfers</h2>\n" + transfers.svg("Bytes moved to and from each device");
    if (has_lanes)
        html +=
            "<h2>Lanes at work</h2>\n" + lanes.svg("Average share of a lane group's lanes that had a unit");
    if (most_joules > 0) html += "<h2>Energy</h2>\n" + energy.svg("Energy of each device");
    return html;
}

std::string run_of(const ReportJson& run) {
    const ReportJson& devices = run.at("devices");
    std::string html = charts_of(run, devices), decisions;
    for (const ReportJson& device : devices) decisions += decisions_about(device);
    if (const auto left_out = run.find("left_out"); left_out != run.end())
        for (const ReportJson& out : *left_out)
            decisions += "<li><b>" + escaped(text_of(out.at("id"))) +
                         "</b> was left out: " + escaped(text_of(out.at("why"))) + ".</li>\n";
    if (!decisions.empty()) html += "<h2>What the scheduler decided</h2>\n<ul>\n" + decisions + "</ul>\n";
    html += "<h2>Numbers</h2>\n" + table_of("The run", {{"value", run}});
    std::vector<std::pair<std::string, ReportJson>> columns, engines;
    for (const ReportJson& device : devices) {
        const std::string id = text_of(device.value("id", ReportJson("?")));
        columns.emplace_back(id, device);
        if (device.contains("engine")) engines.emplace_back(id, device.at("engine"));
    }
    html += table_of("Devices", columns);
    if (!engines.empty()) html += table_of("Their engines and queues", engines);
    return html;
}

std::string report_of(const NamedReport& report) {
    std::string html = "<section class=\"report\">\n";
    const std::vector<ReportJson> runs = runs_of(report.json);
    for (const ReportJson& run : runs) {
        const auto devices = run.find("devices");
        if (devices == run.end() || !devices->is_array() || !run.contains("seconds"))
            throw headrace::Error{headrace::ErrorKind::invalid_argument,
                                  report.name + ": is no report of a run: it has no devices and seconds"};
        const ReportJson title = run.value("name", run.value("job", run.value("program", ReportJson("run"))));
        html += "<h1>" + escaped(text_of(title)) + "</h1>\n<p>" + escaped(report.name) + ": " +
                rounded(number_of(run, "seconds")) + " s" +
                (run.contains("policy") ? ", policy " + escaped(text_of(run.at("policy"))) : "") + "</p>\n" +
                run_of(run);
    }
    if (!report.trace.is_null())
        html += "<h2>When</h2>\n<div class=\"scroll\">" + gantt_of(report.trace, report.name) + "</div>\n";
    return html + "</section>\n";
}

/// A field of CSV (RFC 4180).
std::string field(std::string text) {
    if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
    for (std::size_t at = 0; (at = text.find('"', at)) != std::string::npos; at += 2) text.insert(at, 1, '"');
    return '"' + text + '"';
}

/// Numbers and texts of the JSON, each with the way to it.
void add_lines(const std::string& begin, const std::string& where, const ReportJson& value,
               std::string& csv) {
    if (value.is_structured()) {
        for (const auto& [key, part] : value.items())
            add_lines(begin, value.is_array() || part.is_structured() ? where + "/" + key : where + "," + key,
                      part, csv);
        return;
    }
    const bool has_key = where.find(',') != std::string::npos;
    csv.append(begin).append(",").append(where).append(has_key ? "," : ",,");
    csv.append(field(text_of(value))).append("\n");
}

} // namespace

const char* colour_of(std::size_t device) {
    constexpr std::array colours{"#3b6fb6", "#d9822b", "#3d9970", "#a5507f",
                                 "#7a6bc2", "#b5a132", "#4aa3b8", "#8a5a44"};
    return colours[device % colours.size()];
}

std::string escaped(std::string_view text) {
    std::string html;
    for (const char c : text) switch (c) {
        case '&':
            html += "&amp;";
            break;
        case '<':
            html += "&lt;";
            break;
        case '>':
            html += "&gt;";
            break;
        case '"':
            html += "&quot;";
            break;
        default:
            html += c;
        }
    return html;
}

std::string page_of(std::span<const NamedReport> reports) {
    std::string html = fmt::format("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
                                   "<link rel=\"icon\" href=\"data:,\">\n<title>Headrace: {}</title>\n"
                                   "<style>{}</style>\n</head>\n<body>\n<div class=\"reports\">\n",
                                   escaped(reports.front().name), style);
    for (const NamedReport& report : reports) html += report_of(report);
    return html + "</div>\n</body>\n</html>\n";
}

std::string csv_of(std::span<const NamedReport> reports) {
    std::string csv = "report,run,where,key,value\n";
    for (const NamedReport& report : reports) {
        const std::vector<ReportJson> runs = runs_of(report.json);
        for (std::size_t run = 0; run < runs.size(); ++run)
            add_lines(field(report.name) + "," + std::to_string(run + 1), "", runs[run], csv);
    }
    return csv;
}

} // namespace headrace_program
