// persistent/detail/injection_queue.hpp - the host's end of the injection queue: seeds and requests for a
// launch. injection_poller.hpp is the launch's end. control.h has the memory that both share.
#pragma once
#include <headrace/core/export.hpp>
#include <headrace/persistent/detail/control.h>

#include <atomic>
#include <memory>
#include <mutex>

namespace headrace {

class Device;

/// Owns words in host memory that the running kernels of one device can see.
///
/// Threads   any; the launch that reads the words may run, or may not have begun
class HEADRACE_EXPORT InjectionQueue {
public:
    explicit InjectionQueue(Device& device);

    /// For a launch that has accepted nothing yet: no injected seeds, open, no request to pause.
    void reset();
    /// Injects [begin, end). False if HR_INJECTION_RANGES ranges wait that do not adjoin and are not
    /// accepted.
    [[nodiscard]] bool add(std::uint64_t begin, std::uint64_t end);
    void close();
    void ask_to_pause(bool asked);
    /// Marks all injected seeds as completed.
    void finish();

    [[nodiscard]] std::uint64_t injected() const;
    [[nodiscard]] std::uint64_t consumed() const;
    /// A thread that has read it sees what the completed units have written to host memory.
    [[nodiscard]] std::uint64_t completed() const;
    [[nodiscard]] HrInjection* words() const noexcept { return words_; }

private:
    [[nodiscard]] HrInjectionRange& range(std::uint64_t number) const {
        return words_->range[number % HR_INJECTION_RANGES];
    }

    mutable std::mutex mutex_; // between host threads; the launch does not use it
    std::shared_ptr<void> owner_;
    HrInjection* words_;
    std::uint64_t injected_ = 0;
    std::uint64_t ranges_ = 0; ///< ranges begun; the last may grow
    std::uint64_t next_ = 0;   ///< the next seed that the last range can grow by
    bool closed_ = false;
    mutable std::atomic<std::uint64_t> most_completed_ = 0; ///< the largest number returned
};

} // namespace headrace
