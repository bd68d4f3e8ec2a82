// tests/core/waiting_call.hpp - a call on a thread of its own, and whether it waits for something.
#pragma once
#include <core/eventually.hpp>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <functional>
#include <string>
#include <thread>
#include <utility>

#include <unistd.h>

namespace headrace::test {

/// Whether a thread waits in the kernel and wants no processor. `folder`: /proc/PROCESS/task/THREAD. Linux.
[[nodiscard]] inline bool is_asleep(const std::filesystem::path& folder) {
    std::string stat;
    std::getline(std::ifstream(folder / "stat"), stat);
    const std::size_t state = stat.rfind(')') + 2; // after the name, which may have parentheses
    return state < stat.size() && stat[state] == 'S';
}

/// Looks until it is over or waits for something; true if it waits. What waits is asleep at many looks in a
/// row. What wants a busy processor is not asleep, so this is not too early there.
[[nodiscard]] bool comes_to_wait(const auto& is_asleep, const auto& is_over) {
    constexpr int in_a_row = 20;
    int asleep = 0;
    const bool is_known = eventually([&] {
        asleep = is_asleep() ? asleep + 1 : 0;
        return asleep >= in_a_row || is_over();
    });
    return is_known && !is_over();
}

/// Runs `call`, which throws nothing, on a thread of its own; its destructor waits for it. For a call that
/// has to wait until the test lets something go on.
class WaitingCall {
public:
    explicit WaitingCall(std::function<void()> call) : call_(std::move(call)) {}

    /// Looks until the call has returned or waits; true if it waits.
    [[nodiscard]] bool waits() const {
        return comes_to_wait(
            [this] { return is_asleep(std::filesystem::path("/proc/self/task") / std::to_string(id_)); },
            [this] { return has_returned(); });
    }
    [[nodiscard]] bool has_returned() const { return has_returned_; }
    /// Blocks until it has returned.
    void join() { thread_.join(); }

private:
    const std::function<void()> call_;
    std::atomic<pid_t> id_ = 0; // of no thread
    std::atomic<bool> has_returned_ = false;
    std::jthread thread_{[this] {
        id_ = ::gettid();
        call_();
        has_returned_ = true;
    }}; // last: it uses the rest
};

} // namespace headrace::test
