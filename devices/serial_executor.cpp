// devices/serial_executor.cpp - see serial_executor.hpp.
#include <headrace/internal/devices/serial_executor.hpp>

#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

namespace headrace {

namespace {
thread_local bool is_executor_thread = false;
}

bool on_serial_executor() noexcept { return is_executor_thread; }

class SerialExecutor::Thread {
public:
    explicit Thread(Kind kind)
        : thread_([this, kind](const std::stop_token& stop) {
              is_executor_thread = kind == Kind::calls_no_driver;
              serve(stop);
          }) {}

    bool post(std::function<void()> work) {
        const std::scoped_lock lock(mutex_);
        if (closed_) return false;
        work_.push_back(std::move(work));
        arrived_.notify_one(); // while the mutex is held: the work may destroy this object
        return true;
    }

    void close() {
        {
            const std::scoped_lock lock(mutex_);
            closed_ = true;
        }
        thread_.request_stop();
        if (thread_.joinable()) thread_.join();
    }

private:
    void serve(const std::stop_token& stop) {
        std::unique_lock lock(mutex_);
        while (arrived_.wait(lock, stop, [this] { return !work_.empty(); })) {
            auto work = std::move(work_.front());
            work_.pop_front();
            lock.unlock();
            work();
            work = nullptr; // destructors of its captures may give more work
            lock.lock();
        }
    }

    std::mutex mutex_;
    std::condition_variable_any arrived_;
    std::deque<std::function<void()>> work_;
    bool closed_ = false;
    std::jthread thread_; // last: it uses the other members
};

SerialExecutor::SerialExecutor(Kind kind) : thread_(std::make_unique<Thread>(kind)) {}
SerialExecutor::~SerialExecutor() { close(); }
bool SerialExecutor::post(std::function<void()> work) { return thread_->post(std::move(work)); }
void SerialExecutor::close() { thread_->close(); }

namespace {

/// Closed when the process ends, but never destroyed: a driver may call back after static objects are
/// destroyed.
class Lasting {
public:
    explicit Lasting(SerialExecutor::Kind kind)
        : executor_(std::make_unique<SerialExecutor>(kind).release()) {}
    ~Lasting() { executor_->close(); }
    Lasting(const Lasting&) = delete;
    Lasting& operator=(const Lasting&) = delete;

    [[nodiscard]] SerialExecutor& get() const { return *executor_; }

private:
    SerialExecutor* executor_;
};

} // namespace

void notify(std::function<void()> settle) {
    static SerialExecutor& settler = []() -> SerialExecutor& {
        static const Lasting lasting(SerialExecutor::Kind::calls_no_driver);
        return lasting.get();
    }();
    settler.post(std::move(settle));
}

void let_go(std::shared_ptr<const void> last) {
    static SerialExecutor& releaser = []() -> SerialExecutor& {
        static const Lasting lasting(SerialExecutor::Kind::may_call_drivers);
        return lasting.get();
    }();
    const auto held = std::make_shared<std::shared_ptr<const void>>(std::move(last));
    if (releaser.post([held] { held->reset(); })) return;
    // The process ends. The object is not destroyed here, because a thread might then wait for itself.
    static std::mutex mutex;
    static auto* const left = std::make_unique<std::vector<std::shared_ptr<const void>>>().release();
    const std::scoped_lock lock(mutex);
    left->push_back(std::move(*held));
}

} // namespace headrace
