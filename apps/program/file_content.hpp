// apps/program/file_content.hpp - all bytes of a file or a pipe.
#pragma once
#include <cstddef>
#include <filesystem>
#include <string>

namespace program {

/// Reads to the end: a file, or what stands for one, such as a shell's <(command).
///
/// `most`  bytes that make sense here: what never ends (/dev/zero) is refused before memory ends
/// Errors  not_found; invalid_argument for a folder, and beyond `most`; io if reading fails
[[nodiscard]] std::string file_content(const std::filesystem::path& file, std::size_t most);

} // namespace program
