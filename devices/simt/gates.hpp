// devices/simt/gates.hpp - how a stream waits for what its driver knows nothing of: host work, other
// technologies.
#pragma once
#include <headrace/core/event.hpp>
#include <headrace/devices/simt/runtime.hpp>

#include <memory>
#include <mutex>
#include <vector>

namespace headrace::HEADRACE_ON_SIMT {

/// Words in host memory that streams wait for and that the settling of an event writes, whatever its outcome.
///
/// Each word only grows, so one that has been written serves the next wait, although a stream may not yet
/// have looked at it: it will find more than it waits for. Threads: any.
class Gates : public std::enable_shared_from_this<Gates> {
public:
    explicit Gates(int ordinal);
    ~Gates();
    Gates(const Gates&) = delete; // events that will open a gate hold its address
    Gates& operator=(const Gates&) = delete;

    /// What is enqueued on `stream` from now on starts when `event` has settled.
    void hold(StreamHandle stream, const Event& event);

    [[nodiscard]] std::size_t words() const; ///< for tests: how many there are

private:
    struct Word {
        std::uint64_t* memory;
        std::uint64_t value;
    };

    Word take();
    void open(Word word);

    const bool usable_;
    mutable std::mutex mutex_;
    std::vector<std::uint64_t*> all_;
    std::vector<Word> free_;
};

} // namespace headrace::HEADRACE_ON_SIMT
