// apps/program/printable.hpp - text out of files, as a terminal may have it.
#pragma once
#include <string>
#include <string_view>

namespace program {

/// The text with a '?' for every control character, of ASCII and of Unicode: a terminal would obey them. Tabs
/// and ends of lines become blanks.
[[nodiscard]] std::string printable(std::string_view text);

} // namespace program
