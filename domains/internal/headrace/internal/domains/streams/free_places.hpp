// internal/domains/streams/free_places.hpp - which place an item gets. Private to domains/streams/.
#pragma once
#include <headrace/core/export.hpp>

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <mutex>
#include <optional>
#include <vector>

namespace headrace {

/// Places in the order in which they came free.
///
/// Threads   any may give back; one waits and takes
class HEADRACE_EXPORT FreePlaces {
public:
    explicit FreePlaces(std::size_t places);

    /// Blocks until there is one.
    void wait();
    /// Of those that are there, one that this controller had last and holds memory for; else one that nobody
    /// had; else, or for nobody, the one that has been free for longest.
    [[nodiscard]] std::size_t take(std::optional<std::size_t> controller);
    void give_back(std::size_t place);

private:
    std::mutex mutex_; // guards what follows
    std::condition_variable any_;
    std::deque<std::size_t> free_;
    std::vector<std::optional<std::size_t>> had_by_; ///< each place, the last time
};

} // namespace headrace
