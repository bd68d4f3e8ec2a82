// devices/simt/gates.cpp - see gates.hpp.
#include <headrace/core/log.hpp>
#include <headrace/devices/errands.hpp>
#include <headrace/devices/simt/gates.hpp>
#include <headrace/devices/simt/host_call.hpp>
#include <headrace/devices/simt/pinned.hpp>

#include <atomic>
#include <string>

namespace headrace::HEADRACE_ON_SIMT {

Gates::Gates(int ordinal) : ordinal_(ordinal), usable_(GateMemory::usable(ordinal)) {
    if (usable_)
        add_words(); // now: pinning memory may wait until streams are idle, and those may wait at a gate
    else
        log_warning(std::string(technology) + ":" + std::to_string(ordinal) +
                    " cannot wait for words in memory; use it without devices of other technologies");
}

Gates::~Gates() {
    // The last holder may be an event that opens a gate, in a thread that must not wait for the driver.
    for (auto& memory : allocations_) let_go(std::move(memory));
}

std::size_t Gates::words() const {
    const std::scoped_lock lock(mutex_);
    return words_;
}

void Gates::add_words() {
    std::shared_ptr<void> allocation{GateMemory::allocate(), [on = ordinal_](void* memory) {
                                         PinnedPool::of_process().free_some_time(on, memory,
                                                                                 GateMemory::free);
                                     }};
    auto* const memory = static_cast<std::byte*>(allocation.get());
    const std::scoped_lock lock(mutex_);
    allocations_.push_back(std::move(allocation));
    words_ += GateMemory::words;
    free_.reserve(words_); // so that opening a gate cannot fail
    for (std::size_t i = 0; i < GateMemory::words; ++i) {
        auto* const word = reinterpret_cast<std::uint64_t*>(memory + i * GateMemory::stride);
        std::atomic_ref(*word).store(0, std::memory_order_relaxed); // no stream has seen it yet
        free_.push_back({word, 0});
    }
}

Gates::Word Gates::take(std::uint64_t steps) {
    PinnedPool::of_process().gate_closes();
    for (;;) {
        {
            const std::scoped_lock lock(mutex_);
            if (!free_.empty()) {
                Word word = free_.back();
                free_.pop_back();
                word.value += steps;
                return word;
            }
        }
        add_words();
    }
}

void Gates::advance(Word word, std::uint64_t value) {
    // release: what the value stands for is visible to a device that has seen it.
    std::atomic_ref(*word.memory).store(value, std::memory_order_release);
}

void Gates::open(Word word) {
    advance(word, word.value);
    PinnedPool::of_process().gate_opens();
    const std::scoped_lock lock(mutex_);
    free_.push_back(word);
}

void Gates::hold(StreamHandle stream, const Event& event) {
    if (!usable_) {
        // The runtime calls back for all streams from one thread, which sleeps meanwhile: right as long as
        // the event does not itself wait for a callback of this runtime. Devices of this decade do not come
        // here.
        PinnedPool::of_process().gate_closes();
        call_on_host(stream, [last = Event(event)](Status) mutable {
            static_cast<void>(last.outcome());
            PinnedPool::of_process().gate_opens();
            let_go(std::exchange(last, {}).state()); // what goes with it must not go in the driver's thread
        });
        return;
    }
    const Word word = take();
    event.then([self = shared_from_this(), word](const ErrorPtr&) { self->open(word); });
    // Asked now, not before: the event may just have settled.
    if (!event.state()->settled()) GateMemory::wait(stream, word.memory, word.value);
}

} // namespace headrace::HEADRACE_ON_SIMT
