// devices/simt/gates.cpp - see gates.hpp.
#include <headrace/core/log.hpp>
#include <headrace/devices/notifier.hpp>
#include <headrace/devices/simt/gates.hpp>
#include <headrace/devices/simt/host_call.hpp>

#include <atomic>
#include <string>

namespace headrace::HEADRACE_ON_SIMT {

Gates::Gates(int ordinal) : usable_(GateMemory::usable(ordinal)) {
    if (!usable_)
        log_warning(std::string(technology) + ":" + std::to_string(ordinal) +
                    " cannot wait for words in memory; use it without devices of other technologies");
}

Gates::~Gates() {
    for (std::uint64_t* word : all_) GateMemory::free(word);
}

std::size_t Gates::words() const {
    const std::scoped_lock lock(mutex_);
    return all_.size();
}

Gates::Word Gates::take() {
    const std::scoped_lock lock(mutex_);
    if (free_.empty()) {
        all_.reserve(all_.size() + 1); // before there is something to lose
        std::uint64_t* const memory = GateMemory::allocate();
        std::atomic_ref(*memory).store(0, std::memory_order_relaxed); // no stream has seen it yet
        all_.push_back(memory);
        free_.push_back({memory, 0});
    }
    Word word = free_.back();
    free_.pop_back();
    ++word.value;
    return word;
}

void Gates::open(Word word) {
    // release: what the event stands for is visible to a device that has seen the word.
    std::atomic_ref(*word.memory).store(word.value, std::memory_order_release);
    const std::scoped_lock lock(mutex_);
    free_.push_back(word);
}

void Gates::hold(StreamHandle stream, const Event& event) {
    if (!usable_) {
        // The runtime calls back for all streams from one thread, which sleeps meanwhile: right as long as
        // the event does not itself wait for a callback of this runtime. Devices of this decade do not come
        // here.
        call_on_host(stream, [event](Status) mutable {
            static_cast<void>(event.outcome());
            notify([last = std::move(event)] {}); // what goes with it must not go in the driver's thread
        });
        return;
    }
    const Word word = take();
    event.then([self = shared_from_this(), word](const ErrorPtr&) { self->open(word); });
    // Asked now, not before: the event may just have settled.
    if (!event.state()->settled()) GateMemory::wait(stream, word.memory, word.value);
}

} // namespace headrace::HEADRACE_ON_SIMT
