// core/cache_folder.hpp - the folder for data that other processes of the same user can use again.
#pragma once
#include <headrace/core/export.hpp>

#include <filesystem>

namespace headrace {

/// $XDG_CACHE_HOME/headrace, else $HOME/.cache/headrace; empty without these variables. It may not exist.
[[nodiscard]] HEADRACE_EXPORT std::filesystem::path cache_folder();

/// Creates `folder` and its missing parents, for this user only (mode 0700). Reports no error: a failure
/// shows when a file is written there.
HEADRACE_EXPORT void make_private_folder(const std::filesystem::path& folder);

/// Creates an empty file next to `file`, for this user only, with a name that cannot be guessed. The caller
/// writes the file and then renames it to `file`. Follows no link. Returns an empty path on failure.
[[nodiscard]] HEADRACE_EXPORT std::filesystem::path new_file_beside(const std::filesystem::path& file);

} // namespace headrace
