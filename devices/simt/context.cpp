// devices/simt/context.cpp - see context.hpp.
#include "simt/pinned.hpp"
#include <headrace/devices/simt/detail/context.hpp>
#include <headrace/internal/devices/numa.hpp>

#include <algorithm>
#include <string>

namespace headrace::HEADRACE_ON_SIMT {

using namespace std::chrono_literals;

StreamOwner make_stream() {
    StreamHandle stream = nullptr;
    HEADRACE_CALL(StreamCreateWithFlags, &stream, HEADRACE_RUNTIME(StreamNonBlocking));
    return StreamOwner(stream);
}

PooledEvent::~PooledEvent() {
    if (!event_) return;
    const std::scoped_lock lock(home_->mutex_);
    home_->free_.push_back(event_); // room was reserved when the event was made
}

PooledEvent EventPool::take() {
    {
        const std::scoped_lock lock(mutex_);
        if (!free_.empty()) {
            EventHandle event = free_.back();
            free_.pop_back();
            return {*this, event};
        }
        free_.reserve(++all_);
    }
    EventHandle event = nullptr;
    HEADRACE_CALL(EventCreateWithFlags, &event, flags_);
    return {*this, event};
}

void EventPool::destroy() noexcept {
    for (EventHandle event : free_) static_cast<void>(HEADRACE_RUNTIME(EventDestroy)(event));
}

Context::Context(int ordinal, DeviceInfo info)
    : ordinal_(ordinal), info_(std::move(info)), node_(node_of(info_.physical_id)), waiter_(ordinal) {
    make_current();
    semaphores_ = std::make_shared<TimelineSemaphores>(ordinal_);
    service_ = make_stream();
    if (device_attribute(attribute_pools, ordinal_) != 0) {
        // A pool of our own, not the default pool: our access rights and limits must not affect other code.
        HEADRACE_RUNTIME(MemPoolProps) properties{};
        properties.allocType = HEADRACE_RUNTIME(MemAllocationTypePinned);
        properties.location.type = HEADRACE_RUNTIME(MemLocationTypeDevice);
        properties.location.id = ordinal_;
        HEADRACE_CALL(MemPoolCreate, &pool_, &properties);
        // Without this threshold, each wait for a stream would return all free memory to the system, and the
        // next allocation would fetch it again. An eighth of the memory is enough for data that comes and
        // goes, and leaves room for others.
        std::uint64_t keep = info_.memory / 8;
        HEADRACE_CALL(MemPoolSetAttribute, pool_, HEADRACE_RUNTIME(MemPoolAttrReleaseThreshold), &keep);
    }
    compare_clocks(false);
    PinnedPool::of_process().device_opens(); // last: if a statement above throws, no destructor runs
}

// A destructor cannot report errors, and the runtime may be gone when the process ends. So statuses are
// ignored.
Context::~Context() {
    clock_mark_.reset();
    static_cast<void>(HEADRACE_RUNTIME(SetDevice)(ordinal_));
    plain_events_.destroy();
    timed_events_.destroy();
    static_cast<void>(HEADRACE_RUNTIME(StreamSynchronize)(service_.get()));
    if (pool_) static_cast<void>(HEADRACE_RUNTIME(MemPoolDestroy)(pool_));
    for (std::byte* buffer : all_staging_) PinnedPool::of_process().give_back(buffer);
    PinnedPool::of_process().device_closes();
}

void Context::make_current() const { HEADRACE_CALL(SetDevice, ordinal_); }

std::shared_ptr<const ClockMark> Context::clock_mark() {
    // The runtime reports differences in milliseconds as float: after one minute, they are exact to 4 us.
    bool has_mark = false, is_old = false;
    {
        const std::scoped_lock lock(mutex_);
        has_mark = clock_mark_ != nullptr;
        is_old = !has_mark || std::chrono::steady_clock::now() - clock_mark_->host > 60s;
    }
    if (is_old) compare_clocks(has_mark);
    const std::scoped_lock lock(mutex_);
    return clock_mark_;
}

void Context::compare_clocks(bool has_mark) {
    std::shared_ptr<ClockMark> best;
    auto best_width = std::chrono::steady_clock::duration::max();
    // The device reached the event between our two reads of the clock. If the system put this thread to sleep
    // in between, it tries again, more often on a busy machine.
    const auto most = [&] { return best && best_width > 1ms ? 50 : 5; };
    for (int attempt = 0; attempt < most() && best_width > 100us; ++attempt) {
        PooledEvent event = timed_events_.take();
        const auto begin = std::chrono::steady_clock::now();
        HEADRACE_CALL(EventRecord, event.get(), service_.get());
        auto now = begin;
        Status status = not_ready;
        // Nothing else is on this stream, so this takes microseconds. If it takes longer, the old mark is
        // good enough. Without an old mark, an inexact one is better than none.
        const auto patience = has_mark || best ? 2ms : 100ms;
        while (status == not_ready && now - begin < patience) {
            status = HEADRACE_RUNTIME(EventQuery)(event.get());
            now = std::chrono::steady_clock::now();
        }
        if (status == not_ready) {
            static_cast<void>(HEADRACE_RUNTIME(GetLastError)());
            continue;
        }
        expect_success(status, HEADRACE_RUNTIME_NAME(EventQuery));
        if (now - begin >= best_width) continue;
        best_width = now - begin;
        best = std::make_shared<ClockMark>();
        best->event = std::move(event);
        best->host = now;
    }
    if (!best) return;
    std::shared_ptr<const ClockMark> before; // goes back to the pool after the lock is released
    const std::scoped_lock lock(mutex_);
    before = std::exchange(clock_mark_, std::move(best));
}

Status Context::try_allocate(void** memory, Bytes size) const {
    // Allocates in the order of a stream. A plain allocation would wait until every kernel has ended,
    // including a persistent one.
    if (!pool_) return HEADRACE_RUNTIME(Malloc)(memory, size);
    const Status status = HEADRACE_RUNTIME(MallocFromPoolAsync)(memory, size, pool_, service_.get());
    // Other streams may use the memory at once, so it must be ready when this returns.
    return status == success ? HEADRACE_RUNTIME(StreamSynchronize)(service_.get()) : status;
}

void* Context::allocate(Bytes size) {
    if (size == 0) throw Error{ErrorKind::invalid_argument, "an allocation of 0 bytes"}.on_device(info_.id);
    make_current();
    void* memory = nullptr;
    // If no device could hold the size, some drivers report an invalid argument.
    Status status = size > info_.memory ? out_of_memory : try_allocate(&memory, size);
    if (status == out_of_memory && pool_ && size <= info_.memory) {
        static_cast<void>(HEADRACE_RUNTIME(GetLastError)());
        // The pool's unused memory may be in pieces. After the pool returns it to the driver, one large block
        // may fit.
        static_cast<void>(HEADRACE_RUNTIME(StreamSynchronize)(service_.get()));
        static_cast<void>(HEADRACE_RUNTIME(MemPoolTrimTo)(pool_, 0));
        status = try_allocate(&memory, size);
    }
    if (status == out_of_memory) {
        static_cast<void>(HEADRACE_RUNTIME(GetLastError)());
        throw Error{ErrorKind::out_of_memory, info_.name + " cannot hold " + std::to_string(size) +
                                                  " bytes more: " + std::to_string(free_memory()) + " of " +
                                                  std::to_string(info_.memory) + " bytes are free"}
            .on_device(info_.id)
            .with_code(static_cast<std::int64_t>(status));
    }
    expect_success(status, "allocating device memory");
    return memory;
}

void Context::free(void* memory) noexcept {
    static_cast<void>(HEADRACE_RUNTIME(SetDevice)(ordinal_));
    if (pool_)
        static_cast<void>(HEADRACE_RUNTIME(FreeAsync)(memory, service_.get()));
    else
        static_cast<void>(HEADRACE_RUNTIME(Free)(memory));
}

std::byte* Context::take_staging() {
    {
        const std::scoped_lock lock(mutex_);
        if (!free_staging_.empty()) {
            std::byte* const buffer = free_staging_.back();
            free_staging_.pop_back();
            return buffer;
        }
    }
    void* buffer = nullptr;
    expect_success(PinnedPool::of_process().take(ordinal_, node_, &buffer, staging_bytes),
                   "allocating pinned memory");
    const std::scoped_lock lock(mutex_);
    all_staging_.push_back(static_cast<std::byte*>(buffer));
    free_staging_.reserve(all_staging_.size()); // so that `give_back_staging` cannot fail
    return all_staging_.back();
}

void Context::give_back_staging(std::byte* buffer) noexcept {
    const std::scoped_lock lock(mutex_);
    free_staging_.push_back(buffer);
}

Bytes Context::free_memory() const {
    make_current();
    std::size_t free = 0, total = 0;
    HEADRACE_CALL(MemGetInfo, &free, &total);
    if (!pool_) return free;
    std::uint64_t reserved = 0, used = 0; // memory that the pool keeps is free for us
    HEADRACE_CALL(MemPoolGetAttribute, pool_, HEADRACE_RUNTIME(MemPoolAttrReservedMemCurrent), &reserved);
    HEADRACE_CALL(MemPoolGetAttribute, pool_, HEADRACE_RUNTIME(MemPoolAttrUsedMemCurrent), &used);
    return free + (reserved > used ? reserved - used : 0);
}

bool Context::admit(int other) {
    if (other == ordinal_) return true;
    int can = 0;
    HEADRACE_CALL(DeviceCanAccessPeer, &can, other, ordinal_);
    if (!can) return false;
    const std::scoped_lock lock(mutex_);
    if (!pool_ || std::ranges::find(admitted_, other) != admitted_.end()) return true;
    HEADRACE_RUNTIME(MemAccessDesc) access{};
    access.location.type = HEADRACE_RUNTIME(MemLocationTypeDevice);
    access.location.id = other;
    access.flags = HEADRACE_RUNTIME(MemAccessFlagsProtReadWrite);
    if (HEADRACE_RUNTIME(MemPoolSetAccess)(pool_, &access, 1) != success) {
        static_cast<void>(HEADRACE_RUNTIME(GetLastError)());
        return false;
    }
    admitted_.push_back(other);
    return true;
}

ErrorPtr Context::lasting_failure() const noexcept {
    static_cast<void>(HEADRACE_RUNTIME(SetDevice)(ordinal_));
    const Status status = HEADRACE_RUNTIME(StreamQuery)(service_.get());
    if (status == success || status == not_ready) return {};
    return std::make_shared<const Error>(
        status_error(status, HEADRACE_RUNTIME_NAME(StreamQuery)).on_device(info_.id));
}

} // namespace headrace::HEADRACE_ON_SIMT
