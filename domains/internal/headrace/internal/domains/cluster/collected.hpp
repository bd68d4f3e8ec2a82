// internal/domains/cluster/collected.hpp - what has come of one exchange or join of all ranks.
// Internal to domains/.
#pragma once
#include <headrace/internal/domains/cluster/transport.hpp>

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>

namespace headrace::cluster {

struct Collected {
    std::map<int, Message> parts = {};         ///< by rank
    std::optional<Message> result = {};        ///< of an exchange
    std::optional<std::uint64_t> answers = {}; ///< of a join, that rank 0 publishes: one, or one of each rank

    /// All answers are there, but that of this rank.
    [[nodiscard]] bool is_complete() const {
        return answers && parts.size() == std::max<std::uint64_t>(1, *answers - 1);
    }
};

} // namespace headrace::cluster
