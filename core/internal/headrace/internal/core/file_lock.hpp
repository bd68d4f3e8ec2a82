// internal/core/file_lock.hpp - a lock that threads and processes of one user share.
#pragma once
#include <headrace/core/export.hpp>

#include <chrono>
#include <cstdint>
#include <filesystem>

namespace headrace {

/// While an object holds the lock, no other object with the same file and number does, in this process or
/// another. When a process ends, the system releases its locks.
///
/// The wait is limited: after `patience`, or if the file cannot be created or locked, the caller continues
/// without the lock. So the protected work must be correct without it, although it may then cost more.
class HEADRACE_EXPORT FileLock {
public:
    /// Creates `file` if its folder exists. Never removes it.
    explicit FileLock(const std::filesystem::path& file, std::uint32_t number = 0,
                      std::chrono::seconds patience = std::chrono::seconds(20));
    ~FileLock();
    FileLock(const FileLock&) = delete; // it must be released only once
    FileLock& operator=(const FileLock&) = delete;

private:
    const int file_;
    const std::uint32_t number_;
};

} // namespace headrace
