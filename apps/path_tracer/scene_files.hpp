// apps/path_tracer/scene_files.hpp - the files of a scene: the one that the user names, and those that it
// names. A file that a file names is whatever its author wrote there: a device that never ends, a pipe that
// nothing writes to, a secret of the machine. So it is looked at before it is read.
#pragma once
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

namespace path_tracer {

/// What may be read.
struct FileRules {
    bool allow_outside = false;                     ///< files that the scene names may be outside its folder
    std::uint64_t largest = std::uint64_t{4} << 30; ///< of one file, in bytes
};

class SceneFiles {
public:
    SceneFiles(std::filesystem::path scene, FileRules rules);

    [[nodiscard]] const std::filesystem::path& scene() const { return scene_; }
    /// Errors  not_found, invalid_argument, io. Never empty.
    [[nodiscard]] std::string read_scene() const;

    /// Whether something is there: backslashes count as slashes if they must. Opens nothing.
    [[nodiscard]] bool exists(std::string_view name) const;
    /// Whether it is a file without bytes. Opens nothing.
    [[nodiscard]] bool is_empty(std::string_view name) const;
    /// Errors  invalid_argument unless a file of this name may be below the scene's folder
    void expect_inside(std::string_view name) const;
    /// The bytes of a file that the scene names, from the scene's folder. Never blocks.
    /// Errors  invalid_argument: it is not below the folder, no regular file, too large or empty; io
    [[nodiscard]] std::string read_named(std::string_view name) const;
    /// Where it is, for messages.
    [[nodiscard]] std::filesystem::path place_of(std::string_view name) const;

private:
    [[nodiscard]] std::string read(const std::filesystem::path& file, const std::string& whose) const;

    std::filesystem::path scene_;
    FileRules rules_;
};

} // namespace path_tracer
