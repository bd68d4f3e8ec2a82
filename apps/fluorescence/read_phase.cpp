// apps/fluorescence/read_phase.cpp - tables of phase functions, as spreadsheets and scripts write them.
#include "phase.hpp"
#include "program/printable.hpp"
#include <headrace/core/error.hpp>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>

namespace fluorescence {
namespace {

using headrace::Error;
using headrace::ErrorKind;

/// Between commas, semicolons, tabs or blanks.
std::vector<std::string_view> fields_of(std::string_view line) {
    constexpr std::string_view separators = ",; \t\r\"";
    std::vector<std::string_view> fields;
    for (std::size_t at = line.find_first_not_of(separators); at != line.npos;) {
        const std::size_t end = std::min(line.find_first_of(separators, at), line.size());
        fields.push_back(line.substr(at, end - at));
        at = line.find_first_not_of(separators, end);
    }
    return fields;
}

std::optional<double> number_of(std::string_view field) {
    if (field.starts_with('+')) field.remove_prefix(1);
    double value = 0;
    const auto [end, error] = std::from_chars(field.data(), field.data() + field.size(), value);
    if (error != std::errc{} || end != field.data() + field.size()) return std::nullopt;
    return value;
}

class PhaseTable {
public:
    PhaseTable(std::string_view text, const std::string& name) : name_(name) {
        constexpr std::string_view mark = "\xef\xbb\xbf";
        if (text.starts_with(mark)) text.remove_prefix(mark.size());
        while (!text.empty()) {
            const std::size_t end = std::min(text.find_first_of("\n\r"), text.size());
            ++line_;
            const std::string_view line = text.substr(0, end);
            add_line(line.substr(0, line.find('#')));
            const bool is_pair = text.substr(end).starts_with("\r\n");
            text.remove_prefix(std::min(text.size(), end + (is_pair ? 2 : 1)));
        }
    }

    std::vector<PhaseRow> take() {
        if (rows_.size() < 2) refuse("has fewer than two rows cos_theta, p");
        if (rows_.front().cosine > rows_.back().cosine) std::ranges::reverse(rows_);
        if (std::ranges::all_of(rows_, [](const PhaseRow& row) { return row.density == 0; }))
            refuse("has only p = 0");
        extend(rows_.front(), rows_[1], -1);
        extend(rows_.back(), rows_[rows_.size() - 2], 1);
        return std::move(rows_);
    }

private:
    [[noreturn]] void refuse(const std::string& why) const {
        throw Error{ErrorKind::invalid_argument, name_ + ": " + why};
    }
    [[noreturn]] void refuse_line(const std::string& why) const {
        refuse("line " + std::to_string(line_) + ": " + why);
    }

    void add_line(std::string_view line) {
        const auto fields = fields_of(line);
        if (fields.empty()) return;
        if (rows_.empty() && !is_named_ && !number_of(fields[0])) return take_names(fields);
        if (fields.size() != 2)
            refuse_line("has " + std::to_string(fields.size()) + " fields; wanted are cos_theta, p");
        const auto first = number_of(fields[0]), second = number_of(fields[1]);
        if (!first || !second)
            refuse_line("'" + program::printable(fields[first ? 1 : 0].substr(0, 40)) + "' is no number");
        double cosine = is_turned_ ? *second : *first;
        const double density = is_turned_ ? *first : *second;
        if (!(std::abs(cosine) <= 1 + 1e-6)) refuse_line("cos_theta must be from -1 to 1");
        if (!(density >= 0 && density <= 1e100)) refuse_line("p must be from 0 to 1e100");
        cosine = std::clamp(cosine, -1.0, 1.0);
        if (!rows_.empty()) {
            const double step = cosine - rows_.back().cosine;
            const bool falls = rows_.size() > 1 && rows_[1].cosine < rows_[0].cosine;
            if (std::abs(step) < least_step || (rows_.size() > 1 && (step < 0) != falls))
                refuse_line("cos_theta must rise from row to row, or fall");
        }
        rows_.push_back({cosine, density});
        if (rows_.size() > most_rows) refuse("has more than " + std::to_string(most_rows) + " rows");
    }
    void take_names(const std::vector<std::string_view>& names) {
        if (names.size() != 2 || std::ranges::count(names, "cos_theta") != 1 ||
            std::ranges::count(names, "p") != 1)
            refuse_line("its columns are not cos_theta and p");
        is_named_ = true;
        is_turned_ = names[0] == "p";
    }
    /// The outermost row, up to the end.
    void extend(const PhaseRow& outermost, const PhaseRow& next, double end) {
        const double gap = std::abs(end - outermost.cosine);
        if (gap == 0) return;
        if (gap > std::abs(outermost.cosine - next.cosine))
            refuse("its rows do not reach from cos_theta = -1 to 1");
        const PhaseRow row{end, outermost.density};
        rows_.insert(end < 0 ? rows_.begin() : rows_.end(), row);
    }

    static constexpr std::size_t most_rows = 1 << 20;
    static constexpr double least_step = 1e-30; // areas below underflow
    const std::string& name_;
    std::size_t line_ = 0;
    bool is_named_ = false, is_turned_ = false;
    std::vector<PhaseRow> rows_;
};

} // namespace

std::vector<PhaseRow> parse_phase_csv(std::string_view text, const std::string& name) {
    return PhaseTable(text, name).take();
}

} // namespace fluorescence
