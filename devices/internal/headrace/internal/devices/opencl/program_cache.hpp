// internal/devices/opencl/program_cache.hpp - built programs on disk.
// One file per key; the file holds the whole key. So neither a hash that two keys share nor a truncated file
// can be taken for the requested program.
#pragma once
#include <headrace/core/export.hpp>
#include <headrace/internal/core/file_lock.hpp>

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace headrace::opencl {

/// Values by key, one file each in a folder. A reader sees a complete file or none.
///
/// Threads and processes: any number. Errors: none; a file that cannot be read counts as absent, and a value
/// that cannot be written is not stored.
class HEADRACE_EXPORT ProgramCache {
public:
    explicit ProgramCache(std::filesystem::path folder) : folder_(std::move(folder)) {}
    /// In $XDG_CACHE_HOME/headrace, else ~/.cache/headrace; without either, a folder that cannot exist.
    [[nodiscard]] static ProgramCache of_user();

    [[nodiscard]] std::optional<std::vector<unsigned char>> load(std::string_view key) const;
    void store(std::string_view key, const std::vector<unsigned char>& value) const;
    void forget(std::string_view key) const;

    /// While the lock lives, no other caller of `turn` builds for `key` (exceptions: see FileLock).
    [[nodiscard]] FileLock turn(std::string_view key) const;

    [[nodiscard]] std::filesystem::path file(std::string_view key) const;

private:
    std::filesystem::path folder_;
};

} // namespace headrace::opencl
