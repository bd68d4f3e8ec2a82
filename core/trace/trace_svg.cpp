// core/trace/trace_svg.cpp - a trace as a Gantt chart: a picture of what each device and lane did at which
// time.
#include <headrace/core/trace.hpp>
#include <headrace/internal/core/sorted_indices.hpp>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <iterator>
#include <map>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace headrace {
namespace {

using std::chrono::nanoseconds;

// ---- text

/// Length in bytes of the UTF-8 character at the front; 0 if it is invalid or not allowed in XML.
std::size_t character(std::string_view text) {
    const auto byte = [&](std::size_t i) -> unsigned {
        return i < text.size() ? static_cast<unsigned char>(text[i]) : 0;
    };
    const unsigned lead = byte(0);
    if (lead < 0x80) return lead >= 0x20 || lead == '\t' || lead == '\n' ? 1 : 0;
    const std::size_t length = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
    unsigned code = lead & (0x7FU >> length);
    for (std::size_t i = 1; i < length; ++i) {
        if ((byte(i) & 0xC0U) != 0x80) return 0;
        code = code << 6 | (byte(i) & 0x3FU);
    }
    constexpr std::array<unsigned, 5> least{0, 0, 0x80, 0x800, 0x10000}; // longer forms are invalid
    const bool is_one = lead >= 0xC0 && code >= least[length] && code <= 0x10FFFF &&
                        (code < 0xD800 || code > 0xDFFF) && code != 0xFFFE && code != 0xFFFF;
    return is_one ? length : 0;
}

/// Escapes text for XML text and attributes. Characters that XML does not allow become U+FFFD.
std::string escaped(std::string_view text) {
    std::string out;
    while (!text.empty()) {
        const std::size_t length = character(text);
        switch (text.front()) {
        case '&':
            out += "&amp;";
            break;
        case '<':
            out += "&lt;";
            break;
        case '>':
            out += "&gt;";
            break;
        case '"':
            out += "&quot;";
            break;
        default:
            out += length == 0 ? std::string_view("\xEF\xBF\xBD") : text.substr(0, length);
        }
        text.remove_prefix(std::max<std::size_t>(length, 1));
    }
    return out;
}

std::string number(double value, int places) {
    std::array<char, 64> digits{};
    const auto end =
        std::to_chars(digits.data(), digits.data() + digits.size(), value, std::chars_format::fixed, places);
    std::string text(digits.data(), end.ptr);
    if (const auto point = text.find('.'); point != std::string::npos) {
        text.resize(text.find_last_not_of('0') + 1);
        if (text.back() == '.') text.pop_back();
    }
    return text;
}

struct TimeUnit {
    double nanoseconds;
    std::string_view name;
};

TimeUnit unit_for(nanoseconds time) {
    constexpr std::array<TimeUnit, 3> units{{{1e9, "s"}, {1e6, "ms"}, {1e3, "µs"}}};
    const auto fits = [time](const TimeUnit& unit) {
        return static_cast<double>(time.count()) >= unit.nanoseconds;
    };
    const auto* const found = std::ranges::find_if(units, fits);
    return found == units.end() ? TimeUnit{1, "ns"} : *found;
}

std::string text_of(nanoseconds time) {
    const TimeUnit unit = unit_for(time);
    return number(static_cast<double>(time.count()) / unit.nanoseconds, 3).append(" ").append(unit.name);
}

std::string text_of_bytes(std::uint64_t bytes) {
    const auto value = static_cast<double>(bytes);
    return bytes < 1 << 20 ? number(value / (1 << 10), 2) + " KiB" : number(value / (1 << 20), 2) + " MiB";
}

// ---- what is drawn

enum class Kind : std::uint8_t { job, item, work, in, out, host };

struct Look {
    std::string_view style, colour, meaning;
};

/// Indexed by Kind. Colour-blind people can distinguish these colours.
/// Source  M. Okabe and K. Ito, "Color Universal Design", 2008
constexpr std::array<Look, 6> looks{{{"job", "#999999", "jobs"},
                                     {"item", "#56b4e9", "items of a stream"},
                                     {"work", "#0072b2", "tasks, kernels"},
                                     {"in", "#e69f00", "to the device"},
                                     {"out", "#009e73", "from the device"},
                                     {"host", "#cc79a7", "host tasks"}}};

Kind kind_of(const Trace::Unit& unit) {
    return unit.device == "host"        ? Kind::host
           : unit.device == "jobs"      ? Kind::job
           : unit.device == "stream"    ? Kind::item
           : unit.name == "to device"   ? Kind::in
           : unit.name == "from device" ? Kind::out
                                        : Kind::work;
}

/// One request, or several that are too close to distinguish.
struct Bar {
    nanoseconds begin, end;
    nanoseconds busy; ///< sum over requests
    std::uint64_t count, bytes;
    std::string_view name; ///< of the first request
};

/// The requests of one unit. Overlapping requests are on different lines.
struct Row {
    std::size_t process;
    std::string_view device, name;
    Kind kind;
    bool is_made_of_requests;
    std::vector<std::vector<Bar>> lines;
};

// Pixels.
constexpr double left = 170, plot = 900, right = 90, line_height = 16, bar_height = 12, row_gap = 4,
                 device_gap = 12, process_height = 18, top = 56, bottom = 40;
constexpr double wide = 1, close = 0.5; // bars narrower than `wide` with a gap below `close` are joined
constexpr std::size_t most_lines = 3;   // of a row; other bars are joined with a bar that they overlap

/// The drawn width of a bar. A gap of one pixel separates neighbours. Short bars get a visible width.
double drawn(double width) { return width > 4 ? width - 1 : std::max(width, close); }

class Chart {
public:
    explicit Chart(nanoseconds length) : length_(std::max(length, nanoseconds(1))) {}

