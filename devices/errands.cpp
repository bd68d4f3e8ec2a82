// devices/errands.cpp - see errands.hpp.
#include <headrace/internal/devices/errands.hpp>

#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

namespace headrace {

namespace {
thread_local bool runs_errands = false;
}

bool on_errand() noexcept { return runs_errands; }

class Errands::Thread {
public:
    explicit Thread(Kind kind)
        : thread_([this, kind](const std::stop_token& stop) {
              runs_errands = kind == Kind::calls_no_driver;
              serve(stop);
          }) {}

    bool give(std::function<void()> work) {
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

Errands::Errands(Kind kind) : thread_(std::make_unique<Thread>(kind)) {}
Errands::~Errands() { close(); }
bool Errands::give(std::function<void()> work) { return thread_->give(std::move(work)); }
void Errands::close() { thread_->close(); }

namespace {

/// Closed when the process ends, but never destroyed: a driver may call back after static objects are
/// destroyed.
class Lasting {
public:
    explicit Lasting(Errands::Kind kind) : errands_(std::make_unique<Errands>(kind).release()) {}
    ~Lasting() { errands_->close(); }
    Lasting(const Lasting&) = delete;
    Lasting& operator=(const Lasting&) = delete;

    [[nodiscard]] Errands& get() const { return *errands_; }

private:
    Errands* errands_;
};

} // namespace

void notify(std::function<void()> settle) {
    static Errands& settler = []() -> Errands& {
        static const Lasting lasting(Errands::Kind::calls_no_driver);
        return lasting.get();
    }();
    settler.give(std::move(settle));
}

void let_go(std::shared_ptr<const void> last) {
    static Errands& undertaker = []() -> Errands& {
        static const Lasting lasting(Errands::Kind::may_call_drivers);
        return lasting.get();
    }();
    const auto held = std::make_shared<std::shared_ptr<const void>>(std::move(last));
    if (undertaker.give([held] { held->reset(); })) return;
    // The process ends. The object is not destroyed here, because a thread might then wait for itself.
    static std::mutex mutex;
    static auto* const left = std::make_unique<std::vector<std::shared_ptr<const void>>>().release();
    const std::scoped_lock lock(mutex);
    left->push_back(std::move(*held));
}

} // namespace headrace
