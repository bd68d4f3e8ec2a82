// devices/cpu/cpu_device.hpp - the Device of the host's processors, and its memory.
#pragma once
#include <headrace/core/device.hpp>
#include <headrace/core/export.hpp>
#include <headrace/devices/cpu/arena.hpp>
#include <headrace/internal/devices/settings.hpp>

#include <atomic>
#include <chrono>
#include <mutex>
#include <optional>
#include <string_view>

namespace headrace {

/// Counts the bytes that CPU devices have promised to this process. Linux promises more memory than it has
/// and kills the process that uses it. So promises here never exceed the machine's memory. All functions may
/// be called from any thread.
class HEADRACE_EXPORT HostBudget {
public:
    /// Throws out_of_memory, with the sizes and `device`, if the machine has not enough memory.
    void take(Bytes size, std::string_view device);
    void give_back(Bytes size) noexcept { taken_ -= size; }

private:
    /// Asks the system. Returns the bytes that are available.
    Bytes ask();

    std::atomic<Bytes> taken_ = 0;
    std::mutex mutex_; ///< protects what follows
    std::chrono::steady_clock::time_point asked_{};
    Bytes total_ = 0;     ///< of the machine
    Bytes allowance_ = 0; ///< the bytes that may be taken before the system is asked again
};

/// Aligned host memory within the budget. The last holder frees it and gives it back to the budget.
[[nodiscard]] HEADRACE_EXPORT std::shared_ptr<void>
allocate_on_host(Bytes size, std::optional<NumaRange> numa, std::string_view device);

class HEADRACE_EXPORT CpuMemory final : public Memory {
public:
    CpuMemory(std::shared_ptr<void> bytes, Bytes size) : bytes_(std::move(bytes)), size_(size) {}
    [[nodiscard]] Bytes size() const noexcept override { return size_; }
    [[nodiscard]] void* address() const noexcept override { return bytes_.get(); }

private:
    std::shared_ptr<void> bytes_;
    Bytes size_;
};

class HEADRACE_EXPORT CpuDevice final : public Device {
public:
    CpuDevice(DeviceInfo info, std::span<const Core> cores, bool pin, std::optional<NumaRange> numa = {});

    [[nodiscard]] const DeviceInfo& info() const noexcept override { return info_; }
    [[nodiscard]] std::unique_ptr<Memory> allocate(Bytes size) override;
    [[nodiscard]] std::shared_ptr<void> allocate_host(Bytes size) override;
    [[nodiscard]] std::unique_ptr<Stream> make_stream(Timing timing) override;
    [[nodiscard]] bool reaches(const Device& other) const override;
    [[nodiscard]] Bytes free_memory() const override;

private:
    DeviceInfo info_;
    std::optional<NumaRange> numa_;
    CpuArena arena_;
};

} // namespace headrace
