// apps/program/numbers.cpp - see numbers.hpp.
#include "program/numbers.hpp"
#include <headrace/core/error.hpp>

#include <cmath>
#include <sstream>

namespace program {

void refuse(const std::string& what) { throw headrace::Error{headrace::ErrorKind::invalid_argument, what}; }

std::vector<double> numbers(const std::string& option, const std::string& text, std::size_t count,
                            const char* form) {
    std::vector<double> values;
    const char* at = text.data();
    const char* const end = at + text.size();
    while (values.size() <= count) {
        double value = 0;
        const auto [stop, error] = std::from_chars(at, end, value);
        if (error != std::errc{} || !std::isfinite(value)) break;
        values.push_back(value);
        at = stop;
        if (at == end || *at != ',') break;
        ++at;
    }
    if (at != end || values.size() != count) refuse(option + " " + text + ": takes " + form);
    return values;
}

double real(const std::string& option, const std::string& text, double least, double most) {
    double value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc{} || end != text.data() + text.size() || !(value >= least && value <= most)) {
        std::ostringstream words; // to_string would write 1e-9 as 0.000000
        words << option << ' ' << (text.empty() ? "\"\"" : text) << ": takes a number from " << least
              << " to " << most;
        refuse(words.str());
    }
    return value;
}

} // namespace program
