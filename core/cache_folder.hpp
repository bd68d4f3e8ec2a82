// core/cache_folder.hpp - where what is worth keeping for other processes of the user lies.
#pragma once
#include <headrace/core/export.hpp>

#include <filesystem>

namespace headrace {

/// $XDG_CACHE_HOME/headrace, else ~/.cache/headrace; empty without either. It need not be there.
[[nodiscard]] HEADRACE_EXPORT std::filesystem::path cache_folder();

} // namespace headrace
