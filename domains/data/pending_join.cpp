// domains/data/pending_join.cpp - see pending_join.hpp.
#include <headrace/domains/detail/pending_join.hpp>

#include <utility>

namespace headrace {

void PendingJoin::set_error(const ErrorPtr& error) {
    const std::scoped_lock lock(mutex_);
    error_ = error;
}

ErrorPtr PendingJoin::error() const {
    const std::scoped_lock lock(mutex_);
    return error_;
}

void PendingJoin::join_over(std::shared_ptr<RankJoin> ranks) {
    const std::scoped_lock lock(mutex_);
    // Jobs that commute may end in any order, and in another one on another rank.
    if (!ranks_ || ranks->follows(*ranks_)) ranks_ = std::move(ranks);
}

std::shared_ptr<RankJoin> PendingJoin::take_ranks() {
    const std::scoped_lock lock(mutex_);
    return std::exchange(ranks_, nullptr);
}

void PendingJoin::exchange_over(std::shared_ptr<RankJoin> ranks, std::vector<IndexRange> written,
                                ErrorPtr error) {
    const std::scoped_lock lock(mutex_);
    parts_ = {std::move(ranks), std::move(written), std::move(error)};
    lacks_parts_ = true;
}

PendingJoin::Parts PendingJoin::take_parts() {
    const std::scoped_lock lock(mutex_);
    return std::exchange(parts_, {});
}

void PendingJoin::forget() {
    const std::scoped_lock lock(mutex_);
    error_ = nullptr;
    ranks_ = nullptr;
    parts_ = {};
    lacks_parts_ = false;
}

} // namespace headrace
