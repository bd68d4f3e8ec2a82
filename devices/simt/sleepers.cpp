// devices/simt/sleepers.cpp - see sleepers.hpp.
#include <headrace/devices/simt/sleepers.hpp>

#include <chrono>
#include <thread>

namespace headrace::HEADRACE_ON_SIMT {

using namespace std::chrono_literals;

namespace {

/// Being woken takes the driver some tens of microseconds: for work of a few times that, a thread stays
/// awake, and looks often at first.
constexpr std::chrono::microseconds awake = 250us, attentive = 20us, glance = 4us;
/// One thread of a device that holds up a caller looks more often, and stays awake for longer, but lets
/// others have its core then: who was asleep finds its caches cold, and in a virtual machine is scheduled
/// late. Each frame of a synchronous program took 0.1 to 0.6 ms more. Of longer work that is a hundredth.
constexpr std::chrono::microseconds first_glance = 1us, drowsy = 20ms, drowsy_glance = 20us;
/// Streams share the hardware's channels when there are many, and one behind a closed gate would hold ours
/// up.
constexpr std::size_t most_beds = 6;

Status query(EventHandle event) {
    const Status status = HEADRACE_RUNTIME(EventQuery)(event);
    if (status != success) static_cast<void>(HEADRACE_RUNTIME(GetLastError)());
    return status;
}

void pause_for(std::chrono::nanoseconds time) {
    const auto end = std::chrono::steady_clock::now() + time;
    while (std::chrono::steady_clock::now() < end) {
    }
}

} // namespace

struct Sleepers::Bed {
    StreamHandle stream = nullptr;
    EventHandle event = nullptr;

    Bed() {
        HEADRACE_CALL(StreamCreateWithFlags, &stream, HEADRACE_RUNTIME(StreamNonBlocking));
        if (const Status status = HEADRACE_RUNTIME(EventCreateWithFlags)(
                &event, HEADRACE_RUNTIME(EventBlockingSync) | HEADRACE_RUNTIME(EventDisableTiming));
            status != success) {
            static_cast<void>(HEADRACE_RUNTIME(StreamDestroy)(stream));
            expect_success(status, HEADRACE_RUNTIME_NAME(EventCreateWithFlags));
        }
    }
    ~Bed() {
        static_cast<void>(HEADRACE_RUNTIME(EventDestroy)(event));
        static_cast<void>(HEADRACE_RUNTIME(StreamDestroy)(stream));
    }
    Bed(const Bed&) = delete; // owns both
    Bed& operator=(const Bed&) = delete;

    Status until(EventHandle wanted) const {
        Status status = HEADRACE_RUNTIME(StreamWaitEvent)(stream, wanted, 0);
        if (status == success) status = HEADRACE_RUNTIME(EventRecord)(event, stream);
        if (status == success) status = HEADRACE_RUNTIME(EventSynchronize)(event);
        if (status != success) static_cast<void>(HEADRACE_RUNTIME(GetLastError)());
        return status;
    }
};

Sleepers::Sleepers(int ordinal) : ordinal_(ordinal) {}
Sleepers::~Sleepers() = default;

std::unique_ptr<Sleepers::Bed> Sleepers::take() {
    {
        const std::scoped_lock lock(mutex_);
        if (!free_.empty()) {
            auto bed = std::move(free_.back());
            free_.pop_back();
            return bed;
        }
        if (made_ == most_beds) return nullptr;
        free_.reserve(++made_); // so that giving back cannot fail
    }
    try {
        return std::make_unique<Bed>();
    } catch (const Error&) { // what is wrong, the event itself will say
        const std::scoped_lock lock(mutex_);
        --made_;
        return nullptr;
    }
}

Status Sleepers::until(EventHandle event, bool soon) {
    static_cast<void>(HEADRACE_RUNTIME(SetDevice)(ordinal_));
    const auto begin = std::chrono::steady_clock::now();
    const auto passed = [begin] { return std::chrono::steady_clock::now() - begin; };
    Status status = query(event);
    if (status != not_ready) return status;
    const bool first = soon && !somebody_is_first_.test_and_set(std::memory_order_relaxed); // a hint, no lock
    while (status == not_ready && passed() < awake) {
        if (passed() > attentive) pause_for(first ? first_glance : glance); // queries take the driver's lock
        status = query(event);
    }
    if (first) {
        while (status == not_ready && passed() < drowsy) {
            const auto end = std::chrono::steady_clock::now() + drowsy_glance;
            while (std::chrono::steady_clock::now() < end) std::this_thread::yield();
            status = query(event);
        }
        somebody_is_first_.clear(std::memory_order_relaxed);
    }
    if (status != not_ready) return status;
    if (auto bed = take()) {
        status = bed->until(event);
        const std::scoped_lock lock(mutex_);
        free_.push_back(std::move(bed));
        return status;
    }
    while ((status = query(event)) == not_ready) std::this_thread::sleep_for(50us);
    return status;
}

} // namespace headrace::HEADRACE_ON_SIMT
