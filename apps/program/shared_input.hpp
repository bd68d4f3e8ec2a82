// apps/program/shared_input.hpp - what several processes of one program read from a pipe that one of them
// has.
#pragma once
#include <filesystem>
#include <functional>
#include <optional>
#include <string>

namespace program {

/// Several processes run this program, and they read the same files in the same order. `broadcast` returns on
/// all of them what the first has passed. `is_first`: this process is the first.
struct SharedInput {
    bool is_first = true;
    std::function<std::string(std::string bytes_of_first)> broadcast;
};
/// Null: this process is alone.
void share_input_by(SharedInput how);

/// The content of a pipe, a device or standard input, which only the first process reads. Nothing if `file`
/// is a regular file there, or if this process is alone: then each process opens it by itself.
///
/// Errors    io if the first process cannot read it; those of `broadcast`
[[nodiscard]] std::optional<std::string> shared_input(const std::filesystem::path& file);

} // namespace program
