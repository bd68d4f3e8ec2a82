// persistent/detail/seeds.hpp - ranges of seeds, and how groups share one.
#pragma once
#include <headrace/persistent/detail/control.h>
#include <headrace/persistent/sync.hpp>

namespace headrace {

/// A claimed range of seeds.
struct SeedRange {
    std::uint64_t next, end;
    HEADRACE_GROUP_CODE bool empty() const { return next == end; }
};

/// Claims seeds from [cursor, end), one of about `alike` ranges. Claims fewer towards the end, so that all
/// groups end together: at least `at_least`, and at most `at_most`, which takes precedence. For a leader.
template <class Sync>
HEADRACE_GROUP_CODE SeedRange claim_range(const HrControl& control, std::uint64_t& cursor, std::uint64_t end,
                                          std::uint64_t alike, std::uint32_t at_least,
                                          std::uint32_t at_most) {
    // relaxed: indices carry no data. The load comes first;
    // otherwise many callers would move the cursor far past the end.
    const std::uint64_t seen = Sync::load(cursor, Sync::relaxed);
    if (seen >= end) return {end, end};
    std::uint64_t wanted = alike * (end - seen) / (2ull * control.groups);
    if (wanted < at_least) wanted = at_least;
    if (wanted > at_most) wanted = at_most;
    // relaxed: as above. The addition alone decides which group has which index.
    const std::uint64_t first = Sync::fetch_add(cursor, wanted, Sync::relaxed);
    if (first >= end) return {end, end};
    return {first, wanted < end - first ? first + wanted : end};
}

} // namespace headrace
