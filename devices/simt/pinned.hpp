// devices/simt/pinned.hpp - pinned host memory, which is given back to the driver only while no stream stands
// at a gate.
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

/// The process's pinned memory: every device of the technology reaches all of it.
///
/// A driver that frees pinned memory first waits until the device is idle, and whoever calls it meanwhile
/// waits too (CUDA, driver 580: cudaFreeHost, cudaHostUnregister and cudaFree; cudaHostAlloc does not). If a
/// stream stands at a gate then, and who is to open it needs the driver, nothing moves any more. So what is
/// not needed is kept and given out again, and freed when there is much of it and no gate is closed.
/// Memory comes from the NUMA node that the device is near, so that what passes over the bus does not pass
/// between processors as well.
///
/// Threads: any.
class HEADRACE_EXPORT PinnedPool {
public:
    using Free = void (*)(void*) noexcept;

    static PinnedPool& of_process();
    PinnedPool(const PinnedPool&) = delete; // all use the one
    PinnedPool& operator=(const PinnedPool&) = delete;

    /// At least `size` bytes, aligned to 64 at least; from `node`, if one is named and has room. Makes the
    /// device the calling thread's.
    [[nodiscard]] Status take(int ordinal, std::optional<unsigned> node, void** memory, Bytes size);
    /// For what the caller made in another way, and `free` frees.
    void adopt(int ordinal, void* memory, Bytes size, Free free);
    /// What was taken or adopted. Calls no driver, and waits for nobody who does.
    void give_back(void* memory) noexcept;

    /// True if it is within what was taken and not given back.
    [[nodiscard]] bool holds(const void* memory);

    /// A stream will stand at a gate, until `gate_opens`, which calls no driver: any number of them.
    void gate_closes();
    void gate_opens() noexcept;

    /// While none is open and no gate is closed, nothing is kept.
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
    // With mutex_ held:
    [[nodiscard]] void* reuse(Bytes least, Bytes most, const auto& fits);
    [[nodiscard]] bool has_surplus() const;
    [[nodiscard]] std::optional<Block> next_to_free(bool all);

    void free_unused(bool all) noexcept; ///< calls the driver
    void free_surplus_soon() noexcept;

    std::mutex mutex_;          // never held during a call of the driver
    std::vector<Block> blocks_; // few: a search costs less than what it saves
    int devices_ = 0;

    std::shared_mutex freeing_; // shared: a gate is being closed; alone: the driver frees
    std::atomic<std::int64_t> closed_ = 0;
    std::atomic<bool> waits_for_gates_ = false; // to free
};

} // namespace headrace::HEADRACE_ON_SIMT
