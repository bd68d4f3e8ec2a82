// internal/core/file_lock.hpp - what processes of one user do one at a time.
#pragma once
#include <headrace/core/export.hpp>

#include <chrono>
#include <cstdint>
#include <filesystem>

namespace headrace {

/// While it lives, no other one of the same file and number does, in this process or in another. A process
/// that ends has none any more.
///
/// Nobody waits for ever: whoever has waited for `patience`, or where the file cannot be made or locked, goes
/// on without. What it protects has to be right in any case, if it costs more then.
class HEADRACE_EXPORT FileLock {
public:
    /// `file` is made if its folder is there, and never removed.
    explicit FileLock(const std::filesystem::path& file, std::uint32_t number = 0,
                      std::chrono::seconds patience = std::chrono::seconds(20));
    ~FileLock();
    FileLock(const FileLock&) = delete; // ends once
    FileLock& operator=(const FileLock&) = delete;

private:
    const int file_;
    const std::uint32_t number_;
};

} // namespace headrace
