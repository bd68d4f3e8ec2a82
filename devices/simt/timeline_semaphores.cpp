// devices/simt/timeline_semaphores.cpp - see timeline_semaphores.hpp.
#include "simt/host_call.hpp"
#include "simt/pinned.hpp"
#include <headrace/core/log.hpp>
#include <headrace/devices/simt/detail/timeline_semaphores.hpp>
#include <headrace/internal/devices/serial_executor.hpp>

#include <atomic>
#include <string>

namespace headrace::HEADRACE_ON_SIMT {

TimelineSemaphores::TimelineSemaphores(int ordinal)
    : ordinal_(ordinal), usable_(SemaphoreMemory::usable(ordinal)) {
    if (usable_)
        add_words(); // now, so that the first request need not do it
    else
        log_warning(std::string(Technology::name) + ":" + std::to_string(ordinal) +
                    " cannot wait for words in memory; use it without devices of other technologies");
}

TimelineSemaphores::~TimelineSemaphores() {
    for (void* memory : allocations_) PinnedPool::of_process().give_back(memory);
}

std::size_t TimelineSemaphores::words() const {
    const std::scoped_lock lock(mutex_);
    return words_;
}

void TimelineSemaphores::add_words() {
    auto* const memory = static_cast<std::byte*>(SemaphoreMemory::allocate());
    PinnedPool::of_process().adopt(ordinal_, memory, SemaphoreMemory::words * SemaphoreMemory::stride,
                                   SemaphoreMemory::free);
    const std::scoped_lock lock(mutex_);
    allocations_.push_back(memory);
    words_ += SemaphoreMemory::words;
    free_.reserve(words_); // so that `signal` cannot fail
    for (std::size_t i = 0; i < SemaphoreMemory::words; ++i) {
        auto* const word = reinterpret_cast<std::uint64_t*>(memory + i * SemaphoreMemory::stride);
        std::atomic_ref(*word).store(0, std::memory_order_relaxed); // relaxed: no stream has seen it yet
        free_.push_back({word, 0});
    }
}

std::optional<TimelineSemaphores::Word> TimelineSemaphores::unused_word() {
    const std::scoped_lock lock(mutex_);
    if (free_.empty()) return std::nullopt;
    const Word word = free_.back();
    free_.pop_back();
    return word;
}

TimelineSemaphores::Word TimelineSemaphores::take(std::uint64_t steps) {
    auto word = unused_word();
    for (; !word; word = unused_word()) add_words();
    PinnedPool::of_process().wait_begins();
    return {word->memory, word->value + steps};
}

void TimelineSemaphores::advance(Word word, std::uint64_t value) {
    // release: a device that has read the value sees the data that the value announces.
    std::atomic_ref(*word.memory).store(value, std::memory_order_release);
}

void TimelineSemaphores::signal(Word word) {
    advance(word, word.value);
    PinnedPool::of_process().wait_ends();
    const std::scoped_lock lock(mutex_);
    free_.push_back(word);
}

void TimelineSemaphores::wait(StreamHandle stream, const Event& event) {
    if (!usable_) {
        // The runtime calls back for all streams in one thread, which sleeps here until `event` settles. That
        // is correct if `event` does not itself wait for a callback of this runtime. Devices of this decade
        // do not take this path.
        const auto closed = std::shared_ptr<PinnedPool>(&PinnedPool::of_process(),
                                                        [](PinnedPool* pool) { pool->wait_ends(); });
        closed->wait_begins();
        call_on_host(stream, [closed, last = Event(event)](Status) mutable {
            static_cast<void>(last.outcome());
            let_go(std::exchange(last, {}).state()); // the driver's thread must not destroy it
        });
        return;
    }
    const Word word = take();
    event.then([self = shared_from_this(), word](const ErrorPtr&) { self->signal(word); });
    // Asked only now, because the event may have settled since.
    if (!event.state()->settled()) SemaphoreMemory::wait(stream, word.memory, word.value);
}

} // namespace headrace::HEADRACE_ON_SIMT
