// domains/grids/detail/type_name.hpp - the name of a type, for messages and traces.
#pragma once
#include <string_view>

namespace headrace {

namespace detail {
template <class T>
[[nodiscard]] constexpr std::string_view signature() {
    return __PRETTY_FUNCTION__; // "... [with T = Sobel; ...]" or "... [T = Sobel]"
}
} // namespace detail

/// As the compiler writes it: "Sobel", "test::Square".
template <class T>
[[nodiscard]] constexpr std::string_view type_name() {
    std::string_view text = detail::signature<T>();
    text.remove_prefix(text.find("T = ") + 4);
    return text.substr(0, text.find_first_of(";]"));
}

} // namespace headrace
