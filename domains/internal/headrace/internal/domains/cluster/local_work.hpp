// internal/domains/cluster/local_work.hpp - a shared job, as the rank's communication sees it. Internal to
// domains/.
#pragma once
#include <headrace/core/error.hpp>
#include <headrace/core/index_range.hpp>
#include <headrace/internal/domains/work_range.hpp>

#include <chrono>
#include <cstdint>
#include <memory>
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
        bool is_quiet = true;        ///< no device and no rank below has work of it, and none is open
        bool takes_units = false;    ///< a device or a rank below works on units that spawned elsewhere
        /// Devices and ranks below that are idle, and would work on spawned units; of several, 2.
        unsigned wanting_units = 0;
        bool has_no_donor = false;   ///< and no device here could transfer any
        Clock::duration busy{};      ///< how long the busiest device has worked on them; 0: not known
        double units_per_second = 0; ///< of all devices and ranks below together, as measured; 0: not known
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
    /// The next work for a rank below; nothing: none now. `lacks_units`: a device of it has nothing to do,
    /// so devices here transfer work to it that they have not begun.
    [[nodiscard]] virtual std::optional<WorkRange> next(int rank, bool lacks_units) = 0;
    /// This rank below works on units that spawned elsewhere.
    virtual void note_takes_units(int rank) = 0;
    /// How fast this rank below is, with the ranks below it.
    virtual void note_speed(int rank, double units_per_second) = 0;
    /// Units have come that spawned elsewhere: from the rank below, or, if none is named, from that above.
    virtual void receive(std::optional<int> rank, UnitBatch units) = 0;
    /// The rank above wants units, as an idle rank below does; or it wants none any more.
    virtual void note_above(bool wants) = 0;
    /// Units for the rank above, which are its own from then on. Null: there are none.
    [[nodiscard]] virtual std::shared_ptr<const UnitBatch> next_for_above() = 0;
    /// Of a grant that is not complete.
    struct Part {
        IndexRange grant;
        std::uint64_t units = 0; ///< completed
    };
    /// The rank below has completed this work, and a part of the next grant, and worked on them in this time.
    virtual void completed(int rank, const std::vector<WorkRange>& works, std::optional<Part> next,
                           Clock::time_point begin, Clock::time_point end) = 0;
    /// The rank below will not complete it.
    virtual void abandoned(int rank, const WorkRange& work) = 0;
};

} // namespace headrace::cluster