    /// Bars that are added from now on are those of another process. `name`: empty if there is one process.
    void begin_process(std::string_view name) { processes_.push_back(name); }
    /// Adds a bar. Bars of a process must be added in the order of their begins.
    void add(const Trace::Unit& unit, const Bar& bar) {
        Row& row = row_of(unit);
        requests_ += row.is_made_of_requests ? 0 : 1;
        if (row.kind == Kind::work) busy_[{row.process, unit.device}].add({Time(bar.begin), Time(bar.end)});
        const auto is_free = [&](const std::vector<Bar>& line) { return line.back().end <= bar.begin; };
        auto line = std::ranges::find_if(row.lines, is_free);
        if (line == row.lines.end() && row.lines.size() < most_lines) {
            row.lines.push_back({bar});
            return;
        }
        const bool overlaps = line == row.lines.end();
        if (overlaps)
            line = std::ranges::min_element(row.lines, {}, [](const auto& each) { return each.back().end; });
        Bar& last = line->back();
        const bool joins = width(bar.end - bar.begin) < wide && width(bar.begin - last.end) < close &&
                           (last.count > 1 || width(last.end - last.begin) < wide);
        if (!overlaps && !joins) {
            line->push_back(bar);
            return;
        }
        last.end = std::max(last.end, bar.end);
        last.busy += bar.busy;
        last.count += bar.count;
        last.bytes += bar.bytes;
    }

