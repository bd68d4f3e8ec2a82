// internal/core/work.hpp - pieces of a job, as a schedule gives them to participants.
#pragma once
#include <headrace/core/export.hpp>
#include <headrace/core/index_range.hpp>
#include <headrace/internal/core/state_text.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace headrace {

/// What a participant gets at once: work units of the job, or units that another participant transferred.
struct Work {
    IndexRange range;            ///< of transferred units: their numbers among all that the job transferred
    bool is_transferred = false; ///< units that sprang from work units, and count as none
    std::uint64_t tasks = 1;     ///< of the policy's, that adjoin

    [[nodiscard]] std::uint64_t work_units() const { return is_transferred ? 0 : range.size(); }
    friend bool operator==(const Work&, const Work&) = default;
    /// For logs, and for tests that compare states.
    friend StateText& operator<<(StateText& out, const Work& work) {
        return out << (work.is_transferred ? " units " : " ") << work.range.begin << "-" << work.range.end
                   << "/" << work.tasks;
    }
};

/// Where a job may be cut.
class HEADRACE_EXPORT Division {
public:
    virtual ~Division() = default;
    /// The size of a task at the beginning of `left`, for which the policy wants so many units: from 1 to
    /// all of them.
    [[nodiscard]] virtual std::uint64_t split(IndexRange left, std::uint64_t wanted) const = 0;
};

/// Work that no participant has: of the job, never granted or returned; or transferred units without a
/// recipient.
///
/// Threads   one at a time
class HEADRACE_EXPORT OpenWork {
public:
    explicit OpenWork(IndexRange units);

    [[nodiscard]] bool has_units() const noexcept { return !left_.empty(); }
    [[nodiscard]] bool has_transferred() const noexcept { return !transferred_.empty(); }
    /// Work units of the job.
    [[nodiscard]] std::uint64_t units() const;
    /// The range from whose beginning the next task is cut.
    [[nodiscard]] IndexRange next() const { return left_.back(); }
    /// A task from there to `end` is granted.
    void cut(std::uint64_t end);
    [[nodiscard]] Work take_transferred();
    void put_back(const Work& work);
    void forget_transferred() noexcept { transferred_.clear(); }
    void tell(StateText& out) const;

private:
    std::vector<IndexRange> left_; ///< the last is next
    std::vector<Work> transferred_;
};

/// What a participant has completed: done again if it is lost.
///
/// Threads   one at a time
class HEADRACE_EXPORT CompletedWork {
public:
    void add(const Work& work);
    /// Of the job's work units: ascending, apart.
    [[nodiscard]] const std::vector<IndexRange>& ranges() const noexcept { return ranges_; }
    [[nodiscard]] bool is_none() const noexcept { return ranges_.empty() && transferred_.empty(); }
    /// All of it, which is no longer completed. Adjoining tasks are one.
    [[nodiscard]] std::vector<Work> take();
    void forget() noexcept;
    void tell(StateText& out) const;

private:
    std::vector<IndexRange> ranges_; ///< ascending, apart
    std::vector<Work> transferred_;
};

} // namespace headrace
