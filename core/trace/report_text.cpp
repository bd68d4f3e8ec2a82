// core/trace/report_text.cpp - see report.hpp.
#include <headrace/core/report.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

namespace headrace {

ReportText::ReportText(std::string title, std::vector<Column> columns)
    : columns_(std::move(columns)), text_(std::move(title) + '\n') {
    std::vector<std::string> titles;
    std::ranges::transform(columns_, std::back_inserter(titles),
                           [](const Column& column) { return std::string(column.title); });
    device("device", "name", titles);
}

void ReportText::device(std::string_view id, std::string_view name, const std::vector<std::string>& cells) {
    fmt::format_to(std::back_inserter(text_), "  {:<12} {:<34.34}", id, name);
    for (std::size_t i = 0; i < columns_.size(); ++i)
        fmt::format_to(std::back_inserter(text_), " {:>{}}", cells.at(i), columns_[i].width);
    text_ += '\n';
}

void ReportText::left_out(std::string_view id, std::string_view why) {
    line(fmt::format("  {:<12} left out: {}", id, why));
}

std::string mebibytes(std::uint64_t bytes) {
    return fmt::format("{:.1f}", static_cast<double>(bytes) / (1 << 20));
}

} // namespace headrace
