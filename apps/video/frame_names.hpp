// apps/video/frame_names.hpp - frames in files of their own, whose names have a number: "frame_%04d.png".
#pragma once
#include <cstdint>
#include <filesystem>
#include <limits>
#include <optional>
#include <string>
#include <vector>

namespace video {

/// A name with one %d or %0Nd in it, as printf and FFmpeg have it; %% is a per cent sign.
class FrameNames {
public:
    /// Nothing if the file's name has no %d. Errors: invalid_argument for two of them, or another conversion
    [[nodiscard]] static std::optional<FrameNames> parse(const std::string& pattern);

    /// The same of an input; nothing if there is a file of that very name.
    [[nodiscard]] static std::optional<FrameNames> of_input(const std::string& name);
    /// The same of an output; nothing for .y4m and .yuv, and for another conversion: that is a plain name.
    [[nodiscard]] static std::optional<FrameNames> of_output(const std::string& name);

    [[nodiscard]] std::string name_of(std::int64_t number) const;
    /// Of a file in the folder, without the folder; nothing if it is none of them.
    [[nodiscard]] std::optional<std::int64_t> number_of(const std::string& file_name) const;
    [[nodiscard]] std::filesystem::path folder() const {
        return std::filesystem::path(pattern_).parent_path();
    }

    /// The files that are there from `start` on, or from the least number on; at most `most` of them. Errors:
    /// not_found if there is none, or not the first one; invalid_argument, which ones are missing in between
    [[nodiscard]] std::vector<std::string>
    files(std::optional<std::int64_t> start,
          std::int64_t most = std::numeric_limits<std::int64_t>::max()) const;

private:
    /// Where it is not valid: `refuse`, which may return.
    template <class Refuse>
    static std::optional<FrameNames> parse(const std::string& pattern, const Refuse& refuse);

    std::string pattern_, before_, after_; ///< without the folder, the text on either side of the number
    std::size_t digits_ = 0;               ///< at least so many
};

} // namespace video
