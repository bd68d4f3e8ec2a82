// internal/domains/cluster/ended_ranks.hpp - the ranks that have said that they end, and why.
// Internal to domains/.
#pragma once
#include <headrace/core/error.hpp>
#include <headrace/core/export.hpp>

#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace headrace::cluster {

/// Threads   one at a time
class HEADRACE_EXPORT EndedRanks {
public:
    /// The first call for a rank counts. `why`: it has failed.
    void note(int rank, ErrorPtr why) { why_.emplace(rank, std::move(why)); }

    [[nodiscard]] bool has(int rank) const { return why_.contains(rank); }
    [[nodiscard]] bool has_failed(int rank) const;
    /// The last of these ranks that has ended, without its part; nothing: there is none.
    template <class Parts>
    [[nodiscard]] std::optional<int> without_part(std::span<const int> ranks, const Parts& parts) const {
        std::optional<int> found;
        for (const int rank : ranks)
            if (has(rank) && !parts.contains(rank)) found = rank;
        return found;
    }
    /// What a rank that waits for it gets to know. `hosts`: of all ranks; empty: not known yet.
    [[nodiscard]] Error error_of(int rank, const std::vector<std::string>& hosts) const;

private:
    std::map<int, ErrorPtr> why_;
};

} // namespace headrace::cluster
