// tests/core/fake_device.hpp - a device made of host threads, for tests: slow at random, counting, failing on
// demand. Its events behave like a driver's: they settle when somebody asks, and order among themselves
// without the host.
#pragma once
#include <headrace/core/device.hpp>
#include <headrace/internal/core/changes.hpp>

#include <core/adversary.hpp>
#include <core/takes.hpp>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <cstring>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <random>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace headrace::test {

/// Known to the "driver" (a stream's thread) first, and to the host when it asks.
class FakeEvent final : public EventState {
public:
    explicit FakeEvent(unsigned family) : family_(&families[family]) { ++alive_; }
    ~FakeEvent() override { --alive_; }
    /// How many there are in this process.
    [[nodiscard]] static std::size_t alive() noexcept { return alive_; }
    [[nodiscard]] const void* family() const noexcept override { return family_; }
    bool query() override {
        const std::unique_lock lock(mutex_);
        return finished_ && tell();
    }
    void block() override {
        std::unique_lock lock(mutex_);
        signal_.wait(lock, [this] { return finished_; });
        lock.unlock();
        tell();
    }
    void arm() override {
        {
            const std::scoped_lock lock(mutex_);
            armed_ = true;
            if (!finished_) return;
        }
        tell();
    }
    /// Before it finishes.
    void ran(EventTimes times) { times_ = times; }
    [[nodiscard]] std::optional<EventTimes> times() const override { return times_; }
    /// The driver's end of it.
    void finish(ErrorPtr error) {
        bool armed = false;
        {
            const std::scoped_lock lock(mutex_);
            own_error_ = std::move(error);
            finished_ = true;
            armed = armed_;
        }
        signal_.notify_all();
        if (armed) tell();
    }

private:
    bool tell() {
        settle(own_error_); // written before finished_, which the callers have seen
        return true;
    }

    static inline std::atomic<std::size_t> alive_ = 0;
    static constexpr char families[4] = {};
    const char* const family_;
    std::mutex mutex_;
    std::condition_variable signal_;
    bool finished_ = false, armed_ = false;
    ErrorPtr own_error_;
    std::optional<EventTimes> times_;
};

enum class FakeRequest : std::uint8_t { copy_in, copy_out, copy_peer, fill, launch, add, take_changes };
inline constexpr std::size_t fake_request_kinds = 7;

/// Requests of a kind that this thread enqueues, on any fake device, while it lives: they fail and do
/// nothing.
class FailWhatIsEnqueued {
public:
    explicit FailWhatIsEnqueued(FakeRequest kind) { kind_ = static_cast<int>(kind); }
    ~FailWhatIsEnqueued() { kind_ = -1; }
    FailWhatIsEnqueued(const FailWhatIsEnqueued&) = delete; // one at a time
    FailWhatIsEnqueued& operator=(const FailWhatIsEnqueued&) = delete;
    [[nodiscard]] static bool hits(FakeRequest kind) { return kind_ == static_cast<int>(kind); }

private:
    static inline thread_local int kind_ = -1;
};

struct FakeOptions {
    std::string id = "fake:0";
    bool shares_host_memory = false;
    const void* reached = nullptr; ///< host memory that kernels reach all the same
    bool has_peers = false;        ///< reaches every other fake device of its island that has
    int island = 0;
    std::chrono::microseconds longest_delay{0}; ///< before each request, at random
    std::uint64_t seed = 1;                     ///< of the delays
    Bytes memory = Bytes{1} << 30;              ///< allocations beyond it fail
    bool has_addresses = true;
    double peak_gflops = 1000;
    std::string technology = "fake";
    bool makes_streams = true;
    std::string architecture{};
    bool fine_grained_host_coherence = false;
    unsigned family = 0; ///< below 4: between two of them the host orders, not the "driver"
    std::shared_ptr<Adversary> adversary = {}; ///< gives turns to its streams; null: they run as they come
};

class FakeDevice;

