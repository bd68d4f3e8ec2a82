// apps/video/frame_format.hpp - what the frames of a stream look like.
#pragma once
#include "video/planes.hpp"

#include <cstddef>
#include <cstdint>
#include <string>

namespace video {

/// In which order a frame's lines were seen. Lines of fields alternate, the first one is the top field's.
enum class Interlacing : std::uint8_t {
    none,         ///< or the stream does not say
    top_first,    ///< two fields: the top one is earlier
    bottom_first, ///< the bottom one is
    mixed,        ///< each frame says it
};

/// Planes one behind the other, of samples up to `maximum`. Beyond 255 a sample has two bytes, the less
/// significant one first.
struct FrameFormat {
    Planes planes;
    int maximum = 255; ///< the brightest sample; of pictures, any number up to 65535
    Interlacing interlacing = Interlacing::none;
    std::string rate = "0:0"; ///< frames a second as YUV4MPEG2 writes it, "30000:1001"; 0:0: unknown
    std::string y4m;          ///< first line of a YUV4MPEG2 stream, without its end; empty: raw frames alone

    [[nodiscard]] int sample_bytes() const noexcept { return maximum > 255 ? 2 : 1; }
    /// Of a frame.
    [[nodiscard]] std::size_t bytes() const {
        return planes.bytes() * static_cast<std::size_t>(sample_bytes());
    }
    [[nodiscard]] bool is_y4m() const noexcept { return !y4m.empty(); }
};

/// YUV 4:2:0; the chroma planes have half the size in both directions, rounded up.
/// Errors: invalid_argument for a size beyond 1 to 65535
[[nodiscard]] FrameFormat yuv_420(int width, int height);

/// What the first line of a YUV4MPEG2 stream says, of which `name` is the file. Chroma formats: 420 (all
/// sitings), 422, 444, 444alpha, 440, 411, 410, mono; 420, 422, 444 and mono of 9, 10, 12, 14 and 16 bits too
/// (420p10, mono10). Without a C, FFmpeg's old XYSCSS= says which it is.
/// Errors: invalid_argument, what is wrong with it, or which format is beyond us
[[nodiscard]] FrameFormat parse_y4m(const std::string& name, const std::string& line);

/// "top field first"; empty for whole frames.
[[nodiscard]] std::string text_of(Interlacing interlacing);

/// As a YUV4MPEG2 stream.
[[nodiscard]] FrameFormat as_y4m(FrameFormat format);
/// As raw frames.
[[nodiscard]] FrameFormat as_raw(FrameFormat format);

} // namespace video
