// internal/domains/streams/free_slots.hpp - which item slot an item gets. Internal to domains/streams/.
#pragma once
#include <headrace/core/export.hpp>

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <mutex>
#include <optional>
#include <vector>

namespace headrace {

/// The free item slots, in the order in which they became free.
///
/// Threads   any may give back; one waits and takes
class HEADRACE_EXPORT FreeSlots {
public:
    explicit FreeSlots(std::size_t slots);

    /// Blocks until a slot is free.
    void wait();
    /// Takes a free slot: one that this controller had last and has memory for; else one that no controller
    /// had; else the one that has been free for longest. Without a controller, the first of these is skipped.
    [[nodiscard]] std::size_t take(std::optional<std::size_t> controller);
    void give_back(std::size_t slot);

private:
    std::mutex mutex_; // guards what follows
    std::condition_variable any_;
    std::deque<std::size_t> free_;
    std::vector<std::optional<std::size_t>> had_by_; ///< for each slot: its last controller
};

} // namespace headrace
