// core/cache_folder.hpp - where what is worth keeping for other processes of the user lies.
#pragma once
#include <filesystem>

namespace headrace {

/// $XDG_CACHE_HOME/headrace, else ~/.cache/headrace; empty without either. It need not be there.
[[nodiscard]] std::filesystem::path cache_folder();

} // namespace headrace
