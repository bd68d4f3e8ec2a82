// domains/streams/stream_report.cpp - see stream_report.hpp.
#include <headrace/domains/streams/stream_report.hpp>

#include <fmt/format.h>

namespace headrace {

std::string to_string(const StreamReport& report) {
    std::string text = fmt::format("{} items in {:.3g} s", report.items, report.seconds);
    if (report.efficiency.value)
        text +=
            fmt::format(": S = {:.3g}, Se = {:.3g}, efficiency {:.1f} %", report.speed_up.value.value_or(0),
                        report.expected.value.value_or(0), 100 * *report.efficiency.value);
    else
        text += ": no S, since " + report.efficiency.why_absent;
    if (report.parts.size() > 1)
        text += fmt::format("; filled in {:.3g} s, drained in {:.3g} s", report.fill_seconds,
                            report.drain_seconds);
    return text;
}

} // namespace headrace
