// bench/sobel_cuda_async.cu - one thread reads, another one writes, and between them frames take turns with a
// few streams, so that copies of both directions and kernels overlap.
#include "sobel_baseline.hpp"
#include "sobel_kernel.cuh"

#include <atomic>
#include <deque>
#include <exception>
#include <semaphore>
#include <thread>

namespace bench {
namespace {

/// Frames on the device at a time: one that comes, one that is filtered, one that goes, one to spare.
constexpr std::size_t slots = 4;

struct Slot {
    DeviceBytes in, out;
    Stream stream;
    explicit Slot(std::size_t bytes) : in(device_bytes(bytes)), out(device_bytes(bytes)) {}
};

/// Of one frame on the host, on either side.
struct HostPlace {
    PinnedBytes pixels;
    Event done; ///< the device has read or written it
    sobel::FrameHeader header;
    explicit HostPlace(std::size_t bytes) : pixels(pinned_bytes(bytes)) {}
};

class AsyncSobel final : public SobelBaseline {
public:
    AsyncSobel(const sobel::Planes& planes, std::size_t places_in, std::size_t places_out)
        : planes_(planes), bytes_(planes.bytes()) {
        for (std::size_t i = 0; i < slots; ++i) slots_.emplace_back(bytes_);
        for (std::size_t i = 0; i < places_in; ++i) in_.emplace_back(bytes_);
        for (std::size_t i = 0; i < places_out; ++i) out_.emplace_back(bytes_);
    }

    std::int64_t run(sobel::FrameSource* source, sobel::FrameSink* sink, std::int64_t most) override {
        std::counting_semaphore<> free_in(in_.size()), read(0), enqueued(0), free_out(out_.size());
        std::atomic<std::int64_t> frames_read = 0, frames_enqueued = 0;
        std::atomic<bool> stop = false;
        std::exception_ptr read_failure, write_failure;

        std::thread reading, writing;
        if (source != nullptr)
            reading = std::thread([&] {
                try {
                    for (std::int64_t i = 0; i < most; ++i) {
                        free_in.acquire();
                        if (stop) break;
                        HostPlace& place = in_[i % in_.size()];
                        CHECK(cudaEventSynchronize(place.done));
                        if (!source->read(place.header, {place.pixels.get(), bytes_})) break;
                        ++frames_read;
                        read.release();
                    }
                } catch (...) {
                    read_failure = std::current_exception();
                }
                read.release();
            });
        if (sink != nullptr)
            writing = std::thread([&] {
                try {
                    for (std::int64_t i = 0;; ++i) {
                        enqueued.acquire();
                        if (i >= frames_enqueued) break;
                        HostPlace& place = out_[i % out_.size()];
                        CHECK(cudaEventSynchronize(place.done));
                        sink->write(place.header, {place.pixels.get(), bytes_});
                        free_out.release();
                    }
                } catch (...) {
                    write_failure = std::current_exception();
                    stop = true;
                    free_out.release();
                }
            });

        std::int64_t i = 0;
        for (; i < most; ++i) {
            if (source != nullptr) {
                read.acquire();
                if (frames_read <= i) break;
            }
            if (sink != nullptr) free_out.acquire();
            if (stop) break;
            enqueue(slots_[i % slots], in_[i % in_.size()], out_[i % out_.size()]);
            free_in.release();
            ++frames_enqueued;
            enqueued.release();
        }
        stop = true;
        free_in.release();
        enqueued.release();
        if (reading.joinable()) reading.join();
        if (writing.joinable()) writing.join();
        for (const Slot& slot : slots_) CHECK(cudaStreamSynchronize(slot.stream));
        for (const std::exception_ptr& failure : {write_failure, read_failure})
            if (failure) std::rethrow_exception(failure);
        if (sink != nullptr) sink->close();
        return i;
    }
    std::uint8_t* frame(std::size_t place) override { return in_[place].pixels.get(); }
    const std::uint8_t* edges(std::size_t place) override { return out_[place].pixels.get(); }

private:
    void enqueue(Slot& slot, HostPlace& from, HostPlace& to) {
        CHECK(cudaMemcpyAsync(slot.in.get(), from.pixels.get(), bytes_, cudaMemcpyHostToDevice, slot.stream));
        CHECK(cudaEventRecord(from.done, slot.stream));
        filter(slot.in, slot.out, planes_, slot.stream);
        CHECK(cudaMemcpyAsync(to.pixels.get(), slot.out.get(), bytes_, cudaMemcpyDeviceToHost, slot.stream));
        CHECK(cudaEventRecord(to.done, slot.stream));
        to.header = from.header;
    }

    const sobel::Planes planes_;
    const std::size_t bytes_;
    std::deque<Slot> slots_;
    std::deque<HostPlace> in_, out_;
};

} // namespace

std::unique_ptr<SobelBaseline> sobel_cuda_async(const sobel::FrameFormat& format, std::size_t places_in,
                                                std::size_t places_out) {
    return std::make_unique<AsyncSobel>(format.planes, places_in, places_out);
}

} // namespace bench