class FakeMemory final : public Memory {
public:
    FakeMemory(Bytes size, std::shared_ptr<std::atomic<Bytes>> free)
        : bytes_(size, std::byte{0xA5}), free_(std::move(free)) {}
    ~FakeMemory() override { *free_ += bytes_.size(); }
    [[nodiscard]] Bytes size() const noexcept override { return bytes_.size(); }
    [[nodiscard]] void* address() const noexcept override { return const_cast<std::byte*>(bytes_.data()); }

private:
    std::vector<std::byte> bytes_;
    std::shared_ptr<std::atomic<Bytes>> free_;
};

class FakeStream final : public Stream {
public:
    explicit FakeStream(FakeDevice& device, std::uint64_t seed);
    ~FakeStream() override;

    Event copy_in(Memory& to, Bytes offset, const void* from, Bytes size,
                  std::span<const Event> after) override;
    Event copy_out(void* to, const Memory& from, Bytes offset, Bytes size,
                   std::span<const Event> after) override;
    Event copy_peer(Memory& to, Bytes to_offset, const Memory& from, Bytes from_offset, Bytes size,
                    std::span<const Event> after) override;
    Event add(Memory& to, const Memory& from, Bytes offset, Bytes size, NumberType type,
              std::span<const Event> after) override;
    Event take_changes(Memory& to, const Memory& from, Bytes offset, Bytes size, const Changes& changes,
                       std::span<const Event> after) override;
    Event fill(Memory& memory, Bytes offset, Bytes size, Pattern pattern,
               std::span<const Event> after) override;
    Event launch(Body body, std::span<const Event> after) override;

private:
    struct Command {
        FakeRequest kind;
        std::function<void()> work;
        std::vector<Event> after;
        std::shared_ptr<FakeEvent> event;
        bool fails;
    };
    Event enqueue(FakeRequest kind, std::function<void()> work, std::span<const Event> after);
    void run();
    [[nodiscard]] ErrorPtr execute(Command& command);

    FakeDevice& device_;
    const std::uint64_t name_; // to the adversary
    std::mt19937_64 random_;
    std::mutex mutex_;
    std::condition_variable changed_;
    std::deque<Command> commands_;
    bool closing_ = false;
    std::atomic<bool> in_call_ = false;
    std::thread thread_;
};

class FakeDevice final : public Device {
public:
    explicit FakeDevice(FakeOptions options = {})
        : options_(std::move(options)), free_(std::make_shared<std::atomic<Bytes>>(options_.memory)) {
        info_.id = options_.id;
        info_.name = "fake device " + options_.id;
        info_.technology = options_.technology;
        info_.architecture = options_.architecture;
        info_.memory = info_.largest_allocation = options_.memory;
        info_.has_addresses = options_.has_addresses;
        info_.peak_gflops = options_.peak_gflops;
        info_.shares_host_memory = options_.shares_host_memory;
        info_.fine_grained_host_coherence = options_.fine_grained_host_coherence;
    }

    [[nodiscard]] const DeviceInfo& info() const noexcept override { return info_; }
    [[nodiscard]] std::unique_ptr<Memory> allocate(Bytes size) override {
        if (size > *free_)
            throw Error{ErrorKind::out_of_memory,
                        "asked for " + std::to_string(size) + " bytes of " + std::to_string(free_->load())}
                .on_device(info_.id);
        *free_ -= size;
        return std::make_unique<FakeMemory>(size, free_);
    }
    [[nodiscard]] std::shared_ptr<void> allocate_host(Bytes size) override {
        if (host_is_full_.exchange(false))
            throw Error{ErrorKind::out_of_memory, "the host is full"}.on_device(info_.id);
        auto words = std::make_shared<std::vector<std::max_align_t>>(size / sizeof(std::max_align_t) + 1);
        return {words, words->data()};
    }
    using Device::make_stream;
    [[nodiscard]] std::unique_ptr<Stream> make_stream(Timing) override {
        if (!options_.makes_streams) throw Error{ErrorKind::device, "no stream"}.on_device(info_.id);
        return std::make_unique<FakeStream>(*this, options_.seed + ++streams_);
    }
    [[nodiscard]] bool reaches_host(const void* memory) const override {
        return info_.shares_host_memory || (memory != nullptr && memory == options_.reached);
    }
    [[nodiscard]] bool reaches(const Device& other) const override {
        const auto* fake = dynamic_cast<const FakeDevice*>(&other);
        return fake != nullptr && options_.has_peers && fake->options_.has_peers &&
               options_.island == fake->options_.island;
    }
    [[nodiscard]] bool adds_from(const Device& other) const override { return reaches(other); }
    [[nodiscard]] Bytes free_memory() const override { return *free_; }

