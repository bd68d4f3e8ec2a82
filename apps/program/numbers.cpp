// apps/program/numbers.cpp - see numbers.hpp.
#include "program/numbers.hpp"
#include <headrace/core/error.hpp>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <sstream>

namespace program {

void refuse(const std::string& what) { throw headrace::Error{headrace::ErrorKind::invalid_argument, what}; }

std::optional<double> parse_number(std::string_view text) {
    if (text.starts_with('+')) {
        text.remove_prefix(1);
        if (text.starts_with('-')) return std::nullopt;
    }
    double value = 0;
    const char* const end = text.data() + text.size();
    const auto [stop, error] = std::from_chars(text.data(), end, value);
    if (stop != end || error == std::errc::invalid_argument) return std::nullopt;
    if (error != std::errc::result_out_of_range) return value;
    return std::strtod(std::string(text).c_str(), nullptr); // from_chars does not say on which side it is
}

std::vector<double> numbers(const std::string& option, const std::string& text, std::size_t count,
                            const char* form) {
    std::vector<double> values;
    const std::string_view all = text;
    for (std::size_t begin = 0; begin <= all.size() && values.size() <= count;) {
        const std::size_t end = std::min(all.find(',', begin), all.size());
        const std::optional<double> value = parse_number(all.substr(begin, end - begin));
        if (!value || !std::isfinite(*value)) refuse(option + " " + text + ": takes " + form);
        values.push_back(*value);
        begin = end + 1;
    }
    if (values.size() != count) refuse(option + " " + text + ": takes " + form);
    return values;
}

double real(const std::string& option, const std::string& text, double least, double most) {
    const std::optional<double> value = parse_number(text);
    if (!value || !(*value >= least && *value <= most)) {
        std::ostringstream words; // to_string would write 1e-9 as 0.000000
        words << option << ' ' << (text.empty() ? "\"\"" : text) << ": takes a number from " << least
              << " to " << most;
        refuse(words.str());
    }
    return *value;
}

} // namespace program
