// apps/video/frame_stream.hpp - frames from and to files and pipes, one after another.
#pragma once
#include "video/byte_stream.hpp"
#include "video/frame_format.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

namespace video {

using Pixels = std::span<std::uint8_t>;
using ConstPixels = std::span<const std::uint8_t>;

/// What a YUV4MPEG2 stream says of one frame: "FRAME", with parameters or without.
struct FrameHeader {
    std::string text{}; ///< empty: "FRAME"
};

/// Of a stream's header, and of each frame's, without its end.
inline constexpr std::size_t longest_header = std::size_t{64} << 10;

/// Threads: one at a time.
class FrameSource {
public:
    virtual ~FrameSource() = default;
    FrameSource(const FrameSource&) = delete;
    FrameSource& operator=(const FrameSource&) = delete;

    /// The next frame; false: there are no more. Errors: io, the stream is broken or ends within a frame
    [[nodiscard]] virtual bool read(FrameHeader& header, Pixels pixels) = 0;

protected:
    FrameSource() = default;
};

/// Threads: one at a time.
class FrameSink {
public:
    virtual ~FrameSink() = default;
    FrameSink(const FrameSink&) = delete;
    FrameSink& operator=(const FrameSink&) = delete;

    /// Errors: io
    virtual void write(const FrameHeader& header, ConstPixels pixels) = 0;
    /// No more follow. Errors: io
    virtual void close() {}

protected:
    FrameSink() = default;
};

/// A YUV4MPEG2 stream, or raw frames.
class StreamSource final : public FrameSource {
public:
    /// `raw`: the format of raw frames; null: the stream says it itself. Errors: of ByteInput and parse_y4m
    StreamSource(const std::string& file, const FrameFormat* raw);
    /// The same, of what has been opened. Errors: of parse_y4m
    StreamSource(std::unique_ptr<ByteInput> bytes, const FrameFormat* raw);

    [[nodiscard]] const FrameFormat& format() const noexcept { return format_; }
    bool read(FrameHeader& header, Pixels pixels) override;

private:
    bool read_header(FrameHeader& header);

    std::unique_ptr<ByteInput> bytes_;
    FrameFormat format_;
    std::int64_t frames_ = 0; ///< so far
};

class StreamSink final : public FrameSink {
public:
    StreamSink(const std::string& file, const FrameFormat& format);

    void write(const FrameHeader& header, ConstPixels pixels) override;
    void close() override { bytes_.close(); }

private:
    ByteOutput bytes_;
    bool is_y4m_;
};

} // namespace video