    [[nodiscard]] std::string draw(std::string_view caption) {
        // Of each process first jobs and streams, then devices in the order of their first requests, then
        // host lanes.
        std::ranges::stable_sort(rows_, {}, [this](const Row& row) {
            return std::tuple(row.process, !row.is_made_of_requests, row.kind == Kind::host,
                              order_.at({row.process, row.device}), row.kind);
        });
        double y = top;
        std::string bars;
        for (std::size_t i = 0; i < rows_.size(); ++i) {
            const bool begins_process = i == 0 || rows_[i].process != rows_[i - 1].process;
            const bool is_first = begins_process || rows_[i].device != rows_[i - 1].device;
            if (is_first && i > 0) y += device_gap;
            if (begins_process) y += label_process(bars, processes_.at(rows_[i].process), y);
            if (is_first) label_device(bars, rows_[i], y);
            draw_row(bars, rows_[i], y);
            y += row_gap + line_height * static_cast<double>(rows_[i].lines.size());
        }
        std::string out = begin(y + bottom + (caption.empty() ? 0 : line_height));
        out += heading();
        out += axis(y);
        if (!caption.empty())
            out += "<text" + at(left, y + bottom + 8) + ">" + escaped(caption) + "</text>\n";
        return out + bars + "</svg>\n";
    }

private:
    using Time = std::chrono::steady_clock::time_point;
    using Device = std::pair<std::size_t, std::string_view>; // of a process

    [[nodiscard]] double width(nanoseconds time) const {
        return plot * static_cast<double>(time.count()) / static_cast<double>(length_.count());
    }

    Row& row_of(const Trace::Unit& unit) {
        const auto same = std::ranges::find_if(rows_, [&](const Row& row) {
            return row.process == processes_.size() - 1 && row.device == unit.device && row.name == unit.name;
        });
        if (same != rows_.end()) return *same;
        order_.emplace(Device{processes_.size() - 1, unit.device}, order_.size());
        rows_.push_back(
            {processes_.size() - 1, unit.device, unit.name, kind_of(unit), unit.is_made_of_requests(), {}});
        return rows_.back();
    }

    [[nodiscard]] static std::string at(double x, double y) {
        return " x=\"" + number(x, 2) + "\" y=\"" + number(y, 2) + "\"";
    }

    [[nodiscard]] static std::string begin(double height) {
        const std::string across = number(left + plot + right, 0), down = number(height, 0);
        std::string out = R"(<?xml version="1.0" encoding="UTF-8"?>)"
                          "\n<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"" +
                          across + "\" height=\"" + down + "\" viewBox=\"0 0 " + across + " " + down +
                          "\" font-family=\"sans-serif\" font-size=\"11\" fill=\"#333\">\n<style>";
        for (const Look& look : looks)
            out.append(".").append(look.style).append("{fill:").append(look.colour).append("}");
        return out + "</style>\n<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n";
    }

    /// The title and the legend of the colours.
    [[nodiscard]] std::string heading() const {
        const std::string what =
            requests_ == 0 ? "nothing ran" : std::to_string(requests_) + " requests in " + text_of(length_);
        std::string out = "<text" + at(left, 20) + " font-size=\"13\">" + what + "</text>\n";
        double x = left;
        for (std::size_t kind = 0; kind < looks.size(); ++kind) {
            if (std::ranges::none_of(
                    rows_, [&](const Row& row) { return row.kind == Kind{static_cast<std::uint8_t>(kind)}; }))
                continue;
            out.append("<rect class=\"").append(looks[kind].style).append("\"").append(at(x, 31));
            out += R"( width="10" height="10"/>)";
            out.append("<text")
                .append(at(x + 14, 40))
                .append(">")
                .append(looks[kind].meaning)
                .append("</text>\n");
            x += 30 + 6.5 * static_cast<double>(looks[kind].meaning.size());
        }
        if (!busy_.empty())
            out += "<text" + at(left + plot + right - 8, 40) + " text-anchor=\"end\">idle</text>\n";
        return out;
    }

    /// Grid lines at round times; at most ten intervals.
    [[nodiscard]] std::string axis(double y) const {
        const TimeUnit unit = unit_for(length_);
        const double length = static_cast<double>(length_.count()) / unit.nanoseconds;
        double step = std::pow(10, std::floor(std::log10(length / 10)));
        for (const double factor : {2.0, 2.5, 2.0}) // 1, 2, 5, 10
            if (length / step > 10) step *= factor;
        const int places = std::max(0, static_cast<int>(-std::floor(std::log10(step))));
        std::string out = "<g text-anchor=\"middle\">\n";
        for (int i = 0; i * step <= length; ++i) {
            const double x = left + plot * i * step / length;
            out += "<path d=\"M" + number(x, 2) + " " + number(top - 6, 2) + "V" + number(y + 4, 2) +
                   "\" stroke=\"#ddd\"/><text" + at(x, y + 18) + ">" + number(i * step, places) + "</text>\n";
        }
        return out + "<text" + at(left + plot / 2, y + 34) + ">time [" + std::string(unit.name) +
               "]</text></g>\n";
    }

