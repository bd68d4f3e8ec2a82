// devices/simt/detail/timeline_semaphores.hpp - timeline semaphores: how a stream waits for work that its
// driver does not know, such as host work and other technologies.
#pragma once
#include <headrace/core/event.hpp>
#include <headrace/core/export.hpp>
#include <headrace/devices/simt/runtime.hpp>

#include <memory>
#include <mutex>
#include <optional>
#include <vector>

namespace headrace::HEADRACE_ON_SIMT {

/// Timeline semaphores: words in host memory. Streams wait for them; an event that settles writes its word.
///
/// The event's outcome does not matter. The value only grows, so a written word serves the next wait at once:
/// a stream that reads it late finds a larger value than it waits for, and continues. Threads: any.
class HEADRACE_EXPORT TimelineSemaphores : public std::enable_shared_from_this<TimelineSemaphores> {
public:
    /// What a stream waits for: the word at `memory` has reached `value`.
    struct Word {
        std::uint64_t* memory;
        std::uint64_t value;
    };

    explicit TimelineSemaphores(int ordinal);
    ~TimelineSemaphores();
    TimelineSemaphores(const TimelineSemaphores&) =
        delete; // events that will signal a semaphore hold its address
    TimelineSemaphores& operator=(const TimelineSemaphores&) = delete;

    /// False: the device cannot wait for words in memory.
    [[nodiscard]] bool usable() const noexcept { return usable_; }

    /// Work that is enqueued on `stream` after this call starts when `event` has settled.
    void wait(StreamHandle stream, const Event& event);

    /// Takes an unused word for `SemaphoreMemory::wait`. Waits may use the last `steps` values up to
    /// `Word::value`. The caller must `signal` the word, once.
    [[nodiscard]] Word take(std::uint64_t steps = 1);
    /// Writes an earlier value. Neither this nor `signal` calls a driver or waits for a thread that calls
    /// one.
    static void advance(Word word, std::uint64_t value);
    void signal(Word word);

    [[nodiscard]] std::size_t words() const; ///< for tests: the number of words

private:
    void add_words();
    [[nodiscard]] std::optional<Word> unused_word();

    const int ordinal_;
    const bool usable_;
    mutable std::mutex mutex_; // never held during a driver call, because `signal` takes it
    std::vector<void*> allocations_;
    std::size_t words_ = 0;
    std::vector<Word> free_;
};

} // namespace headrace::HEADRACE_ON_SIMT
