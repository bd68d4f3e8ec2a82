// bench/sobel_baseline.hpp - video frames through the Sobel filter in plain CUDA, OpenCL and OpenMP: no part
// of the library on the way.
//
// Shared with headrace-sobel is what both must have in common for a fair comparison: files, what frames look
// like, and what a thread does to its pixels.
#pragma once
#include "sobel/frames.hpp"

#include <cstdint>
#include <memory>

namespace bench {

class SobelBaseline {
public:
    virtual ~SobelBaseline() = default;
    SobelBaseline(const SobelBaseline&) = delete;
    SobelBaseline& operator=(const SobelBaseline&) = delete;

    /// As sobel::Filter::run. Throws what source and sink throw, and std::runtime_error.
    virtual std::int64_t run(sobel::FrameSource* source, sobel::FrameSink* sink, std::int64_t most) = 0;
    /// Memory of a place on either side; pinned, for GPUs.
    [[nodiscard]] virtual std::uint8_t* frame(std::size_t place) = 0;
    [[nodiscard]] virtual const std::uint8_t* edges(std::size_t place) = 0;

protected:
    SobelBaseline() = default;
};

/// On the current device, with everything allocated.
[[nodiscard]] std::unique_ptr<SobelBaseline> sobel_cuda_sync(const sobel::FrameFormat& format,
                                                             std::size_t places_in, std::size_t places_out);
[[nodiscard]] std::unique_ptr<SobelBaseline> sobel_cuda_async(const sobel::FrameFormat& format,
                                                              std::size_t places_in, std::size_t places_out);

/// `number`: of the device in the loader's order.
[[nodiscard]] std::unique_ptr<SobelBaseline> sobel_opencl(unsigned number, const sobel::FrameFormat& format,
                                                          std::size_t places_in, std::size_t places_out,
                                                          bool asynchronous);
[[nodiscard]] std::unique_ptr<SobelBaseline> sobel_openmp(const sobel::FrameFormat& format,
                                                          std::size_t places_in, std::size_t places_out,
                                                          bool asynchronous);

} // namespace bench
