// bench/slowed_device.hpp - a real device that is slower than it is: mixes of unequal devices on one machine.
#pragma once
#include <headrace/core/device.hpp>

#include <atomic>
#include <memory>
#include <mutex>

namespace bench {

/// Every launch on it ends when the device would have run it `times` as often: it takes its own time and then
/// as long again, (times - 1) times over, in which the device has nothing else to do. Results are as they
/// were, also of kernels that may not run twice. Copies take their own time, between launches. A launch of a
/// GPU takes some microseconds more, in which it is timed; these count as its own, and so does the time in
/// which the host enqueues it (the first time it loads the kernel).
///
/// Running kernels do not hear the host: what is injected into them would be done at full speed. Processors
/// and CUDA devices alone; others throw `unsupported`.
///
/// Threads   as Device; `slow_down` and `fail` any
class SlowedDevice final : public headrace::Device {
public:
    SlowedDevice(std::unique_ptr<headrace::Device> device, double times);
    ~SlowedDevice() override;

    /// From the next launch on; returns how many times slower it was before.
    double slow_down(double times) noexcept { return times_.exchange(times); }
    /// Every launch from now on fails as if the device had been lost.
    void fail() noexcept { lost_.store(true); }

    [[nodiscard]] const headrace::DeviceInfo& info() const noexcept override { return info_; }
    [[nodiscard]] std::unique_ptr<headrace::Memory> allocate(headrace::Bytes size) override;
    [[nodiscard]] std::shared_ptr<void> allocate_host(headrace::Bytes size) override;
    [[nodiscard]] std::unique_ptr<headrace::Stream> make_stream(headrace::Timing timing) override;
    [[nodiscard]] std::unique_ptr<headrace::DeviceTexture>
    make_texture(const headrace::Memory& pixels, headrace::Bytes offset, int rows, int columns) override;
    [[nodiscard]] bool reaches_host(const void* memory) const override;
    [[nodiscard]] bool reaches(const headrace::Device& other) const override;
    [[nodiscard]] bool adds_from(const headrace::Device& other) const override;
    [[nodiscard]] headrace::Bytes free_memory() const override;

private:
    class SlowedStream;

    static const headrace::Device& inner(const headrace::Device& device);
    headrace::Event launch(headrace::Stream& stream, headrace::Stream::Body body,
                           std::span<const headrace::Event> after);
    void run_slowly(const headrace::NativeStream& native, const headrace::Stream::Body& body) const;

    std::unique_ptr<headrace::Device> device_;
    headrace::DeviceInfo info_;
    std::atomic<double> times_;
    std::atomic<bool> lost_ = false;
    std::unique_ptr<headrace::Memory> began_; ///< of a GPU: its launch, by its clock
    std::mutex launching_;
    headrace::Event last_; ///< launch, on whichever stream: one has the device at a time
};

} // namespace bench
