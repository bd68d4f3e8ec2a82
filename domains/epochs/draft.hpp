// domains/epochs/draft.hpp - a file that is written beside another one, and then takes its name.
#pragma once
#include "epochs/descriptor.hpp"

#include <cstddef>
#include <filesystem>
#include <span>

namespace headrace::epochs {

/// Has the name FILE.HOST.NUMBER.partial, with a random number: two writers never share a draft. It is locked
/// while it lives, so that a draft that a killed process has left can be told from one that is written.
///
/// Errors    numbers of errno; 0: none
class Draft {
public:
    /// First removes drafts of the same file that no process writes: those of this host, and those of others
    /// that have not changed for a day.
    explicit Draft(const std::filesystem::path& file);
    /// Removes it, unless it has taken the name.
    ~Draft();
    Draft(const Draft&) = delete; // owns the file
    Draft& operator=(const Draft&) = delete;

    [[nodiscard]] int error() const noexcept { return error_; } ///< of the constructor
    [[nodiscard]] int write(std::span<const std::byte> bytes) const { return open_.write(bytes); }
    /// Waits until the disk has it. Then it has the name, the mode and the group of the file, which it
    /// replaces.
    [[nodiscard]] int take_name();

private:
    std::filesystem::path file_, draft_;
    Descriptor open_;
    int error_ = 0;
    bool has_name_ = false; ///< that of the draft
};

} // namespace headrace::epochs
