// core/figure.hpp - a number, or the reason why it is not known.
#pragma once
#include <optional>
#include <string>

namespace headrace {

/// A number, or the reason why there is none.
struct Figure {
    std::optional<double> value;
    std::string why_absent;
};

} // namespace headrace