    /// There is no room on the host, once.
    void fill_host() { host_is_full_ = true; }
    /// The next `times` requests of that kind fail without doing anything, after so many that do not.
    void fail_next(FakeRequest kind, int times = 1, int after = 0) {
        passes_[static_cast<unsigned>(kind)] = after;
        failures_[static_cast<unsigned>(kind)] += times;
    }

    [[nodiscard]] Bytes bytes_in() const { return bytes_[0]; }
    [[nodiscard]] Bytes bytes_out() const { return bytes_[1]; }
    [[nodiscard]] Bytes bytes_peer() const { return bytes_[2]; } ///< received
    [[nodiscard]] unsigned requests(FakeRequest kind) const { return requests_[static_cast<unsigned>(kind)]; }
    [[nodiscard]] const FakeOptions& options() const { return options_; }

private:
    friend class FakeStream;

    void count(FakeRequest kind, Bytes size) {
        if (static_cast<unsigned>(kind) < 3) bytes_[static_cast<unsigned>(kind)] += size;
    }
    [[nodiscard]] bool must_fail(FakeRequest kind) {
        ++requests_[static_cast<unsigned>(kind)];
        if (passes_[static_cast<unsigned>(kind)]-- > 0) return false;
        passes_[static_cast<unsigned>(kind)] = 0;
        std::atomic<int>& left = failures_[static_cast<unsigned>(kind)];
        if (left.fetch_sub(1) > 0) return true;
        ++left;
        return false;
    }

    FakeOptions options_;
    DeviceInfo info_;
    std::shared_ptr<std::atomic<Bytes>> free_;
    std::atomic<unsigned> streams_ = 0;
    std::atomic<bool> host_is_full_ = false;
    std::atomic<Bytes> bytes_[3] = {};
    std::atomic<unsigned> requests_[fake_request_kinds] = {};
    std::atomic<int> failures_[fake_request_kinds] = {};
    std::atomic<int> passes_[fake_request_kinds] = {}; ///< before the failures
};

inline FakeStream::FakeStream(FakeDevice& device, std::uint64_t seed)
    : device_(device),
      name_(device.options().adversary ? device.options().adversary->join() : 0),
      random_(seed),
      thread_([this] { run(); }) {}

inline FakeStream::~FakeStream() {
    {
        const std::scoped_lock lock(mutex_);
        closing_ = true;
    }
    changed_.notify_one();
    thread_.join();
}

inline Event FakeStream::copy_in(Memory& to, Bytes offset, const void* from, Bytes size,
                                 std::span<const Event> after) {
    device_.count(FakeRequest::copy_in, size);
    auto* target = static_cast<std::byte*>(to.address()) + offset;
    return enqueue(
        FakeRequest::copy_in, [=] { std::memcpy(target, from, size); }, after);
}

inline Event FakeStream::copy_out(void* to, const Memory& from, Bytes offset, Bytes size,
                                  std::span<const Event> after) {
    device_.count(FakeRequest::copy_out, size);
    const auto* source = static_cast<const std::byte*>(from.address()) + offset;
    return enqueue(
        FakeRequest::copy_out, [=] { std::memcpy(to, source, size); }, after);
}

inline Event FakeStream::copy_peer(Memory& to, Bytes to_offset, const Memory& from, Bytes from_offset,
                                   Bytes size, std::span<const Event> after) {
    device_.count(FakeRequest::copy_peer, size);
    auto* target = static_cast<std::byte*>(to.address()) + to_offset;
    const auto* source = static_cast<const std::byte*>(from.address()) + from_offset;
    return enqueue(
        FakeRequest::copy_peer, [=] { std::memcpy(target, source, size); }, after);
}

