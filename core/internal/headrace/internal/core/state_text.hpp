// core/state_text.hpp - writes the state of a schedule as text. Tests compare millions of states, and streams
// take most of their time.
#pragma once
#include <charconv>
#include <concepts>
#include <iterator>
#include <string>
#include <string_view>

namespace headrace {

class StateText {
public:
    StateText& operator<<(std::string_view text) {
        text_ += text;
        return *this;
    }
    StateText& operator<<(const char* text) { return *this << std::string_view(text); }
    StateText& operator<<(bool flag) {
        text_ += flag ? '1' : '0';
        return *this;
    }
    template <std::integral Number>
    StateText& operator<<(Number number) {
        char digits[24];
        return append(digits, std::to_chars(digits, std::end(digits), number).ptr);
    }
    /// Six digits: states that differ by less are one state.
    StateText& operator<<(double number) {
        char digits[24];
        return append(digits,
                      std::to_chars(digits, std::end(digits), number, std::chars_format::general, 6).ptr);
    }
    [[nodiscard]] const std::string& text() const { return text_; }

private:
    StateText& append(const char* begin, const char* end) {
        text_.append(begin, end);
        return *this;
    }

    std::string text_;
};

} // namespace headrace
