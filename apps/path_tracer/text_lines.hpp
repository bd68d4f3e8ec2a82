// apps/path_tracer/text_lines.hpp - the lines and words of OBJ and MTL files, and of messages.
#pragma once
#include "scene.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

namespace path_tracer {

inline bool is_remark(std::string_view line) {
    const auto begin = line.find_first_not_of(" \t");
    return begin != std::string_view::npos && line[begin] == '#';
}

/// What is before the remark, if there is one behind data. Names may have a '#' of their own.
inline std::string_view without_remark(std::string_view line) { return line.substr(0, line.find('#')); }

/// The lines of a text. A backslash at a line's end joins the next one to it, unless the line is a remark.
class TextLines {
public:
    explicit TextLines(std::string_view text) : text_(text) {}

    /// False at the end. The line is valid until the next call.
    bool next(std::string_view& line) {
        joined_.clear();
        for (bool goes_on = true; goes_on;) {
            if (text_.empty()) break;
            const auto end = std::min(text_.find_first_of("\r\n"), text_.size());
            line = text_.substr(0, end);
            const bool has_both = text_.substr(end).starts_with("\r\n");
            text_.remove_prefix(std::min(end + (has_both ? 2 : 1), text_.size()));
            ++number_;
            goes_on = !line.empty() && line.back() == '\\' && !(joined_.empty() && is_remark(line));
            if (!goes_on && joined_.empty()) return true; // the usual case: nothing is copied
            joined_.append(line.substr(0, line.size() - (goes_on ? 1 : 0))).push_back(' ');
        }
        line = joined_;
        return !joined_.empty();
    }
    /// Of the line that came last, from 1.
    [[nodiscard]] std::int64_t number() const { return number_; }

private:
    std::string_view text_;
    std::string joined_;
    std::int64_t number_ = 0;
};

/// Cuts the next word off the front of `rest`; empty at the end of the line.
inline std::string_view next_word(std::string_view& rest) {
    const auto begin = rest.find_first_not_of(" \t");
    if (begin == std::string_view::npos) return rest = {};
    const auto end = std::min(rest.find_first_of(" \t", begin), rest.size());
    const std::string_view word = rest.substr(begin, end - begin);
    rest.remove_prefix(end);
    return word;
}

/// All that is left, without the white space around it: names may have some within.
inline std::string_view trimmed(std::string_view rest) {
    const auto begin = rest.find_first_not_of(" \t");
    if (begin == std::string_view::npos) return {};
    return rest.substr(begin, rest.find_last_not_of(" \t") + 1 - begin);
}

/// Names that a line may mean, the likeliest first: all of it, without quotes, without a remark, without
/// both.
inline std::vector<std::string_view> possible_names(std::string_view rest) {
    const auto unquoted = [](std::string_view name) {
        const bool is_quoted = name.size() >= 2 && name.front() == '"' && name.back() == '"';
        return is_quoted ? name.substr(1, name.size() - 2) : name;
    };
    const std::string_view whole = trimmed(rest), name = trimmed(without_remark(whole));
    return {whole, unquoted(whole), name, unquoted(name)};
}

/// For messages: not too long, and nothing in it that a terminal would take for a command.
inline std::string excerpt(std::string_view text) {
    std::string shown(text.substr(0, 40));
    std::replace_if(
        shown.begin(), shown.end(), [](unsigned char letter) { return letter < ' ' || letter == 127; }, '?');
    return shown;
}

inline std::string as_text(double number) {
    std::array<char, 32> text{};
    std::snprintf(text.data(), text.size(), "%.12g", number);
    return text.data();
}

inline SurfaceDescription grey(float albedo) { return {.base = {albedo, albedo, albedo}}; }

} // namespace path_tracer
