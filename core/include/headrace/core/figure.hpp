// core/figure.hpp - a number that may not be known, and then why.
#pragma once
#include <optional>
#include <string>

namespace headrace {

/// A figure, or the reason why there is none.
struct Figure {
    std::optional<double> value;
    std::string why_absent;
};

} // namespace headrace
