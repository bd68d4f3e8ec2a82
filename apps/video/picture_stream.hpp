// apps/video/picture_stream.hpp - pictures in files of their own as the frames of a video.
#pragma once
#include "video/frame_names.hpp"
#include "video/frame_stream.hpp"
#include "video/picture.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace video {

/// Pictures of one size, kind and maximum: a plane of grey, or planes of red, green and blue.
class PictureSource final : public FrameSource {
public:
    /// Opens the first one. Errors: of FrameNames::files and open_picture
    PictureSource(const FrameNames& names, std::optional<std::int64_t> start, std::int64_t most);

    [[nodiscard]] const FrameFormat& format() const noexcept { return format_; }
    /// Of the first frame.
    [[nodiscard]] std::int64_t first_number() const noexcept { return first_number_; }
    /// Errors: invalid_argument, too: which picture is broken, or not as the first one
    bool read(FrameHeader& header, Pixels pixels) override;

private:
    const std::vector<std::string> files_;
    std::int64_t first_number_;
    std::unique_ptr<Picture> first_; ///< until it has been read
    FrameFormat format_;
    std::size_t next_ = 0;
};

/// .png, of samples up to 255, or .pgm and .ppm, of any maximum; each is whole or not there.
class PictureSink final : public FrameSink {
public:
    /// Errors: invalid_argument for frames that are neither grey nor three planes of one size, for names that
    /// do not say one of these formats, or one that has no such frames
    PictureSink(FrameNames names, std::int64_t first_number, const FrameFormat& format);

    void write(const FrameHeader& header, ConstPixels pixels) override;

private:
    const FrameNames names_;
    std::int64_t number_; ///< of the next one
    const FrameFormat format_;
    std::string samples_{}; ///< of one frame, as files have them
};

} // namespace video
