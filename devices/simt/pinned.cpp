// devices/simt/pinned.cpp - see pinned.hpp.
#include <headrace/devices/errands.hpp>
#include <headrace/devices/simt/pinned.hpp>

#include <algorithm>
#include <bit>
#include <memory>
#include <utility>

namespace headrace::HEADRACE_ON_SIMT {
namespace {

/// Programs that keep no more than this, or than half of all they have, are not worth stopping devices for.
constexpr Bytes usually_kept = Bytes{1} << 30;

/// Sizes that are nearly alike become the same, so that one can take the other's place.
Bytes rounded(Bytes size) {
    const Bytes step = std::max<Bytes>(4096, std::bit_floor(size) / 8);
    return (size + step - 1) / step * step;
}

} // namespace

// Never destroyed: at the end of the process the driver may be gone, and takes its memory with it.
PinnedPool& PinnedPool::of_process() {
    static auto* const pool = std::unique_ptr<PinnedPool>(new PinnedPool).release();
    return *pool;
}

Status PinnedPool::take(int ordinal, void** memory, Bytes size) {
    {
        const std::scoped_lock lock(mutex_);
        if (const auto fits = unused_.lower_bound(size);
            fits != unused_.end() && fits->first / 5 * 4 <= size) {
            *memory = fits->second;
            unused_bytes_ -= fits->first;
            unused_.erase(fits);
            return success;
        }
    }
    const Block block{rounded(size), ordinal};
    static_cast<void>(HEADRACE_RUNTIME(SetDevice)(ordinal));
    Status status = allocate_pinned(memory, block.size);
    if (status == out_of_memory) {
        static_cast<void>(HEADRACE_RUNTIME(GetLastError)());
        free_beyond(true);
        status = allocate_pinned(memory, block.size);
    }
    if (status != success) return status;
    const std::scoped_lock lock(mutex_);
    blocks_.emplace(*memory, block);
    bytes_ += block.size;
    return success;
}

void PinnedPool::give_back(void* memory) noexcept {
    bool too_many = false;
    {
        const std::scoped_lock lock(mutex_);
        const Bytes size = blocks_.at(memory).size;
        unused_.emplace(size, memory);
        unused_bytes_ += size;
        too_many = devices_ == 0 || unused_bytes_ > most_kept();
    }
    if (too_many) let_go({this, [](PinnedPool* pool) { pool->free_beyond(false); }});
}

void PinnedPool::free_some_time(int ordinal, void* memory, void (*free)(void*) noexcept) {
    {
        const std::scoped_lock lock(mutex_);
        doomed_.push_back({ordinal, memory, free});
    }
    free_beyond(false);
}

void PinnedPool::gate_closes() {
    const std::shared_lock lock(freeing_); // what is being freed waits for work that no gate holds up
    closed_.fetch_add(1, std::memory_order_relaxed); // free_beyond looks under the lock
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
    free_beyond(false);
}

Bytes PinnedPool::most_kept() const { return devices_ == 0 ? 0 : std::max(usually_kept, bytes_ / 2); }

/// Unless a gate is closed: then whoever comes here next does it.
void PinnedPool::free_beyond(bool all) noexcept {
    const std::scoped_lock nobody_closes(freeing_);
    if (closed_.load(std::memory_order_acquire) != 0) return;
    std::vector<Doomed> free;
    {
        const std::scoped_lock lock(mutex_);
        free = std::exchange(doomed_, {});
        // The largest first: fewest calls.
        while (!unused_.empty() && (all || unused_bytes_ > most_kept())) {
            const auto largest = std::prev(unused_.end());
            const auto block = blocks_.find(largest->second);
            free.push_back({block->second.ordinal, largest->second,
                            [](void* memory) noexcept { static_cast<void>(free_pinned(memory)); }});
            bytes_ -= largest->first;
            unused_bytes_ -= largest->first;
            unused_.erase(largest);
            blocks_.erase(block);
        }
    }
    for (const Doomed& each : free) {
        static_cast<void>(HEADRACE_RUNTIME(SetDevice)(each.ordinal)); // else the first one would be started
        each.free(each.memory);
    }
}

} // namespace headrace::HEADRACE_ON_SIMT
