// tests/core/open_files.hpp - which files this process has open.
#pragma once
#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <string>
#include <system_error>

namespace headrace::test {

/// How many descriptors have files whose path begins with `path`: a file, or all in a folder, those without a
/// name too. Linux.
[[nodiscard]] inline std::ptrdiff_t open_files(const std::filesystem::path& path) {
    const std::filesystem::directory_iterator descriptors("/proc/self/fd");
    return std::count_if(begin(descriptors), end(descriptors), [&](const auto& descriptor) {
        std::error_code closed;
        return std::filesystem::read_symlink(descriptor.path(), closed).string().starts_with(path.string());
    });
}

} // namespace headrace::test
