// apps/sobel/frames.hpp - frames as this program has them: those of a video, in streams or in memory.
#pragma once
#include "video/frame_stream.hpp"

#include <cstdint>
#include <vector>

namespace sobel {

using video::as_raw;
using video::as_y4m;
using video::ConstPixels;
using video::FrameFormat;
using video::FrameHeader;
using video::FrameSink;
using video::FrameSource;
using video::Pixels;
using video::Plane;
using video::Planes;
using video::Row;
using video::StreamSink;
using video::StreamSource;
using video::yuv_420;

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
