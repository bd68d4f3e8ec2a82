// apps/optical_flow/frame_source.hpp - frames as brightness, one after another, from files, pipes and memory.
#pragma once
#include "size.hpp"
#include <headrace/core/device.hpp>
#include <headrace/core/host_lane.hpp>

#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace optical_flow {

/// Threads: one at a time.
class FrameSource {
public:
    virtual ~FrameSource() = default;
    FrameSource(const FrameSource&) = delete;
    FrameSource& operator=(const FrameSource&) = delete;

    /// Of every frame.
    [[nodiscard]] virtual Size size() const = 0;
    /// Frames a second as YUV4MPEG2 writes it; 0:0: nobody says.
    [[nodiscard]] virtual std::string rate() const { return "0:0"; }
    /// What users must know of it, behind its name; empty: nothing.
    [[nodiscard]] virtual std::string note() const { return {}; }
    /// How many there are; nothing: nobody knows before the last one.
    [[nodiscard]] virtual std::optional<std::int64_t> frames() const { return {}; }
    /// The next frame; false: there are no more.
    ///
    /// Shapes    brightness [height x width], row-major, 0 to 1
    /// Errors    invalid_argument: the picture is broken or of another size than the first; io: the video is
    ///           broken, with the frame's number; both name the file. not_found, if a file went away after
    ///           open_frames
    [[nodiscard]] virtual bool read(std::span<float> brightness) = 0;

    /// Passes over so many frames. False: there are not so many. Errors: those of `read`
    [[nodiscard]] virtual bool skip(std::int64_t frames);

    /// Memory for each frame that is decoded ahead of its turn, at the most; 0: none is.
    [[nodiscard]] virtual headrace::Bytes bytes_ahead() const { return 0; }
    /// Frames are decoded beside each other from now on, one in each of these lanes, which outlive this.
    /// `frames`: that will be read or passed over, at the most, counted from the first. Files alone: of a
    /// pipe nothing is asked before its turn
    virtual void decode_ahead(const std::vector<headrace::HostLane*>& lanes, std::int64_t frames);

protected:
    FrameSource() = default;
};

/// What words of a command line name: each a file that is there, or several names with commas between them. A
/// name with %d that is no file stands for all files with numbers from `start` on, `most` at most.
/// Errors    invalid_argument for a name that is empty; not_found and invalid_argument of FrameNames::files
[[nodiscard]] std::vector<std::string>
input_names(const std::vector<std::string>& words, std::optional<std::int64_t> start = {},
            std::int64_t most = std::numeric_limits<std::int64_t>::max());

/// `names` are
/// - PNG, JPEG, PGM or PPM files (see video/picture.hpp),
/// - a file or a pipe in YUV4MPEG2, or "-", the same from standard input; brightness is luma / 255, or
///   whatever is brightest where there are more bits,
/// - or memory:N, N generated frames of size `generated`. A few are made beforehand (generated_frames.hpp)
///   and go forth and back, so that the flow is the known one or its opposite; reading one costs a copy.
///
/// Errors    not_found, invalid_argument for what is not there, is broken or asked for wrongly
[[nodiscard]] std::unique_ptr<FrameSource> open_frames(const std::vector<std::string>& names, Size generated);

} // namespace optical_flow
