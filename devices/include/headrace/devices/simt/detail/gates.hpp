// devices/simt/detail/gates.hpp - how a stream waits for what its driver knows nothing of: host work, other
// technologies.
#pragma once
#include <headrace/core/event.hpp>
#include <headrace/core/export.hpp>
#include <headrace/devices/simt/runtime.hpp>

#include <memory>
#include <mutex>
#include <optional>
#include <vector>

namespace headrace::HEADRACE_ON_SIMT {

/// Words in host memory that streams wait for and that the settling of an event writes, whatever its outcome.
///
/// Each word only grows, so one that has been written serves the next wait, although a stream may not yet
/// have looked at it: it will find more than it waits for. Threads: any.
class HEADRACE_EXPORT Gates : public std::enable_shared_from_this<Gates> {
public:
    /// What a stream waits for: that the word has this value.
    struct Word {
        std::uint64_t* memory;
        std::uint64_t value;
    };

    explicit Gates(int ordinal);
    ~Gates();
    Gates(const Gates&) = delete; // events that will open a gate hold its address
    Gates& operator=(const Gates&) = delete;

    /// False: the device cannot wait for words.
    [[nodiscard]] bool usable() const noexcept { return usable_; }

    /// What is enqueued on `stream` from now on starts when `event` has settled.
    void hold(StreamHandle stream, const Event& event);

    /// A word that `GateMemory::wait` may be given, for the last `steps` values that it comes to, and that
    /// somebody will `open`, once.
    [[nodiscard]] Word take(std::uint64_t steps = 1);
    /// An earlier value, on the way. Calls no driver and waits for nobody who does; nor does `open`.
    static void advance(Word word, std::uint64_t value);
    void open(Word word);

    [[nodiscard]] std::size_t words() const; ///< for tests: how many there are

private:
    void add_words();
    [[nodiscard]] std::optional<Word> unused_word();

    const int ordinal_;
    const bool usable_;
    mutable std::mutex mutex_; // never held during a call of the driver: who opens gates takes it
    std::vector<void*> allocations_;
    std::size_t words_ = 0;
    std::vector<Word> free_;
};

} // namespace headrace::HEADRACE_ON_SIMT
