// devices/simt/pinned.hpp - pinned host memory, which is given back to the driver only while no stream stands
// at a gate.
#pragma once
#include <headrace/core/device.hpp>
#include <headrace/devices/simt/runtime.hpp>

#include <atomic>
#include <map>
#include <mutex>
#include <shared_mutex>
#include <unordered_map>
#include <vector>

namespace headrace::HEADRACE_ON_SIMT {

/// The process's pinned memory: every device of the technology reaches all of it.
///
/// A driver that frees pinned memory first waits until the device is idle, and whoever calls it meanwhile
/// waits too (CUDA, driver 580: cudaFreeHost, cudaHostUnregister and cudaFree; cudaHostAlloc does not). If a
/// stream stands at a gate then, and who is to open it needs the driver, nothing moves any more. So what is
/// not needed is kept and given out again, and freed when there is much of it and no gate is closed.
///
/// Threads: any.
class PinnedPool {
public:
    static PinnedPool& of_process();
    PinnedPool(const PinnedPool&) = delete; // all use the one
    PinnedPool& operator=(const PinnedPool&) = delete;

    /// At least `size` bytes, aligned to 64 at least.
    [[nodiscard]] Status take(int ordinal, void** memory, Bytes size);
    /// Calls no driver, and waits for nobody who does.
    void give_back(void* memory) noexcept;
    /// For what the driver made in another way: `free` is called now or later.
    void free_some_time(int ordinal, void* memory, void (*free)(void*) noexcept);

    /// A stream will stand at a gate, until `gate_opens`: any number of them.
    void gate_closes();
    void gate_opens() noexcept {
        closed_.fetch_sub(1, std::memory_order_release); // pairs with the acquire in free_beyond
    }

    /// While none is open, nothing is kept.
    void device_opens();
    void device_closes() noexcept;

private:
    struct Block {
        Bytes size;
        int ordinal; ///< the device with whose driver it was made
    };
    struct Doomed {
        int ordinal;
        void* memory;
        void (*free)(void*) noexcept;
    };

    PinnedPool() = default;
    [[nodiscard]] Bytes most_kept() const; ///< with mutex_ held
    void free_beyond(bool all) noexcept; ///< calls the driver

    std::mutex mutex_; // never held during a call of the driver
    std::unordered_map<void*, Block> blocks_;
    std::multimap<Bytes, void*> unused_;
    std::vector<Doomed> doomed_;
    Bytes bytes_ = 0, unused_bytes_ = 0;
    int devices_ = 0;

    std::shared_mutex freeing_; // shared: a gate is being closed; alone: the driver frees
    std::atomic<std::int64_t> closed_ = 0;
};

} // namespace headrace::HEADRACE_ON_SIMT
