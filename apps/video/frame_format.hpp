// apps/video/frame_format.hpp - what the frames of a stream look like.
#pragma once
#include "video/planes.hpp"

#include <string>

namespace video {

/// Eight bits a pixel, planes one behind the other.
struct FrameFormat {
    Planes planes;
    std::string rate = "0:0"; ///< frames a second as YUV4MPEG2 writes it, "30000:1001"; 0:0: unknown
    std::string y4m;          ///< first line of a YUV4MPEG2 stream, without its end; empty: raw frames alone

    [[nodiscard]] bool is_y4m() const noexcept { return !y4m.empty(); }
};

/// YUV 4:2:0; the chroma planes have half the size in both directions, rounded up.
/// Errors: invalid_argument for a size beyond 1 to 65535
[[nodiscard]] FrameFormat yuv_420(int width, int height);

/// What the first line of a YUV4MPEG2 stream says, of which `name` is the file. Chroma formats of 8 bits: 420
/// (all sitings), 422, 444, 444alpha, 440, 411, 410, mono.
/// Errors: invalid_argument, what is wrong with it, or which format is beyond us
[[nodiscard]] FrameFormat parse_y4m(const std::string& name, const std::string& line);

/// As a YUV4MPEG2 stream.
[[nodiscard]] FrameFormat as_y4m(FrameFormat format);
/// As raw frames.
[[nodiscard]] FrameFormat as_raw(FrameFormat format);

} // namespace video
