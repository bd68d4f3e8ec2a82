// apps/program/named_file.hpp - files that another file names. Their author wrote any name there: a device
// that never ends, a pipe that nothing writes to, a secret of the machine. So a file is looked at before it
// is read.
#pragma once
#include <cstdint>
#include <filesystem>
#include <string>

namespace program {

/// Whether `place` is below the folder in which `file` is, through links. False if that cannot be told.
[[nodiscard]] bool is_below_folder_of(const std::filesystem::path& file, const std::filesystem::path& place);

/// The bytes of a regular file, which is noted as an input. Never blocks, never empty. `name` begins every
/// complaint: "scene.gltf: names the file mesh.bin, which ". `limit`: what says how large it may be.
/// Errors  invalid_argument: it is no regular file, too large or empty; io
[[nodiscard]] std::string read_regular_file(const std::filesystem::path& file, const std::string& name,
                                            std::uint64_t largest, const std::string& limit);

} // namespace program
