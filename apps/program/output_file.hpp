// apps/program/output_file.hpp - files that are either whole or not there.
#pragma once
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

namespace program {

// A quiet process (quiet_process.hpp) checks and writes none of these.

/// Finds out, before hours of work, whether `file` can be written; leaves nothing behind.
/// Errors  invalid_argument: which file, why not, what to do
void check_writable(const std::filesystem::path& file);

/// The same for a file that is written as it is, from its beginning.
void check_overwritable(const std::filesystem::path& file);

/// Errors of all that follows: invalid_argument if the file is an input (used_files.hpp); it is untouched
/// then.
///
/// Writes beside `file` and then takes its name, so that nobody ever sees half of it under that name. A link
/// stays one: the file that it leads to is replaced. Devices, pipes and /dev/stdout are written as they are.
/// Errors  io; nothing is left behind then
void write_whole(const std::filesystem::path& file, std::string_view bytes);

/// The same, but "-" is standard output, and an empty name is no file.
void write_output(const std::filesystem::path& file, std::string_view bytes);

/// What write_whole does, in two steps: writing may go on beside other work, and the file has its name when
/// it is its turn. Nothing is left behind unless it has.
///
/// Threads: one at a time.
class HiddenFile {
public:
    /// Writes it. Devices, pipes and /dev/stdout are not written until `show`. Errors: io
    HiddenFile(const std::filesystem::path& file, std::string bytes);
    ~HiddenFile();
    HiddenFile(const HiddenFile&) = delete; // owns the file
    HiddenFile& operator=(const HiddenFile&) = delete;

    /// Once. Errors: io
    void show();

private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

} // namespace program
