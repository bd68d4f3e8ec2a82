// devices/simt/pinned.cpp - see pinned.hpp.
#include "simt/pinned.hpp"
#include <headrace/internal/devices/numa.hpp>
#include <headrace/internal/devices/serial_executor.hpp>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <functional>
#include <limits>
#include <memory>
#include <utility>

#if __has_include(<sanitizer/asan_interface.h>) // of g++ and clang: it does nothing without the sanitizer
    #include <sanitizer/asan_interface.h>
#else
    #define ASAN_POISON_MEMORY_REGION(memory, size) ((void)(memory), (void)(size))
    #define ASAN_UNPOISON_MEMORY_REGION(memory, size) ((void)(memory), (void)(size))
#endif

namespace headrace::HEADRACE_ON_SIMT {
namespace {

/// Unused memory up to this size, or up to half of all pinned memory, is not worth a wait until devices are
/// idle.
constexpr Bytes usually_kept = Bytes{1} << 30;

/// Makes similar sizes equal, so that one block can replace another.
Bytes rounded(Bytes size) {
    const Bytes step = std::max<Bytes>(4096, std::bit_floor(size) / 8);
    if (size > std::numeric_limits<Bytes>::max() - step) return size; // the driver reports the error
    return (size + step - 1) / step * step;
}

} // namespace

// Never destroyed: at the end of the process the driver may be gone, together with its memory.
PinnedPool& PinnedPool::of_process() {
    static auto* const pool = std::unique_ptr<PinnedPool>(new PinnedPool).release();
    return *pool;
}

/// Finds the smallest block that fits.
void* PinnedPool::reuse(Bytes least, Bytes most, const auto& fits) {
    Block* best = nullptr;
    for (Block& block : blocks_)
        if (!block.is_used && !block.is_adopted && block.size >= least && block.size <= most && fits(block) &&
            (best == nullptr || block.size < best->size))
            best = &block;
    if (best == nullptr) return nullptr;
    best->is_used = true;
    ASAN_UNPOISON_MEMORY_REGION(best->memory, best->size);
    return best->memory;
}

Status PinnedPool::take(int ordinal, std::optional<unsigned> node, void** memory, Bytes size) {
    const Bytes wanted = rounded(size);
    const auto reuse_up_to = [&](Bytes most, const auto& fits) {
        const std::scoped_lock lock(mutex_);
        *memory = reuse(wanted, most, fits);
        return *memory != nullptr;
    };
    if (reuse_up_to(wanted + wanted / 4, [&](const Block& block) { return block.node == node; }))
        return success;
    const auto allocate = [&] {
        const OnNode here(node);
        const Status status = HEADRACE_RUNTIME(SetDevice)(ordinal);
        return status == success ? allocate_pinned(memory, wanted) : status;
    };
    Status status = allocate();
    if (status == out_of_memory) {
        static_cast<void>(HEADRACE_RUNTIME(GetLastError)());
        if (reuse_up_to(std::numeric_limits<Bytes>::max(), [](const Block&) { return true; })) return success;
        free_unused(true);
        status = allocate();
    }
    if (status != success) return status;
    const Free free = [](void* pinned) noexcept { static_cast<void>(free_pinned(pinned)); };
    add({*memory, wanted, ordinal, free, true, false, node});
    return success;
}

void PinnedPool::adopt(int ordinal, void* memory, Bytes size, Free free) {
    add({memory, size, ordinal, free, true, true, {}});
}

bool PinnedPool::holds(const void* memory) {
    const std::scoped_lock lock(mutex_);
    return std::ranges::any_of(blocks_, [&](const Block& block) {
        const auto* const begin = static_cast<const std::byte*>(block.memory);
        // std::less: pointers into different blocks have no other order.
        return block.is_used && !block.is_adopted && !std::less<>{}(memory, begin) &&
               std::less<>{}(memory, begin + block.size);
    });
}

void PinnedPool::add(const Block& block) {
    const std::scoped_lock lock(mutex_);
    blocks_.push_back(block);
}

void PinnedPool::give_back(void* memory) noexcept {
    bool surplus = false;
    {
        const std::scoped_lock lock(mutex_);
        Block& block = *std::ranges::find(blocks_, memory, &Block::memory);
        block.is_used = false;
        ASAN_POISON_MEMORY_REGION(block.memory, block.size);
        surplus = has_surplus();
    }
    if (surplus) free_surplus_soon();
}

bool PinnedPool::has_surplus() const {
    Bytes all = 0, unused = 0;
    for (const Block& block : blocks_) {
        if (block.is_adopted && !block.is_used) return true;
        all += block.size;
        if (!block.is_used) unused += block.size;
    }
    return unused > (devices_ == 0 ? 0 : std::max(usually_kept, all / 2));
}

/// First the adopted blocks, which are never used again, then the largest: this needs the fewest calls.
std::optional<PinnedPool::Block> PinnedPool::next_to_free(bool all) {
    if (!all && !has_surplus()) return std::nullopt;
    auto next = blocks_.end();
    for (auto block = blocks_.begin(); block != blocks_.end(); ++block)
        if (!block->is_used && (next == blocks_.end() || std::pair(block->is_adopted, block->size) >
                                                             std::pair(next->is_adopted, next->size)))
            next = block;
    if (next == blocks_.end()) return std::nullopt;
    const Block block = *next;
    blocks_.erase(next);
    ASAN_UNPOISON_MEMORY_REGION(block.memory, block.size);
    return block;
}

void PinnedPool::wait_begins() {
    const std::shared_lock lock(freeing_); // a free in progress waits only for work that no semaphore blocks
    closed_.fetch_add(1);                  // `free_unused` reads it under the lock
}

void PinnedPool::wait_ends() noexcept {
    // seq_cst: one order with the two accesses in `free_unused`, so at least one of the two functions sees
    // the other.
    if (closed_.fetch_sub(1) == 1 && waits_for_semaphores_) free_surplus_soon();
}

void PinnedPool::device_opens() {
    const std::scoped_lock lock(mutex_);
    ++devices_;
}

void PinnedPool::device_closes() noexcept {
    {
        const std::scoped_lock lock(mutex_);
        --devices_;
    }
    free_unused(false);
}

void PinnedPool::free_surplus_soon() noexcept {
    let_go({this, [](PinnedPool* pool) { pool->free_unused(false); }}); // in a thread that may wait
}

void PinnedPool::free_unused(bool all) noexcept {
    for (;;) { // one block at a time: a thread that begins a wait meanwhile waits for only one
        const std::scoped_lock nobody_closes(freeing_);
        waits_for_semaphores_ = true;
        if (closed_ != 0) return; // the last wait that ends starts this again
        waits_for_semaphores_ = false;
        std::optional<Block> block;
        {
            const std::scoped_lock lock(mutex_);
            block = next_to_free(all);
        }
        if (!block) return;
        static_cast<void>(HEADRACE_RUNTIME(SetDevice)(block->ordinal)); // else it starts device 0
        block->free(block->memory);
    }
}

} // namespace headrace::HEADRACE_ON_SIMT
