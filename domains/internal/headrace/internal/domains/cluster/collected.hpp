// internal/domains/cluster/collected.hpp - what has come of one exchange or join of all ranks.
// Internal to domains/.
#pragma once
#include <headrace/internal/domains/cluster/transport.hpp>

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

namespace headrace::cluster {

/// What rank 0 publishes in a join.
struct Answer {
    int of = -1; ///< the rank that has these bytes already; -1: no rank has
    Message bytes = {};
};

struct Collected {
    std::map<int, Message> parts = {};          ///< on rank 0: by rank
    std::optional<Message> result = {};         ///< of an exchange
    std::vector<Answer> answers = {};           ///< of a join, on the other ranks
    std::optional<std::uint64_t> expected = {}; ///< answers

    [[nodiscard]] bool has_all_answers() const { return expected && answers.size() == *expected; }
};

} // namespace headrace::cluster
