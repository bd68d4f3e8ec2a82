// domains/cluster/shared_items.hpp - items of a stream, such as the frames of a video, that the ranks of a
// cluster process together.
#pragma once
#include <headrace/core/error.hpp>
#include <headrace/core/export.hpp>
#include <headrace/core/index_range.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

namespace headrace::cluster {

/// Items 0, 1, 2, ... in rounds. In a round, each rank has a block of items, larger on a faster rank. Rank 0
/// takes the results of all ranks, one item after another:
///
///     SharedItems items({.at_once = 8, .items = frames},
///                       [&](std::uint64_t item, auto result) { write(item, result); });
///     while (const auto block = items.next()) items.hand_over(process(*block));
///     items.finish();
///
/// A rank begins a round while rank 0 still takes the results of the two before. Without MPI, one rank
/// processes all.
///
/// All ranks make the object, between the same calls of Session and Runtime, and then the calls above. After
/// the loss of a rank, it ends with an error, also if the others go on.
///
/// Memory    rank 0 holds the results of two rounds, of all ranks
/// Threads   one makes all calls; `take` is called by another one
/// Errors    invalid_argument if ranks have different numbers of items, or for calls in another order. What
///           `take` has thrown, or `hand_over` has been passed, is thrown on all ranks, by one of their next
///           calls; so is the loss of a rank
class HEADRACE_EXPORT SharedItems {
public:
    struct Options {
        std::uint64_t at_once = 1;               ///< items of this rank in the first rounds, at least 1
        std::uint64_t most = ~std::uint64_t{0};  ///< items of this rank in any round, at least `at_once`
        std::optional<std::uint64_t> items = {}; ///< their number, the same on all ranks; nothing: not known
    };
    using Result = std::vector<std::byte>;
    /// Called on rank 0, in the order of items.
    using Take = std::function<void(std::uint64_t item, std::span<const std::byte> result)>;

    SharedItems(const Options& options, Take take);
    /// Waits for results that are under way. After an error, without the results.
    ~SharedItems();
    SharedItems(const SharedItems&) = delete;
    SharedItems& operator=(const SharedItems&) = delete;

    /// The next items of this rank, perhaps none; nothing: there are no more rounds. May wait for rank 0.
    [[nodiscard]] std::optional<IndexRange> next();
    /// The results of the block that `next` has returned, in its order. If they are fewer, the stream ends
    /// there, or `why` is what went wrong with the item behind the last one. Items before it are still taken.
    void hand_over(std::vector<Result> results, ErrorPtr why = nullptr);
    /// Waits until rank 0 has taken all results. Returns the number of items.
    std::uint64_t finish();
    /// After `finish`, on rank 0: the number of items of each rank. Empty on other ranks.
    [[nodiscard]] std::vector<std::uint64_t> items_of_ranks() const;

private:
    class Rounds;
    std::unique_ptr<Rounds> rounds_;
};

} // namespace headrace::cluster
