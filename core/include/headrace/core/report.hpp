// core/report.hpp - reports: the JSON and the text that tell what a run did. Jobs and programs fill them.
#pragma once
#include <headrace/core/export.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace headrace {

/// The version of docs/report.schema.json. It increases when a key is removed or changes its meaning.
inline constexpr int report_schema_version = 1;

/// Writes the JSON of a report: an object of several lines, without a line end. `schema_version` comes first.
/// A number that is not finite is null. Bytes that are not UTF-8 are replaced.
///
/// `fields`: an object of nlohmann::ordered_json. A template, because users of the library need not have it.
template <class Json>
[[nodiscard]] std::string report_json(const Json& fields) {
    Json report{{"schema_version", report_schema_version}};
    report.update(fields);
    return report.dump(2, ' ', false, Json::error_handler_t::replace);
}

/// Writes the text of a report: a title, a table of devices, and lines below a device or below the table.
class HEADRACE_EXPORT ReportText {
public:
    /// A column after the names of devices, aligned to the right.
    struct Column {
        std::string_view title;
        std::size_t width;
    };
    ReportText(std::string title, std::vector<Column> columns);

    /// `cells`: one for each column.
    void device(std::string_view id, std::string_view name, const std::vector<std::string>& cells);
    void left_out(std::string_view id, std::string_view why);
    void line(std::string_view text) { (text_ += text) += '\n'; } ///< `text` starts with its indentation
    [[nodiscard]] const std::string& text() const noexcept { return text_; }

private:
    std::vector<Column> columns_;
    std::string text_;
};

/// Bytes as a number of MiB with one decimal.
[[nodiscard]] HEADRACE_EXPORT std::string mebibytes(std::uint64_t bytes);

} // namespace headrace