/// Of 64-bit integers alone.
inline Event FakeStream::add(Memory& to, const Memory& from, Bytes offset, Bytes size, NumberType type,
                             std::span<const Event> after) {
    HEADRACE_ASSERT(type == NumberType::uint64);
    auto* sums = static_cast<std::uint64_t*>(to.address()) + offset / sizeof(std::uint64_t);
    const auto* amounts = static_cast<const std::uint64_t*>(from.address()) + offset / sizeof(std::uint64_t);
    return enqueue(
        FakeRequest::add,
        [=] {
            for (Bytes i = 0; i < size / sizeof(std::uint64_t); ++i) sums[i] += amounts[i];
        },
        after);
}

inline Event FakeStream::take_changes(Memory& to, const Memory& from, Bytes offset, Bytes size,
                                      const Changes& changes, std::span<const Event> after) {
    const Bytes element = changes.element;
    for (const Bytes bytes : {offset, size}) HEADRACE_ASSERT(bytes % element == 0);
    auto* const target = static_cast<std::byte*>(to.address()) + offset;
    const auto* const source = static_cast<const std::byte*>(from.address()) + offset;
    const auto* const before = static_cast<const std::byte*>(changes.before.address());
    auto* const conflict = static_cast<std::uint64_t*>(changes.conflict.address());
    return enqueue(
        FakeRequest::take_changes,
        [=] {
            const std::uint64_t found = headrace::take_changes(target, source, before, size, element);
            if (found != no_conflict) *conflict = std::min(*conflict, offset / element + found);
        },
        after);
}

inline Event FakeStream::fill(Memory& memory, Bytes offset, Bytes size, Pattern pattern,
                              std::span<const Event> after) {
    HEADRACE_ASSERT((offset | size) % pattern.size() == 0);
    auto* target = static_cast<std::byte*>(memory.address()) + offset;
    return enqueue(
        FakeRequest::fill, [=] { pattern.write(target, size); }, after);
}

inline Event FakeStream::launch(Body body, std::span<const Event> after) {
    return enqueue(
        FakeRequest::launch,
        [this, body = std::move(body)] {
            body({.technology = device_.options_.technology,
                  .stream = this,
                  .context = nullptr,
                  .device = nullptr});
        },
        after);
}

inline Event FakeStream::enqueue(FakeRequest kind, std::function<void()> work, std::span<const Event> after) {
    HEADRACE_ASSERT(!in_call_.exchange(true)); // streams promise nothing to two threads at a time
    auto event = std::make_shared<FakeEvent>(device_.options_.family);
    event->inherit(after);
    {
        const std::scoped_lock lock(mutex_);
        commands_.push_back(
            {kind, std::move(work), {after.begin(), after.end()}, event, FailWhatIsEnqueued::hits(kind)});
    }
    changed_.notify_one();
    in_call_ = false;
    return Event{event};
}

inline ErrorPtr FakeStream::execute(Command& command) {
    std::optional<Adversary::Turn> turn;
    if (Adversary* adversary = device_.options_.adversary.get()) turn.emplace(*adversary, name_);
    try {
        if (device_.must_fail(command.kind) || command.fails)
            throw Error{ErrorKind::device, "failed on demand"}.on_device(device_.info().id);
        command.work();
    } catch (...) {
        return current_error();
    }
    return {};
}

inline void FakeStream::run() {
    for (;;) {
        std::unique_lock lock(mutex_);
        changed_.wait(lock, [this] { return closing_ || !commands_.empty(); });
        if (commands_.empty()) return;
        Command command = std::move(commands_.front());
        commands_.pop_front();
        lock.unlock();

        ErrorPtr failure;
        for (const Event& event : command.after)
            if (const ErrorPtr error = event.outcome(); error && !failure) failure = error;
        if (const auto longest = device_.options_.longest_delay.count(); longest > 0) {
            const auto delay = std::uniform_int_distribution<std::int64_t>(0, longest)(random_);
            takes(std::chrono::microseconds(delay));
        }
        const auto begin = std::chrono::steady_clock::now();
        if (!failure) failure = execute(command);
        if (!failure) command.event->ran({begin, std::chrono::steady_clock::now()});
        command.work = {}; // what the body captured goes before anybody is told
        command.event->finish(std::move(failure));
    }
}

} // namespace headrace::test
