// tests/devices/fake_hip.cpp - see fake_hip.hpp.
#include <devices/fake_hip.hpp>

#include <core/eventually.hpp>
#include <core/hang_limit.hpp>

#include <hip/hip_runtime_api.h>

#include <array>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <thread>
#include <utility>

using headrace::test::eventually;

namespace {

using Clock = std::chrono::steady_clock;

constexpr int devices = 2;
constexpr std::size_t memory_bytes = std::size_t{1} << 30;

std::atomic<bool> lost = false;
std::atomic<int> streams = 0, events = 0, allocations = 0;
thread_local bool in_callback = false;
thread_local int current_device = 0;

std::shared_mutex driver;              // alone: memory is being freed
std::atomic<int> waits_for_values = 0; // of streams, enqueued and not over

/// As a GPU looks at a word. It hangs if the test does, and that has a limit.
void wait_until(const auto& holds) { static_cast<void>(eventually(holds, 2 * headrace::test::hang_limit)); }

/// What every call of the runtime begins with.
hipError_t enter(const char* call) {
    if (in_callback) {
        std::fprintf(stderr, "%s was called from a callback\n", call);
        std::abort();
    }
    const std::shared_lock not_while_freeing(driver);
    return lost ? hipErrorIllegalAddress : hipSuccess;
}

/// As CUDA's driver does it: when streams have come by what they stand at, and nobody else gets in before.
void wait_as_freeing_does() {
    const std::scoped_lock nobody_else(driver);
    wait_until([] { return waits_for_values == 0 || lost; });
}

/// A moment that a stream comes to.
class Moment {
public:
    void reach() {
        const std::scoped_lock lock(mutex_);
        when_ = Clock::now();
        reached_ = true;
        changed_.notify_all();
    }
    void wait() {
        std::unique_lock lock(mutex_);
        changed_.wait(lock, [this] { return reached_; });
    }
    [[nodiscard]] bool is_reached() {
        const std::scoped_lock lock(mutex_);
        return reached_;
    }
    [[nodiscard]] Clock::time_point when() const { return when_; } ///< once reached

private:
    std::mutex mutex_;
    std::condition_variable changed_;
    bool reached_ = false;
    Clock::time_point when_;
};

/// A thread that does what it is given, in order.
class Worker {
public:
    Worker() : thread_([this](const std::stop_token& stop) { serve(stop); }) {}

    void give(std::function<void()> work) {
        const std::scoped_lock lock(mutex_);
        work_.push_back(std::move(work));
        changed_.notify_all();
    }
    void drain() {
        Moment done;
        give([&done] { done.reach(); });
        done.wait();
    }

private:
    void serve(const std::stop_token& stop) {
        std::unique_lock lock(mutex_);
        while (changed_.wait(lock, stop, [this] { return !work_.empty(); }) || !work_.empty()) {
            auto work = std::move(work_.front());
            work_.pop_front();
            lock.unlock();
            work();
            work = nullptr;
            lock.lock();
        }
    }

    std::mutex mutex_;
    std::condition_variable_any changed_;
    std::deque<std::function<void()>> work_;
    std::jthread thread_; // last: it uses the rest
};

Worker& callback_thread() {
    static Worker worker;
    return worker;
}

std::mutex pinned_mutex;
std::map<const char*, std::size_t> pinned;

hipError_t allocate(void** memory, std::size_t size) {
    if (size > memory_bytes) return hipErrorOutOfMemory;
    *memory = std::aligned_alloc(256, (size + 255) / 256 * 256);
    ++allocations;
    return hipSuccess;
}

void release(void* memory) {
    std::free(memory);
    --allocations;
}

} // namespace

/// Each new stream gets the next of its device's connections, and those that share one hold each other up: as
/// a driver may do it, though none known does it as simply.
struct ihipStream_t {
    void give(std::function<void()> work) { connection_->give(std::move(work)); }
    void drain() { connection_->drain(); }

private:
    static std::shared_ptr<Worker> next_connection() {
        struct Connections {
            std::array<std::weak_ptr<Worker>, 32> all;
            std::size_t streams = 0;
        };
        static std::mutex mutex;
        static std::array<Connections, devices> of_devices;
        const std::scoped_lock lock(mutex);
        auto& [all, made] = of_devices.at(static_cast<std::size_t>(current_device));
        auto& next = all.at(made++ % all.size());
        auto connection = next.lock();
        if (!connection) next = connection = std::make_shared<Worker>();
        return connection;
    }

    std::shared_ptr<Worker> connection_ = next_connection();
};

struct ihipEvent_t {
    std::shared_ptr<Moment> moment() {
        const std::scoped_lock lock(mutex);
        return recorded;
    }
    std::mutex mutex;
    std::shared_ptr<Moment> recorded; // null: never; recording again replaces it for those who look later
};

