// persistent/engine/injection_queue.cpp - see injection_queue.hpp.
#include <headrace/persistent/detail/injection_queue.hpp>

#include <headrace/core/device.hpp>
#include <headrace/persistent/sync.hpp>

#include <algorithm>
#include <new>

namespace headrace {

InjectionQueue::InjectionQueue(Device& device)
    : owner_(device.allocate_host(sizeof(HrInjection))), words_(new (owner_.get()) HrInjection{}) {}

void InjectionQueue::reset() {
    const std::scoped_lock lock(mutex_);
    // No launch reads the words now. Ranges that were not written need no reset.
    std::fill_n(words_->range, std::min<std::uint64_t>(ranges_, HR_INJECTION_RANGES), HrInjectionRange{});
    words_->injected = words_->pause = words_->ranges = words_->consumed = words_->completed =
        words_->finished = 0;
    injected_ = ranges_ = next_ = 0;
    closed_ = false;
    most_completed_ = 0;
}

bool InjectionQueue::add(std::uint64_t begin, std::uint64_t end) {
    const std::scoped_lock lock(mutex_);
    HEADRACE_ASSERT(!closed_ && begin <= end && end < std::uint64_t{1} << 63);
    if (begin == end) return true;
    if (ranges_ == 0 || begin != next_) {
        // acquire: pairs with InjectionPoller::take_next_ranges, which has read the slot.
        const std::uint64_t done_with = HostSync::load(words_->ranges, HostSync::acquire);
        if (ranges_ - done_with == HR_INJECTION_RANGES) return false;
        HostSync::store(range(ranges_++).offset, begin - injected_,
                        HostSync::relaxed); // relaxed: `upto` follows
    }
    injected_ += end - begin;
    next_ = end;
    // release, both: pair with InjectionPoller::poll and take_next_ranges, for the range and for the data
    // that its units will read. A poller that knows the range sees the first store; other pollers see the
    // second.
    HostSync::store(range(ranges_ - 1).upto, injected_, HostSync::release);
    HostSync::store(words_->injected, injected_, HostSync::release);
    return true;
}

void InjectionQueue::close() {
    const std::scoped_lock lock(mutex_);
    closed_ = true;
    HostSync::store(words_->injected, injected_ | HR_INJECTION_CLOSED, HostSync::release); // as in add
}

void InjectionQueue::ask_to_pause(bool asked) {
    HostSync::store(words_->pause, std::uint64_t{asked}, HostSync::relaxed); // relaxed: carries no data
}

void InjectionQueue::finish() {
    const std::scoped_lock lock(mutex_);
    HostSync::store(words_->consumed, injected_, HostSync::relaxed);
    HostSync::store(words_->completed, injected_, HostSync::release); // as in InjectionPoller::tell
}

std::uint64_t InjectionQueue::injected() const {
    const std::scoped_lock lock(mutex_);
    return injected_;
}
std::uint64_t InjectionQueue::consumed() const {
    // relaxed: carries no data. A group may report completed seeds before the poller reports that they are
    // consumed.
    return std::max(HostSync::load(words_->consumed, HostSync::relaxed), completed());
}
std::uint64_t InjectionQueue::completed() const {
    // acquire, both: pair with InjectionPoller::tell and add_pending.
    const std::uint64_t now = std::max(HostSync::load(words_->completed, HostSync::acquire),
                                       HostSync::load(words_->finished, HostSync::acquire));
    // Groups that finish at nearly the same time may report in another order. acquire, release: if one thread
    // tells another thread the number that it got, the other thread then gets at least this number.
    std::uint64_t most = most_completed_.load(std::memory_order_acquire);
    while (most < now && !most_completed_.compare_exchange_weak(most, now, std::memory_order_acq_rel,
                                                                std::memory_order_acquire)) {
    }
    return std::max(most, now);
}

} // namespace headrace
