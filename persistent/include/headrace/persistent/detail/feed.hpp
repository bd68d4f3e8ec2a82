// persistent/detail/feed.hpp - the host's end of a feed: what it says to a launch that runs, seeds above all.
// intake.hpp is the launch's end, control.h what the two share.
#pragma once
#include <headrace/core/export.hpp>
#include <headrace/persistent/detail/control.h>

#include <atomic>
#include <memory>
#include <mutex>

namespace headrace {

class Device;

/// Words of its own in host memory that one device's kernels see while they run.
///
/// Threads   any; the launch that reads them may run, or not have begun
class HEADRACE_EXPORT Feed {
public:
    explicit Feed(Device& device);

    /// For a launch that has taken nothing yet: nothing fed, open, nobody asks to park.
    void reset();
    /// False if the launch has to take some first: it is behind by HR_FEED_RANGES ranges that do not adjoin.
    [[nodiscard]] bool add(std::uint64_t begin, std::uint64_t end);
    void close();
    void ask_to_park(bool asked);
    /// All that was fed is done.
    void finish();

    [[nodiscard]] std::uint64_t fed() const;
    [[nodiscard]] std::uint64_t consumed() const;
    /// Who has read it sees what the completed units have written to host memory.
    [[nodiscard]] std::uint64_t completed() const;
    [[nodiscard]] HrFeed* words() const noexcept { return words_; }

private:
    [[nodiscard]] HrFeedRange& range(std::uint64_t number) const {
        return words_->range[number % HR_FEED_RANGES];
    }

    mutable std::mutex mutex_; // between host threads; the launch does not know it
    std::shared_ptr<void> owner_;
    HrFeed* words_;
    std::uint64_t fed_ = 0;
    std::uint64_t ranges_ = 0; ///< begun; the last may grow
    std::uint64_t next_ = 0;   ///< the seed that the last range could grow by
    bool closed_ = false;
    mutable std::atomic<std::uint64_t> most_completed_ = 0; ///< that somebody was told
};

} // namespace headrace
