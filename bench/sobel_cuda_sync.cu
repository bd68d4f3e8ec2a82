// bench/sobel_cuda_sync.cu - frames one after another: each is read, copied, filtered, copied and written
// before the next.
#include "sobel_baseline.hpp"
#include "sobel_kernel.cuh"

#include <vector>

namespace bench {
namespace {

class SyncSobel final : public SobelBaseline {
public:
    SyncSobel(const sobel::Planes& planes, std::size_t places_in, std::size_t places_out)
        : planes_(planes),
          bytes_(planes.bytes()),
          device_in_(device_bytes(bytes_)),
          device_out_(device_bytes(bytes_)) {
        while (in_.size() < places_in) in_.push_back(pinned_bytes(bytes_));
        while (out_.size() < places_out) out_.push_back(pinned_bytes(bytes_));
    }

    std::int64_t run(sobel::FrameSource* source, sobel::FrameSink* sink, std::int64_t most) override {
        std::int64_t i = 0;
        for (; i < most; ++i) {
            std::uint8_t *const in = frame(i % in_.size()), *const out = out_[i % out_.size()].get();
            sobel::FrameHeader header;
            if (source != nullptr && !source->read(header, {in, bytes_})) break;
            CHECK(cudaMemcpy(device_in_.get(), in, bytes_, cudaMemcpyHostToDevice));
            filter(device_in_, device_out_, planes_, nullptr);
            CHECK(cudaMemcpy(out, device_out_.get(), bytes_, cudaMemcpyDeviceToHost));
            if (sink != nullptr) sink->write(header, {out, bytes_});
        }
        if (sink != nullptr) sink->close();
        return i;
    }
    std::uint8_t* frame(std::size_t place) override { return in_[place].get(); }
    const std::uint8_t* edges(std::size_t place) override { return out_[place].get(); }

private:
    const sobel::Planes planes_;
    const std::size_t bytes_;
    DeviceBytes device_in_, device_out_;
    std::vector<PinnedBytes> in_, out_;
};

} // namespace

std::unique_ptr<SobelBaseline> sobel_cuda_sync(const sobel::FrameFormat& format, std::size_t places_in,
                                               std::size_t places_out) {
    return std::make_unique<SyncSobel>(format.planes, places_in, places_out);
}

} // namespace bench
