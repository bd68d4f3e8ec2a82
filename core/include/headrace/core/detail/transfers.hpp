// core/detail/transfers.hpp - which replicas of a datum are current, and what a request must move first: a
// table, no state.
#pragma once
#include <headrace/core/access.hpp>
#include <headrace/core/detail/dependencies.hpp>
#include <headrace/core/export.hpp>

#include <bit>
#include <cstdint>
#include <initializer_list>
#include <vector>

namespace headrace {

/// A set of replicas. In a set of current replicas, a single one is Modified, and several are Shared.
class ReplicaSet {
public:
    static constexpr ReplicaNumber capacity = 64;

    constexpr ReplicaSet() = default;
    constexpr ReplicaSet(std::initializer_list<ReplicaNumber> replicas) {
        for (const ReplicaNumber replica : replicas) insert(replica);
    }
    [[nodiscard]] constexpr bool has(ReplicaNumber replica) const noexcept {
        return (bits_ >> replica & 1U) != 0;
    }
    [[nodiscard]] constexpr bool empty() const noexcept { return bits_ == 0; }
    /// The set must not be empty.
    [[nodiscard]] constexpr ReplicaNumber first() const noexcept {
        return static_cast<ReplicaNumber>(std::countr_zero(bits_));
    }
    constexpr void insert(ReplicaNumber replica) noexcept { bits_ |= std::uint64_t{1} << replica; }
    constexpr void erase(ReplicaNumber replica) noexcept { bits_ &= ~(std::uint64_t{1} << replica); }

    friend constexpr ReplicaSet operator&(ReplicaSet a, ReplicaSet b) noexcept {
        return ReplicaSet(a.bits_ & b.bits_);
    }
    friend constexpr bool operator==(ReplicaSet, ReplicaSet) = default;

private:
    explicit constexpr ReplicaSet(std::uint64_t bits) : bits_(bits) {}
    std::uint64_t bits_ = 0;
};

/// A copy of a datum from one of its replicas to another. Between two devices: a peer copy.
struct Move {
    ReplicaNumber from, to;
    friend constexpr bool operator==(Move, Move) = default;
};

/// The transfers before a request, and the replicas that are current after the request has run.
struct TransferPlan {
    bool reads_nothing = false; ///< the request reads, but no replica is current
    std::vector<Move> moves;    ///< in order
    ReplicaSet current;         ///< after the request
};

/// The `in` of the papers: makes the replica current.
[[nodiscard]] HEADRACE_EXPORT TransferPlan plan_input(ReplicaNumber replica, ReplicaSet current,
                                                      ReplicaSet reachable);
/// The `out` of the papers: a kernel may write only a part, so the contents are fetched first. Afterwards
/// only this replica is current.
[[nodiscard]] HEADRACE_EXPORT TransferPlan plan_output(ReplicaNumber replica, ReplicaSet current,
                                                       ReplicaSet reachable);

/// The plan for `access` to `replica`: `read` is an input; `update` and `accumulate` are an input and then an
/// output; `write` moves nothing. A kernel that works in place on host memory uses `host_replica`.
///
/// `current`    replicas that are up to date now
/// `reachable`  replicas from which `replica` can be copied without the host
[[nodiscard]] HEADRACE_EXPORT TransferPlan plan_access(ReplicaNumber replica, Access access,
                                                       ReplicaSet current, ReplicaSet reachable);

} // namespace headrace
