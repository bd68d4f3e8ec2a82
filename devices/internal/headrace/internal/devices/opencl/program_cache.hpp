// internal/devices/opencl/program_cache.hpp - built programs on disk.
// One file per key, which holds the whole key: neither a hash that two keys share nor a file that was cut
// short can pass for what was asked.
#pragma once
#include <headrace/core/export.hpp>
#include <headrace/internal/core/file_lock.hpp>

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace headrace::opencl {

/// Values by key in a folder, written so that a reader sees all of a file or none of it.
///
/// Threads and processes: any number. Errors: none; what cannot be read is absent, what cannot be written is
/// not.
class HEADRACE_EXPORT ProgramCache {
public:
    explicit ProgramCache(std::filesystem::path folder) : folder_(std::move(folder)) {}
    /// $XDG_CACHE_HOME/headrace, else ~/.cache/headrace; without either a folder that cannot be.
    [[nodiscard]] static ProgramCache of_user();

    [[nodiscard]] std::optional<std::vector<unsigned char>> load(std::string_view key) const;
    void store(std::string_view key, const std::vector<unsigned char>& value) const;
    void forget(std::string_view key) const;

    /// While it lives, nobody else who asks builds what `key` stands for.
    [[nodiscard]] FileLock turn(std::string_view key) const;

    [[nodiscard]] std::filesystem::path file(std::string_view key) const;

private:
    std::filesystem::path folder_;
};

} // namespace headrace::opencl
