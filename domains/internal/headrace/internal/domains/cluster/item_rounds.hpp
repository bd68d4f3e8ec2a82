// internal/domains/cluster/item_rounds.hpp - how many items of a round each rank gets. Internal to domains/.
#pragma once
#include <headrace/core/export.hpp>

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace headrace::cluster {

/// What is known of a rank.
struct ItemPace {
    std::uint64_t at_once = 1;              ///< its items in the first rounds
    std::uint64_t most = ~std::uint64_t{0}; ///< its items in any round
    double items_per_second = 0;            ///< of its last block; 0: not known
};

/// The number of items of each rank in one round: all `at_once` together, or what is left. They are divided
/// by the speeds of the ranks. A rank of unknown speed counts as the mean of the others, for each of its
/// `at_once`. What is beyond `most` of a rank is not in this round.
[[nodiscard]] HEADRACE_EXPORT std::vector<std::uint64_t> items_of_round(std::span<const ItemPace> ranks,
                                                                        std::optional<std::uint64_t> left);

} // namespace headrace::cluster
