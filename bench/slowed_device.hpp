// bench/slowed_device.hpp - a real device that is slower than it is: mixes of unequal devices on one machine.
#pragma once
#include <headrace/core/device.hpp>

#include <atomic>
#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

namespace bench {

/// Every launch on it ends when the device would have run it `times` as often: it takes its own time and then
/// as long again, (times - 1) times over, in which the device has nothing else to do. Results are as they
/// were, also of kernels that may not run twice. Copies take their own time, between launches.
///
/// Running kernels do not hear the host: what is fed to them would be done at full speed. Events' times are
/// stretched as well, so that schedulers believe them. OpenCL devices cannot be slowed (their backend knows
/// its own devices by type).
///
/// Threads   as Device; `slow_down` and `fail` any
class SlowedDevice final : public headrace::Device {
public:
    SlowedDevice(std::unique_ptr<headrace::Device> device, double times);
    ~SlowedDevice() override;

    /// From the next launch on.
    void slow_down(double times) noexcept { times_.store(times); }
    /// Every launch from now on fails as if the device had been lost.
    void fail() noexcept { lost_.store(true); }

    [[nodiscard]] const headrace::DeviceInfo& info() const noexcept override { return info_; }
    [[nodiscard]] std::unique_ptr<headrace::Memory> allocate(headrace::Bytes size) override;
    [[nodiscard]] std::shared_ptr<void> allocate_host(headrace::Bytes size) override;
    [[nodiscard]] std::unique_ptr<headrace::Stream> make_stream(headrace::Timing timing) override;
    [[nodiscard]] bool reaches(const headrace::Device& other) const override;
    [[nodiscard]] bool adds_from(const headrace::Device& other) const override;
    [[nodiscard]] headrace::Bytes free_memory() const override;

private:
    class SlowedStream;
    using Clock = std::chrono::steady_clock;

    static const headrace::Device& inner(const headrace::Device& device);
    headrace::Event launch(headrace::Stream& stream, headrace::Stream::Body body,
                           std::span<const headrace::Event> after);
    void at(Clock::time_point when, std::function<void()> call);
    void run(const std::stop_token& stop);

    std::unique_ptr<headrace::Device> device_;
    headrace::DeviceInfo info_;
    std::atomic<double> times_;
    std::atomic<bool> lost_ = false;
    std::mutex launching_;
    headrace::Event last_; ///< launch, on whichever stream: one has the device at a time
    std::mutex mutex_;
    std::condition_variable_any changed_;
    std::deque<std::pair<Clock::time_point, std::function<void()>>> due_; ///< in order: launches are
    std::jthread timer_;
};

} // namespace bench
