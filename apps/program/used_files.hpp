// apps/program/used_files.hpp - which files this process reads and which it writes: none is both, and none is
// two outputs. Files are told apart by device and inode, so links and redirected standard streams hide
// nothing.
#pragma once
#include <filesystem>
#include <functional>
#include <string>

namespace program {

/// This file is read: as --input, because another file names it, or by a descriptor. What is no regular file
/// is passed over: whoever reads and writes one terminal or device means it.
///
/// Threads  any
/// Errors   invalid_argument if it is an output; it is untouched then
void note_input(const std::filesystem::path& file);
void note_input(int descriptor, const std::string& name);

/// The file is read no more, and another one may have its place on the disk by now.
void forget_input(const std::filesystem::path& file);

/// This file will be written, for `owner`: an option such as "--report", or one file of several that an
/// option stands for. It need not be there yet. "-": standard output. Errors  invalid_argument if it is an
/// input, or if another owner writes it
void note_output(const std::string& owner, const std::filesystem::path& file);

/// Files in `folder` will be written for `owner`, as many as there are names for which `is_ours`.
/// Errors  as note_output
void note_outputs(const std::string& owner, const std::filesystem::path& folder,
                  std::function<bool(const std::string& name)> is_ours);

/// The last look before anything is written. Errors: invalid_argument if it is an input
void check_no_input(const std::filesystem::path& file);
void check_no_input(int descriptor, const std::string& name);

/// Standard output and standard error, if they are files: they are outputs too, and may be one.
void note_standard_streams();

/// As if nothing had been read or written: for tests that are many programs in one process.
void forget_used_files();

} // namespace program
