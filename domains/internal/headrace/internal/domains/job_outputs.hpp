// internal/domains/job_outputs.hpp - what the tasks of a job write: no two of them the same element, and at
// the end all of it. Internal to domains/.
#pragma once
#include <headrace/core/error.hpp>
#include <headrace/core/export.hpp>
#include <headrace/domains/job.hpp>
#include <headrace/internal/domains/checked_writes.hpp>
#include <headrace/internal/domains/written_parts.hpp>

#include <cstddef>
#include <map>
#include <optional>
#include <span>
#include <vector>

namespace headrace {

/// Of one job, which must outlive it.
///
/// Threads   one at a time: the job's lock; fail() any
class HEADRACE_EXPORT JobOutputs {
public:
    explicit JobOutputs(const Job& job);

    /// What a task of these work units writes. Returns an error if another task writes some of it as well.
    /// Throws what the user's partition callback throws.
    [[nodiscard]] std::optional<Error> enter(IndexRange units);
    /// Tasks that begin in this range will run again, or elsewhere, or with fewer units.
    void leave(IndexRange units);
    /// Calls of `enter` and `leave` have something to do.
    [[nodiscard]] bool have_parts() const noexcept { return !written_.empty(); }

    /// In checked mode: a task has written these elements of its part of a domain, which holds `contents`.
    /// Returns an error if two tasks scattered different values to one element.
    [[nodiscard]] std::optional<Error> note(const Job::Use& use, IndexRange part,
                                            const std::vector<bool>& written,
                                            std::span<const std::byte> contents) {
        return checked_.note(use, part, written, contents);
    }
    /// In checked mode, in the end: an error if no task wrote an element of a part.
    [[nodiscard]] std::optional<Error> why_unwritten() const { return checked_.why_unwritten(); }

    /// The job has ended with success: other jobs may use what it wrote.
    void complete() const;
    /// It has not. Its results are not complete, even if a part of them was made: a caller that asks for them
    /// gets the error.
    void fail(const ErrorPtr& error) const;

private:
    const Job& job_;
    std::map<const Job::Use*, WrittenParts> written_; ///< of uses with parts that the user computes
    CheckedWrites checked_;                           ///< in checked mode
};

} // namespace headrace
