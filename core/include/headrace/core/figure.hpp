// core/figure.hpp - a number, or the reason why it is not known.
#pragma once
#include <optional>
#include <string>

namespace headrace {

/// A number, or the reason why there is none.
struct Figure {
    std::optional<double> value;
    std::string why_absent;

    /// The sum; absent, with the first reason, if one of them is.
    Figure& operator+=(const Figure& other) {
        if (value && other.value)
            *value += *other.value;
        else if (value)
            *this = other;
        return *this;
    }
};

/// For nlohmann::json: the number, or {"absent": the reason}.
template <class Json>
void to_json(Json& json, const Figure& figure) {
    if (figure.value)
        json = *figure.value;
    else
        json = Json{{"absent", figure.why_absent}};
}

} // namespace headrace
