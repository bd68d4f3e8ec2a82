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

/// For nlohmann::json: the number, or {"absent": the reason}.
template <class Json>
void to_json(Json& json, const Figure& figure) {
    if (figure.value)
        json = *figure.value;
    else
        json = Json{{"absent", figure.why_absent}};
}

} // namespace headrace