    /// Above the rows of a process. Returns the height that it takes.
    static double label_process(std::string& out, std::string_view name, double y) {
        if (name.empty()) return 0;
        out += "<text" + at(8, y + 10) + " font-size=\"13\">" + escaped(name) + "</text>\n";
        return process_height;
    }

    void label_device(std::string& out, const Row& row, double y) const {
        out += "<text" + at(8, y + 10) + " font-weight=\"bold\">" + escaped(row.device) + "</text>\n";
        const auto busy = busy_.find({row.process, row.device});
        if (busy == busy_.end()) return;
        const double idle = 1 - std::min(1.0, width(busy->second.total()) / plot);
        out += "<text" + at(left + plot + right - 8, y + 10) + " text-anchor=\"end\">" +
               number(100 * idle, 1) +
               " %<title>share of the time in which no task or kernel ran</title></text>\n";
    }

    void draw_row(std::string& out, const Row& row, double y) const {
        if (row.name != row.device)
            out += "<text" + at(left - 8, y + 10) + " text-anchor=\"end\">" + escaped(row.name) + "</text>\n";
        out.append("<g class=\"").append(looks[static_cast<std::size_t>(row.kind)].style).append("\">\n");
        for (const std::vector<Bar>& line : row.lines) {
            for (const Bar& bar : line)
                out += "<rect" + at(left + width(bar.begin), y) + " width=\"" +
                       number(drawn(width(bar.end - bar.begin)), 2) + "\" height=\"" + number(bar_height, 0) +
                       "\"><title>" + tip(bar) + "</title></rect>\n";
            y += line_height;
        }
        out += "</g>\n";
    }

    [[nodiscard]] static std::string tip(const Bar& bar) {
        std::string text = escaped(bar.name);
        if (bar.count > 1) text += " and " + std::to_string(bar.count - 1) + " more";
        text += "\nat " + text_of(bar.begin) + ", for " + text_of(bar.end - bar.begin);
        if (bar.count > 1) text += ", " + text_of(bar.busy / bar.count) + " each";
        if (bar.bytes > 0) text += "\n" + text_of_bytes(bar.bytes);
        return text;
    }

    nanoseconds length_;
    std::uint64_t requests_ = 0;
    std::vector<Row> rows_;
    std::vector<std::string_view> processes_;
    std::map<Device, std::size_t> order_; // by first request
    std::map<Device, BusyTime> busy_;     // of devices that compute
};

} // namespace

std::string Trace::svg(std::string_view caption) {
    const std::scoped_lock one(collecting_);
    collect();
    const std::scoped_lock lock(mutex_);

    const std::vector<Shown> all = shown();
    const Clock::time_point origin = begin_of(all);
    Clock::time_point end = origin;
    for (const Shown& process : all)
        for (const Span& span : process.spans) end = std::max(end, span.end);

    Chart chart(end - origin);
    for (const Shown& process : all) {
        chart.begin_process(process.process == nullptr ? std::string_view() : process.process->name);
        for (const std::size_t i :
             sorted_indices(process.spans.size(), [&](std::size_t at) { return process.spans[at].begin; })) {
            const Span& span = process.spans[i];
            chart.add(*process.units[span.track], {.begin = span.begin - origin,
                                                   .end = span.end - origin,
                                                   .busy = span.end - span.begin,
                                                   .count = 1,
                                                   .bytes = span.bytes,
                                                   .name = process.names[span.name]});
        }
    }
    return chart.draw(caption);
}

} // namespace headrace
