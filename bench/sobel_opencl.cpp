// bench/sobel_opencl.cpp - the filter in plain OpenCL, with headrace-sobel's kernel. Synchronously each frame
// is read, copied, filtered, copied and written before the next; asynchronously frames take turns with a few
// queues, while other threads read and write.
#include "opencl_baseline.hpp"
#include "sobel.cl.hpp"
#include "sobel_pipeline.hpp"

#include <deque>

namespace bench {
namespace {

constexpr std::size_t strip = 16; // as sobel.cl
constexpr std::size_t block[2] = {32, 4};

/// What one frame needs on the device.
class Slot {
public:
    Slot(const OpenCl& device, const sobel::Planes& planes)
        : bytes_(planes.bytes()),
          in_(device.memory(bytes_)),
          out_(device.memory(bytes_)),
          queue_(device.queue()),
          kernel_(device.kernel("Sobel")) {
        const int lines = static_cast<int>(planes.rows());
        const int strips =
            static_cast<int>((static_cast<std::size_t>(planes.plane[0].columns) + strip - 1) / strip);
        items_[0] = (static_cast<std::size_t>(strips) + block[0] - 1) / block[0] * block[0];
        items_[1] = (static_cast<std::size_t>(lines) + block[1] - 1) / block[1] * block[1];
        const cl_mem in = in_.get(), out = out_.get();
        CHECK(clSetKernelArg(kernel_.get(), 0, sizeof in, &in));
        CHECK(clSetKernelArg(kernel_.get(), 1, sizeof out, &out));
        CHECK(clSetKernelArg(kernel_.get(), 2, sizeof planes, &planes));
        CHECK(clSetKernelArg(kernel_.get(), 3, sizeof lines, &lines));
        CHECK(clSetKernelArg(kernel_.get(), 4, sizeof strips, &strips));
    }

    /// Enqueues all of it; the events complete when `frame` has been read and when `edges` has been written.
    void filter(const std::uint8_t* frame, std::uint8_t* edges, Event& read, Event& written) {
        cl_event has_read = nullptr, has_written = nullptr;
        CHECK(
            clEnqueueWriteBuffer(queue_.get(), in_.get(), CL_FALSE, 0, bytes_, frame, 0, nullptr, &has_read));
        read.reset(has_read);
        CHECK(clEnqueueNDRangeKernel(queue_.get(), kernel_.get(), 2, nullptr, items_, block, 0, nullptr,
                                     nullptr));
        CHECK(clEnqueueReadBuffer(queue_.get(), out_.get(), CL_FALSE, 0, bytes_, edges, 0, nullptr,
                                  &has_written));
        written.reset(has_written);
        CHECK(clFlush(queue_.get()));
    }
    void finish() const { CHECK(clFinish(queue_.get())); }

private:
    std::size_t bytes_, items_[2];
    Memory in_, out_;
    Queue queue_;
    Kernel kernel_;
};

/// A frame on the host, on either side.
struct HostPlace {
    Pinned pixels;
    Event done; ///< the device has read or written it
    HostPlace(const OpenCl& device, cl_command_queue queue, std::size_t bytes)
        : pixels(device, queue, bytes) {}

    void wait() const {
        if (cl_event event = done.get()) CHECK(clWaitForEvents(1, &event));
    }
};

class OpenClSobel final : public SobelPipeline {
public:
    OpenClSobel(unsigned number, const sobel::Planes& planes, std::size_t places_in, std::size_t places_out,
                bool asynchronous)
        : SobelPipeline(planes.bytes(), places_in, places_out, asynchronous),
          device_(number, headrace::embedded::sobel_cl) {
        for (std::size_t i = 0; i < places_in; ++i) in_.emplace_back(device_, mapping_.get(), planes.bytes());
        for (std::size_t i = 0; i < places_out; ++i)
            out_.emplace_back(device_, mapping_.get(), planes.bytes());
        // One that comes, one that is filtered, one that goes, one to spare.
        for (int i = 0; i < (asynchronous ? 4 : 1); ++i) slots_.emplace_back(device_, planes);
    }
    std::uint8_t* frame(std::size_t place) override { return in_[place].pixels.bytes(); }
    const std::uint8_t* edges(std::size_t place) override { return out_[place].pixels.bytes(); }

private:
    void enqueue(std::int64_t number, std::size_t from, std::size_t to) override {
        slots_[static_cast<std::size_t>(number) % slots_.size()].filter(frame(from), out_[to].pixels.bytes(),
                                                                        in_[from].done, out_[to].done);
    }
    void wait_until_read(std::size_t place) override { in_[place].wait(); }
    void wait_until_written(std::size_t place) override { out_[place].wait(); }
    void wait_for_all() override {
        for (const Slot& slot : slots_) slot.finish();
    }

    const OpenCl device_;
    const Queue mapping_ = device_.queue();
    std::deque<HostPlace> in_, out_;
    std::deque<Slot> slots_;
};

} // namespace

std::unique_ptr<SobelBaseline> sobel_opencl(unsigned number, const sobel::FrameFormat& format,
                                            std::size_t places_in, std::size_t places_out,
                                            bool asynchronous) {
    return std::make_unique<OpenClSobel>(number, format.planes, places_in, places_out, asynchronous);
}

} // namespace bench
