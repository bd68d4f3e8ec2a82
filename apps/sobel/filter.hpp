// apps/sobel/filter.hpp - frames through the Sobel filter: one is read while the one before it is on the
// device and the one before that is written.
#pragma once
#include "any_sobel.kernels.hpp"
#include "frames.hpp"
#include "sobel.kernels.hpp"
#include <headrace/headrace.hpp>

#include <atomic>
#include <cstdint>
#include <deque>
#include <functional>

namespace sobel {

/// Where requests go. In a synchronous run, all of these are synchronous.
struct Lanes {
    headrace::Controller& kernels;
    headrace::HostLane& reading;
    headrace::HostLane& writing;
};

/// Has places for frames on either side of the filter, in memory that the device copies at full speed. A
/// place is used again for the frame that comes so many frames later, so memory does not grow with the
/// stream.
///
/// Lifetime  everything that it is given outlives it. The destructor waits; frames that are whole are written
class Filter {
public:
    /// Allocates everything, and sees to it that the first frame takes no longer than others.
    /// Errors: out_of_memory with sizes; unsupported for a device without a kernel
    Filter(Lanes lanes, const FrameFormat& format, int places_in, int places_out);
    Filter(const Filter&) = delete; // requests hold its address
    Filter& operator=(const Filter&) = delete;

    /// Filters until the source ends, or `most` frames; returns how many there were, all of them written.
    /// A null source: the frames lie in their places already, and are new to the device every time. A null
    /// sink: edges stay in theirs. `progress`: called from this thread with the number of frames under way or
    /// done. Errors: of source and sink, when all whole frames before have been written, or will have been
    /// when this is destroyed
    std::int64_t run(FrameSource* source, FrameSink* sink, std::int64_t most,
                     const std::function<void(std::int64_t)>& progress = {});

    /// To fill the places in, or see what is in the places out; between runs.
    [[nodiscard]] Pixels frame(std::size_t place) { return frames_in_[place].fill(); }
    [[nodiscard]] ConstPixels edges(std::size_t place) const { return out_[place].edges.gather(); }

private:
    using Bytes = headrace::Array<std::uint8_t>;
    struct Out {
        Out(headrace::Grid<1> size, headrace::Device& device) : edges("edges", size, device) {}

        Bytes edges;
        FrameHeader header{};
        headrace::Event done{}; ///< the frame that was here last has been written
    };

    headrace::Event filter(Bytes& frame, Bytes& edges);

    Lanes lanes_;
    const Planes planes_;
    const int sample_bytes_, most_;        ///< of the frames' format
    const int field_step_;                 ///< rows from one to the next of its field
    std::atomic<std::int64_t> frames_ = 0; ///< there were so far, without a gap
    std::int64_t written_ = 0;             ///< the writing lane's
    std::deque<Bytes> frames_in_;          // last, since their destructors wait for what uses the rest
    std::deque<Out> out_;
};

} // namespace sobel
