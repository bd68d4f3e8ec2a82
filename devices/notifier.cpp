// devices/notifier.cpp - see notifier.hpp.
#include <headrace/devices/notifier.hpp>

#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <thread>

namespace headrace {
namespace {

struct Mailbox {
    std::mutex mutex;
    std::condition_variable_any arrived;
    std::deque<std::function<void()>> work;
    bool closed = false;
};

// Never destroyed: a driver may call back after our static objects have gone.
Mailbox& mailbox() {
    static Mailbox* const box = std::make_unique<Mailbox>().release();
    return *box;
}

class Notifier {
public:
    Notifier() : thread_([this](const std::stop_token& stop) { serve(stop); }) {}
    ~Notifier() {
        Mailbox& box = mailbox();
        const std::scoped_lock lock(box.mutex);
        box.closed = true; // the thread is stopped and joined next, by its own destructor
    }
    Notifier(const Notifier&) = delete; // the thread holds its address
    Notifier& operator=(const Notifier&) = delete;

private:
    void serve(const std::stop_token& stop) {
        Mailbox& box = mailbox();
        std::unique_lock lock(box.mutex);
        while (box.arrived.wait(lock, stop, [&box] { return !box.work.empty(); })) {
            auto work = std::move(box.work.front());
            box.work.pop_front();
            lock.unlock();
            work();
            work = nullptr; // what goes with it may post, too
            lock.lock();
        }
    }

    std::jthread thread_;
};

} // namespace

void notify(std::function<void()> work) {
    Mailbox& box = mailbox();
    {
        const std::scoped_lock lock(box.mutex);
        if (box.closed) return;
        box.work.push_back(std::move(work));
    }
    static Notifier notifier;
    box.arrived.notify_one();
}

} // namespace headrace
