// core/cache_folder.hpp - where what is worth keeping for other processes of the user lies.
#pragma once
#include <headrace/core/export.hpp>

#include <filesystem>

namespace headrace {

/// $XDG_CACHE_HOME/headrace, else ~/.cache/headrace; empty without either. It need not be there.
[[nodiscard]] HEADRACE_EXPORT std::filesystem::path cache_folder();

/// Creates `folder` and those above it that are missing, for this user alone (mode 0700). What goes wrong
/// shows when a file is written there.
HEADRACE_EXPORT void make_private_folder(const std::filesystem::path& folder);

/// A new, empty file of this user alone beside `file`, under a name that nobody can guess: what has been
/// written to it takes the name of `file`. No link is followed. Empty if there can be none.
[[nodiscard]] HEADRACE_EXPORT std::filesystem::path new_file_beside(const std::filesystem::path& file);

} // namespace headrace
