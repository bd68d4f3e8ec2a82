// apps/program/numbers.hpp - numbers as people write them after an option, read with messages of one form.
#pragma once
#include <charconv>
#include <concepts>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace program {

/// Throws invalid_argument. A user reads it: which option, what was written, what it takes.
[[noreturn]] void refuse(const std::string& what);

/// A whole number in [least, most].
template <std::integral Number>
[[nodiscard]] Number whole(const std::string& option, const std::string& text, Number least, Number most) {
    Number value{};
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc{} || end != text.data() + text.size() || value < least || value > most)
        refuse(option + " " + (text.empty() ? "\"\"" : text) + ": takes a whole number from " +
               std::to_string(least) + " to " + std::to_string(most));
    return value;
}

/// The whole text as a number, which may have a plus sign. One too small for a double is 0, and one beyond it
/// is infinite; nothing if the text is no number.
[[nodiscard]] std::optional<double> parse_number(std::string_view text);

/// `count` finite numbers, separated by commas. `form`: what the option takes, in words.
[[nodiscard]] std::vector<double> numbers(const std::string& option, const std::string& text,
                                          std::size_t count, const char* form);

/// A finite number in [least, most].
[[nodiscard]] double real(const std::string& option, const std::string& text, double least, double most);

} // namespace program
