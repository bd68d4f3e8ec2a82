// internal/domains/cluster/local_work.hpp - a shared job, as the rank's communication sees it. Internal to
// domains/.
#pragma once
#include <headrace/core/error.hpp>
#include <headrace/core/index_range.hpp>

#include <chrono>
#include <cstdint>
#include <optional>
#include <vector>

namespace headrace::cluster {

/// What one rank does of a job: its own devices, and the ranks below it, which take part like devices.
/// A test can stand for it.
///
/// Threads   any
class LocalWork {
public:
    using Clock = std::chrono::steady_clock;

    struct Supply {
        bool is_running = false; ///< devices get work of it
        bool has_ended = false;
        std::uint64_t open = 0;      ///< work units that no device and no rank has
        std::uint64_t completed = 0; ///< work units, by this rank and those below
        Clock::duration busy{};      ///< how long the busiest device has worked on them; 0: not known
        ErrorPtr stop_reason;        ///< why it ends without success
    };

    LocalWork() = default;
    LocalWork(const LocalWork&) = delete;
    LocalWork& operator=(const LocalWork&) = delete;
    virtual ~LocalWork() = default;

    [[nodiscard]] virtual Supply supply() const = 0;
    /// More work units have come from the rank above.
    virtual void extend(IndexRange units) = 0;
    /// No more come.
    virtual void close() = 0;
    virtual void stop(ErrorPtr why) = 0;
    /// The next units for a rank below; nothing: none now. `is_idle`: it has nothing to do, so devices here
    /// transfer work to it that they have not begun.
    [[nodiscard]] virtual std::optional<IndexRange> next(int rank, bool is_idle) = 0;
    /// Of a grant that is not complete.
    struct Part {
        IndexRange grant;
        std::uint64_t units = 0; ///< completed
    };
    /// The rank below has completed these units, one grant each, and a part of the next grant, and worked on
    /// them in this time.
    virtual void completed(int rank, const std::vector<IndexRange>& grants, std::optional<Part> next,
                           Clock::time_point begin, Clock::time_point end) = 0;
    /// The rank below will not complete them.
    virtual void abandoned(int rank, IndexRange grant) = 0;
};

} // namespace headrace::cluster
