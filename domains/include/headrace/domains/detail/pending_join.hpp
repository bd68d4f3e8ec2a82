// domains/detail/pending_join.hpp - what jobs leave to the next join of a domain, beside private replicas.
// Internal to domains/.
#pragma once
#include <headrace/core/error.hpp>
#include <headrace/core/export.hpp>
#include <headrace/core/index_range.hpp>
#include <headrace/domains/detail/joining.hpp>

#include <atomic>
#include <memory>
#include <mutex>
#include <vector>

namespace headrace {

/// Work of other ranks, and errors. Jobs that end write it, the next join takes it.
///
/// Threads: any. No call blocks for long.
class HEADRACE_EXPORT PendingJoin {
public:
    /// What this rank has to exchange.
    struct Parts {
        std::shared_ptr<RankJoin> ranks = nullptr;
        std::vector<IndexRange> written = {};
        ErrorPtr error = nullptr;
    };

    /// Private replicas are lost, or have wrong contents. Null: they do not any more. The replicas stay until
    /// the next join: other jobs may still write to them.
    void set_error(const ErrorPtr& error);
    [[nodiscard]] ErrorPtr error() const;

    /// The ranks of a cluster share a job that wrote to private replicas: the next join is one of all ranks.
    void join_over(std::shared_ptr<RankJoin> ranks);
    /// The ranks of the next join, which are then forgotten; null: it is this process's alone.
    [[nodiscard]] std::shared_ptr<RankJoin> take_ranks();

    /// The ranks of a cluster share a job of which each has written some elements, or failed: before the data
    /// are used, all ranks get all of them.
    void exchange_over(std::shared_ptr<RankJoin> ranks, std::vector<IndexRange> written, ErrorPtr error);
    /// Other ranks have parts that this one lacks.
    [[nodiscard]] bool lacks_parts() const noexcept { return lacks_parts_; }
    [[nodiscard]] Parts take_parts();
    /// This rank has them.
    void note_exchanged() noexcept { lacks_parts_ = false; }

    void forget();

private:
    mutable std::mutex mutex_;
    ErrorPtr error_;
    std::shared_ptr<RankJoin> ranks_;
    Parts parts_;
    std::atomic<bool> lacks_parts_ = false;
};

} // namespace headrace
