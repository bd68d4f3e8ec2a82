// apps/optical_flow/flow_files.hpp - what becomes of flow fields: files of vectors, pictures, a video.
#pragma once
#include "flow_colours.hpp"
#include "size.hpp"
#include "video/frame_names.hpp"
#include "video/frame_stream.hpp"
#include <headrace/core/device.hpp>
#include <headrace/core/host_lane.hpp>

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace optical_flow {

/// The bytes of a .flo file: "PIEH", width, height, and u and v of each pixel in turn, all little endian.
///
/// Shapes    u and v [height x width], row-major
/// Units     pixels
/// Source    Middlebury's optical flow benchmark, flow-code/README.txt
[[nodiscard]] std::string encode_flo(Size size, std::span<const float> u, std::span<const float> v);

/// Threads: one at a time.
class FlowSink {
public:
    virtual ~FlowSink() = default;
    FlowSink(const FlowSink&) = delete;
    FlowSink& operator=(const FlowSink&) = delete;

    /// The flow from frame `pair` to the next one.
    ///
    /// Shapes    u and v [height x width], row-major
    /// Units     pixels
    /// Errors    io; names the file
    virtual void write(std::int64_t pair, std::span<const float> u, std::span<const float> v) = 0;
    /// Blocks until all that it was given is written. Errors: io, that of the first pair that has one
    virtual void wait() {}
    /// No more follow. Errors: io
    virtual void close() {}

protected:
    FlowSink() = default;
};

/// flow_00000.flo and flow_00000.png for each pair; each file is whole or not there.
///
/// Pairs are written beside each other, one in each lane, but their files appear in the order of pairs, and
/// none behind a pair that failed: `write` or `wait` says so then, of the first one.
class FlowFolder final : public FlowSink {
public:
    /// The folder is created. `longest`: as for colour(). Without lanes, `write` writes. Errors: io
    FlowFolder(std::filesystem::path folder, Size size, float longest,
               std::vector<headrace::HostLane*> lanes = {});
    ~FlowFolder() override;
    /// Returns when it has a copy; blocks while all lanes have pairs.
    void write(std::int64_t pair, std::span<const float> u, std::span<const float> v) override;
    void wait() override;

    /// Of memory for each lane, at the most.
    [[nodiscard]] static headrace::Bytes bytes_of_lane(Size size);

private:
    /// What a lane is at.
    struct Work {
        headrace::HostLane* lane;
        std::vector<float> u{}, v{};
        headrace::Event done{};
    };

    void write_files(std::int64_t pair, std::span<const float> u, std::span<const float> v,
                     const headrace::Event& before) const;

    const std::filesystem::path folder_;
    const Size size_;
    const float longest_;
    std::vector<Work> works_;
    std::size_t next_ = 0;   ///< of these
    headrace::Event last_{}; ///< the last pair's; fails if any before did
};

/// The colours as PNGs, each whole or not there, numbered from 0.
class FlowPictures final : public FlowSink {
public:
    /// Errors: invalid_argument for names that do not end in .png, or if the first one cannot be written
    FlowPictures(video::FrameNames names, Size size, float longest);
    void write(std::int64_t pair, std::span<const float> u, std::span<const float> v) override;

private:
    const video::FrameNames names_;
    const Size size_;
    const float longest_; ///< as for colour()
};

/// The colours as a YUV4MPEG2 video, 4:4:4, in the order in which pairs are written.
class FlowVideo final : public FlowSink {
public:
    /// "-": standard output. `longest`: as for colour(); 0 makes the scale change from frame to frame.
    /// `rate`: as FrameSource::rate(). A file that is there is overwritten with the first pair. Errors:
    /// invalid_argument if the file cannot be written, or for a size beyond 65535
    FlowVideo(const std::string& file, Size size, float longest, const std::string& rate);
    void write(std::int64_t pair, std::span<const float> u, std::span<const float> v) override;
    void close() override {
        if (stream_) stream_->close();
    }

private:
    const float longest_;
    const std::string file_;
    const video::FrameFormat format_;
    std::optional<video::StreamSink> stream_; ///< from the first pair on
    std::vector<std::uint8_t> rgb_, yuv_;     ///< of one frame
};

} // namespace optical_flow