namespace headrace::test::fake_hip {
void lose_device() { lost = true; }
void find_device_again() { lost = false; }
Living living() { return {streams, events, allocations}; }
} // namespace headrace::test::fake_hip

extern "C" {

const char* hipGetErrorName(hipError_t error) { return error == hipSuccess ? "hipSuccess" : "hipErrorFake"; }
const char* hipGetErrorString(hipError_t) { return "said by the runtime that tests use"; }
hipError_t hipGetLastError() { return hipSuccess; }

hipError_t hipGetDeviceCount(int* count) {
    *count = devices;
    return hipSuccess;
}
hipError_t hipSetDevice(int device) {
    current_device = device;
    return enter("hipSetDevice");
}
hipError_t hipDriverGetVersion(int* version) {
    *version = 50221153;
    return hipSuccess;
}
hipError_t hipGetDeviceProperties(hipDeviceProp_t* properties, int) {
    std::memset(properties, 0, sizeof *properties);
    std::snprintf(properties->name, sizeof properties->name, "GPU of host threads");
    properties->totalGlobalMem = memory_bytes;
    return hipSuccess;
}
hipError_t hipDeviceGetAttribute(int* value, hipDeviceAttribute_t attribute, int device) {
    switch (attribute) {
    case hipDeviceAttributeMultiprocessorCount:
        *value = 110;
        break;
    case hipDeviceAttributeClockRate:
        *value = 1'700'000;
        break;
    case hipDeviceAttributeWarpSize:
        *value = 64;
        break;
    case hipDeviceAttributePciBusId:
        *value = device + 3;
        break;
    case hipDeviceAttributePciDeviceId:
    case hipDeviceAttributePciDomainID:
        *value = 0;
        break;
    default:
        *value = 1; // it can whatever is asked for
    }
    return hipSuccess;
}
hipError_t hipDeviceCanAccessPeer(int* can, int, int) {
    *can = 1;
    return hipSuccess;
}

hipError_t hipStreamCreateWithFlags(hipStream_t* stream, unsigned) {
    if (const auto status = enter("hipStreamCreateWithFlags")) return status;
    *stream = std::make_unique<ihipStream_t>().release();
    ++streams;
    return hipSuccess;
}
hipError_t hipStreamDestroy(hipStream_t stream) {
    const auto status = enter("hipStreamDestroy");
    stream->drain();
    const std::unique_ptr<ihipStream_t> owned(stream);
    --streams;
    return status;
}
hipError_t hipStreamSynchronize(hipStream_t stream) {
    const auto status = enter("hipStreamSynchronize");
    stream->drain();
    return status;
}
hipError_t hipStreamQuery(hipStream_t) { return enter("hipStreamQuery"); }
hipError_t hipStreamWaitEvent(hipStream_t stream, hipEvent_t event, unsigned) {
    if (const auto status = enter("hipStreamWaitEvent")) return status;
    if (const auto moment = event->moment()) stream->give([moment] { moment->wait(); });
    return hipSuccess;
}
hipError_t hipStreamWaitValue64(hipStream_t stream, void* word, std::uint64_t value, unsigned,
                                std::uint64_t) {
    if (const auto status = enter("hipStreamWaitValue64")) return status;
    ++waits_for_values;
    stream->give([word, value] {
        const std::atomic_ref seen(*static_cast<std::uint64_t*>(word));
        wait_until([&] { return seen.load(std::memory_order_acquire) >= value || lost; });
        --waits_for_values;
    });
    return hipSuccess;
}
hipError_t hipStreamAddCallback(hipStream_t stream, hipStreamCallback_t callback, void* user, unsigned) {
    if (const auto status = enter("hipStreamAddCallback")) return status;
    stream->give([=] {
        Moment done;
        callback_thread().give([&] {
            in_callback = true;
            callback(stream, lost ? hipErrorIllegalAddress : hipSuccess, user);
            in_callback = false;
            done.reach();
        });
        done.wait();
    });
    return hipSuccess;
}

hipError_t hipEventCreateWithFlags(hipEvent_t* event, unsigned) {
    if (const auto status = enter("hipEventCreateWithFlags")) return status;
    *event = std::make_unique<ihipEvent_t>().release();
    ++events;
    return hipSuccess;
}
hipError_t hipEventDestroy(hipEvent_t event) {
    const std::unique_ptr<ihipEvent_t> owned(event);
    --events;
    return enter("hipEventDestroy");
}
hipError_t hipEventRecord(hipEvent_t event, hipStream_t stream) {
    if (const auto status = enter("hipEventRecord")) return status;
    auto moment = std::make_shared<Moment>();
    {
        const std::scoped_lock lock(event->mutex);
        event->recorded = moment;
    }
    stream->give([moment = std::move(moment)] { moment->reach(); });
    return hipSuccess;
}
hipError_t hipEventQuery(hipEvent_t event) {
    if (const auto status = enter("hipEventQuery")) return status;
    const auto moment = event->moment();
    return !moment || moment->is_reached() ? hipSuccess : hipErrorNotReady;
}
hipError_t hipEventSynchronize(hipEvent_t event) {
    if (const auto moment = event->moment()) moment->wait();
    return enter("hipEventSynchronize");
}
hipError_t hipEventElapsedTime(float* milliseconds, hipEvent_t begin, hipEvent_t end) {
    const auto from = begin->moment(), to = end->moment();
    if (!from || !to) return hipErrorInvalidHandle;
    if (!from->is_reached() || !to->is_reached()) return hipErrorNotReady;
    *milliseconds = std::chrono::duration<float, std::milli>(to->when() - from->when()).count();
    return enter("hipEventElapsedTime");
}

hipError_t hipMalloc(void** memory, std::size_t size) {
    if (const auto status = enter("hipMalloc")) return status;
    return allocate(memory, size);
}
hipError_t hipFree(void* memory) {
    wait_as_freeing_does();
    release(memory);
    return enter("hipFree");
}
hipError_t hipExtMallocWithFlags(void** memory, std::size_t size, unsigned) {
    return hipMalloc(memory, size);
}
hipError_t hipMemGetInfo(std::size_t* free, std::size_t* total) {
    *free = *total = memory_bytes;
    return enter("hipMemGetInfo");
}
hipError_t hipMemPoolCreate(hipMemPool_t* pool, const hipMemPoolProps*) {
    *pool = reinterpret_cast<hipMemPool_t>(&allocations); // never looked into
    return enter("hipMemPoolCreate");
}
hipError_t hipMemPoolSetAttribute(hipMemPool_t, hipMemPoolAttr, void*) {
    return enter("hipMemPoolSetAttribute");
}
hipError_t hipMemPoolGetAttribute(hipMemPool_t, hipMemPoolAttr, void* value) {
    *static_cast<std::uint64_t*>(value) = 0; // it keeps nothing
    return enter("hipMemPoolGetAttribute");
}
hipError_t hipMemPoolDestroy(hipMemPool_t) { return enter("hipMemPoolDestroy"); }
hipError_t hipMemPoolTrimTo(hipMemPool_t, std::size_t) { return enter("hipMemPoolTrimTo"); }
hipError_t hipMemPoolSetAccess(hipMemPool_t, const hipMemAccessDesc*, std::size_t) {
    return enter("hipMemPoolSetAccess");
}
hipError_t hipMallocFromPoolAsync(void** memory, std::size_t size, hipMemPool_t, hipStream_t) {
    return hipMalloc(memory, size);
}
hipError_t hipFreeAsync(void* memory, hipStream_t stream) {
    if (lost) { // its events have failed, and what goes on in our threads all the same must not be hurt
        static std::mutex mutex;
        static std::vector<std::unique_ptr<void, decltype(&std::free)>> kept;
        const std::scoped_lock lock(mutex);
        kept.emplace_back(memory, &std::free);
        --allocations;
        return hipErrorUnknown;
    }
    stream->give([memory] { release(memory); });
    return enter("hipFreeAsync");
}

hipError_t hipHostMalloc(void** memory, std::size_t size, unsigned) {
    if (const auto status = hipMalloc(memory, size)) return status;
    const std::scoped_lock lock(pinned_mutex);
    pinned[static_cast<const char*>(*memory)] = size;
    return hipSuccess;
}
hipError_t hipHostFree(void* memory) {
    {
        const std::scoped_lock lock(pinned_mutex);
        pinned.erase(static_cast<const char*>(memory));
    }
    return hipFree(memory);
}
hipError_t hipPointerGetAttributes(hipPointerAttribute_t* attributes, const void* memory) {
    if (const auto status = enter("hipPointerGetAttributes")) return status;
    const auto* const byte = static_cast<const char*>(memory);
    const std::scoped_lock lock(pinned_mutex);
    auto after = pinned.upper_bound(byte);
    if (after == pinned.begin() || byte >= std::prev(after)->first + std::prev(after)->second)
        return hipErrorInvalidValue;
    attributes->memoryType = hipMemoryTypeHost;
    return hipSuccess;
}

hipError_t hipMemcpyAsync(void* to, const void* from, std::size_t size, hipMemcpyKind, hipStream_t stream) {
    if (const auto status = enter("hipMemcpyAsync")) return status;
    stream->give([=] {
        if (!lost) std::memcpy(to, from, size);
    });
    return hipSuccess;
}
hipError_t hipMemcpyPeerAsync(void* to, int, const void* from, int, std::size_t size, hipStream_t stream) {
    return hipMemcpyAsync(to, from, size, hipMemcpyDeviceToDevice, stream);
}
hipError_t hipMemsetAsync(void* to, int value, std::size_t size, hipStream_t stream) {
    if (const auto status = enter("hipMemsetAsync")) return status;
    stream->give([=] {
        if (!lost) std::memset(to, value, size);
    });
    return hipSuccess;
}

} // extern "C"
