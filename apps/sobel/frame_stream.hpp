// apps/sobel/frame_stream.hpp - frames from files, pipes and memory, one after another.
#pragma once
#include "byte_stream.hpp"
#include "frame_format.hpp"

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace sobel {

using Pixels = std::span<std::uint8_t>;
using ConstPixels = std::span<const std::uint8_t>;

/// What a YUV4MPEG2 stream says of one frame: "FRAME", with parameters or without.
struct FrameHeader {
    std::uint32_t length = 0;
    char text[124];
};

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

    [[nodiscard]] const FrameFormat& format() const noexcept { return format_; }
    bool read(FrameHeader& header, Pixels pixels) override;

private:
    bool read_header(FrameHeader& header);

    ByteInput bytes_;
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

/// Frames in ordinary memory, again and again: as a program has them that knows nothing of devices.
class MemorySource final : public FrameSource {
public:
    MemorySource(const FrameFormat& format, int frames);
    bool read(FrameHeader& header, Pixels pixels) override;

private:
    std::vector<std::vector<std::uint8_t>> frames_;
    std::size_t next_ = 0;
};

/// Keeps as many frames as it was made for, the latest ones.
class MemorySink final : public FrameSink {
public:
    MemorySink(const FrameFormat& format, int frames);
    void write(const FrameHeader& header, ConstPixels pixels) override;
    /// The `i`th of those that are kept.
    [[nodiscard]] ConstPixels frame(std::size_t i) const { return frames_.at(i); }

private:
    std::vector<std::vector<std::uint8_t>> frames_;
    std::size_t next_ = 0;
};

/// Frame `number` of a made-up film: something of every brightness, with edges weak and strong.
void generate(std::int64_t number, Pixels pixels);

} // namespace sobel
