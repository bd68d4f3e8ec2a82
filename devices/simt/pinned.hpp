// devices/simt/pinned.hpp - pinned host memory. It goes back to the driver only while no stream waits at a
// semaphore.
#pragma once
#include <headrace/core/device.hpp>
#include <headrace/core/export.hpp>
#include <headrace/devices/simt/runtime.hpp>

#include <atomic>
#include <cstdint>
#include <mutex>
#include <optional>
#include <shared_mutex>
#include <vector>

namespace headrace::HEADRACE_ON_SIMT {

/// The pinned memory of the process. Every device of the technology reaches all of it.
///
/// A driver that frees pinned memory first waits until the device is idle (CUDA, driver 580: cudaFreeHost,
/// cudaHostUnregister and cudaFree; not cudaHostAlloc). Other driver calls then wait, too. If a stream waits
/// at a semaphore at that time, and the thread that signals the semaphore needs the driver, that is a
/// deadlock. So unused memory is kept and used again. It is freed when there is much of it and no stream
/// waits. Memory comes from the NUMA node near the device, so that bus transfers do not also cross between
/// processors.
///
/// Threads: any.
class HEADRACE_EXPORT PinnedPool {
public:
    using Free = void (*)(void*) noexcept;

    static PinnedPool& of_process();
    PinnedPool(const PinnedPool&) = delete; // the process has only one
    PinnedPool& operator=(const PinnedPool&) = delete;

    /// Takes at least `size` bytes, aligned to at least 64 bytes, from `node` if one is named and has room.
    /// Makes the device the calling thread's current device.
    [[nodiscard]] Status take(int ordinal, std::optional<unsigned> node, void** memory, Bytes size);
    /// Adds memory that the caller allocated in another way and that `free` frees.
    void adopt(int ordinal, void* memory, Bytes size, Free free);
    /// Gives back what was taken or adopted. Calls no driver, and waits for no thread that calls one.
    void give_back(void* memory) noexcept;

    /// True if `memory` is inside a block that was taken and not given back.
    [[nodiscard]] bool holds(const void* memory);

    /// A stream will wait at a semaphore until `wait_ends`. Any number at once; `wait_ends` calls no driver.
    void wait_begins();
    void wait_ends() noexcept;

    /// While no device is open and no stream waits, no unused memory is kept.
    void device_opens();
    void device_closes() noexcept;

private:
    struct Block {
        void* memory;
        Bytes size;
        int ordinal; ///< of the device that was current when it was made
        Free free;
        bool is_used, is_adopted;
        std::optional<unsigned> node;
    };

    PinnedPool() = default;
    void add(const Block& block);
    // These need mutex_ held:
    [[nodiscard]] void* reuse(Bytes least, Bytes most, const auto& fits);
    [[nodiscard]] bool has_surplus() const;
    [[nodiscard]] std::optional<Block> next_to_free(bool all);

    void free_unused(bool all) noexcept; ///< calls the driver
    void free_surplus_soon() noexcept;

    std::mutex mutex_;          // never held during a driver call
    std::vector<Block> blocks_; // few: a search costs less than the call it saves
    int devices_ = 0;

    std::shared_mutex freeing_; // shared: a wait begins; exclusive: the driver frees
    std::atomic<std::int64_t> closed_ = 0;
    std::atomic<bool> waits_for_semaphores_ = false; // freeing waits for the end of waits
};

} // namespace headrace::HEADRACE_ON_SIMT
