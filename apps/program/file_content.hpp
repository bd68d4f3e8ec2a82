// apps/program/file_content.hpp - all bytes of a file or a pipe, at once or piece by piece.
#pragma once
#include <cstddef>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>

namespace program {

/// Reads to the end: a file, or what stands for one, such as a shell's <(command).
///
/// `most`  bytes that make sense here: what never ends (/dev/zero) is refused before memory ends
/// Errors  not_found; invalid_argument for a folder, and beyond `most`; io if reading fails
[[nodiscard]] std::string file_content(const std::filesystem::path& file, std::size_t most);

/// The same, without all of it in memory: `take` gets the bytes in order, at most a mebibyte at a time.
void read_pieces(const std::filesystem::path& file, std::size_t most,
                 const std::function<void(std::string_view)>& take);

} // namespace program
