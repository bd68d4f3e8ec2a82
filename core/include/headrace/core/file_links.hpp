// core/file_links.hpp - where links lead, for files that are replaced and not written in place.
#pragma once
#include <headrace/core/export.hpp>

#include <filesystem>

namespace headrace {

/// The file that these links lead to, whether or not it exists; the last link if they lead to themselves.
[[nodiscard]] HEADRACE_EXPORT std::filesystem::path behind_links(std::filesystem::path file);

} // namespace headrace
