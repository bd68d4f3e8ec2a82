// bench/sobel_pipeline.hpp - what the baselines in OpenCL and OpenMP have in common. Asynchronously, one
// thread reads, another one writes, and between them frames go to the device as soon as there is room on
// either side; synchronously, one frame after another.
#pragma once
#include "sobel_baseline.hpp"

#include <vector>

namespace bench {

/// What a technology does with a frame is its own.
class SobelPipeline : public SobelBaseline {
public:
    std::int64_t run(sobel::FrameSource* source, sobel::FrameSink* sink, std::int64_t most) final;

protected:
    SobelPipeline(std::size_t bytes, std::size_t places_in, std::size_t places_out, bool asynchronous)
        : bytes_(bytes), asynchronous_(asynchronous), headers_in_(places_in), headers_out_(places_out) {}

    /// Begins to filter frame `number`, which has these places on either side.
    virtual void enqueue(std::int64_t number, std::size_t from, std::size_t to) = 0;
    /// Until the device has read the place's last frame, if there was one. Called by the thread that reads.
    virtual void wait_until_read(std::size_t place) = 0;
    /// Until the edges of the place's last frame are there. Called by the thread that writes.
    virtual void wait_until_written(std::size_t place) = 0;
    virtual void wait_for_all() = 0;

private:
    std::int64_t run_in_turn(sobel::FrameSource* source, sobel::FrameSink* sink, std::int64_t most);
    std::int64_t run_overlapped(sobel::FrameSource* source, sobel::FrameSink* sink, std::int64_t most);

    const std::size_t bytes_; ///< of a frame
    const bool asynchronous_;
    std::vector<sobel::FrameHeader> headers_in_, headers_out_;
};

} // namespace bench
