// core/coherence/dependencies.cpp - see dependencies.hpp.
#include <headrace/core/detail/dependencies.hpp>

#include <algorithm>
#include <initializer_list>

namespace headrace {

namespace {

using enum RequestKind;

/// One row of a table: the kinds that a request waits for.
class Kinds {
public:
    constexpr Kinds() = default;
    constexpr Kinds(std::initializer_list<RequestKind> kinds) {
        for (const RequestKind kind : kinds) bits_ |= 1U << static_cast<unsigned>(kind);
    }
    [[nodiscard]] constexpr bool has(RequestKind kind) const {
        return (bits_ >> static_cast<unsigned>(kind) & 1U) != 0;
    }

private:
    unsigned bits_ = 0;
};

constexpr Kinds everything{kernel_in, kernel_out,  host_in,  host_out,
                           to_device, from_device, peer_out, peer_in};

/// Both requests belong to one controller, or both to the host.
///
/// Transfers of one controller need no entry for each other: coherence ensures that a request between them
/// orders them. For example, a second fetch needs a write by the host or another controller after the first
/// fetch. That write, or the transfer of its result to the host, waits for the first fetch. The second fetch
/// waits for that write or transfer. Peer copies do not use the host replica, so this argument does not hold
/// for them: they wait for all conflicting requests.
constexpr Kinds within_controller(RequestKind later) {
    // clang-format off
    switch (later) {
    case kernel_in: return {kernel_out, to_device, peer_in};
    case kernel_out: return {kernel_in, kernel_out, to_device, from_device, peer_out, peer_in};
    case host_in: return {host_out};
    case host_out: return {host_in, host_out};
    case to_device: return {kernel_in, kernel_out, peer_out, peer_in};
    case from_device: return {kernel_out, to_device, peer_in};
    case peer_out: return {kernel_out, to_device, peer_in};
    case peer_in: return {kernel_in, kernel_out, to_device, from_device, peer_out, peer_in};
    case release:
    case wait: return everything;
    }
    // clang-format on
    return {};
}

/// The requests belong to two controllers, or one belongs to the host: only the host replica is common.
constexpr Kinds across_controllers(RequestKind later) {
    // clang-format off
    switch (later) {
    case host_in: return {from_device};
    case host_out: return {to_device, from_device};
    case to_device: return {host_out, from_device};
    case from_device: return {host_in, host_out, to_device, from_device};
    case kernel_in:
    case kernel_out:
    case peer_out:
    case peer_in: return {};
    case release: // by the last holder; other holders free their own replica and ask only for requests on it
    case wait: return everything;
    }
    // clang-format on
    return {};
}

constexpr bool is_transfer(RequestKind kind) { return kind == to_device || kind == from_device; }
constexpr bool is_of_host(RequestKind kind) { return kind == host_in || kind == host_out; }

constexpr std::size_t kinds = all_request_kinds.size();
using Rows = std::array<Kinds, kinds>;

constexpr Rows rows_of(Kinds (*row)(RequestKind)) {
    Rows rows{};
    for (const RequestKind kind : all_request_kinds) rows[static_cast<std::size_t>(kind)] = row(kind);
    return rows;
}
constexpr Rows within = rows_of(within_controller), across = rows_of(across_controllers);

constexpr bool must_wait(const Request& later, const Request& earlier) {
    const Rows& rows = later.replica == earlier.replica ? within : across;
    return rows[static_cast<std::size_t>(later.kind)].has(earlier.kind);
}

/// True if every later request that would wait for `older` also waits for `newer`.
constexpr bool covers(const Request& newer, const Request& older) {
    // Host requests name the host's replica. Kernels and transfers name a controller's. The last two kinds
    // name either.
    const auto can_name = [](RequestKind kind, ReplicaNumber replica) {
        return kind == release || kind == wait || is_of_host(kind) == (replica == host_replica);
    };
    // The host, both controllers, and a third controller: these are all cases that a later request can
    // distinguish.
    const ReplicaNumber stranger = std::max(newer.replica, older.replica) + 1;
    for (const ReplicaNumber replica : {host_replica, newer.replica, older.replica, stranger})
        for (const RequestKind kind : all_request_kinds)
            if (can_name(kind, replica) && must_wait({kind, replica}, older) &&
                !must_wait({kind, replica}, newer))
                return false;
    return true;
}

/// `covers` as a table: by the kinds of the newer and the older request, and whether they use the same
/// replica. A table, because every request needs several of these values.
constexpr auto coverage = [] {
    std::array<std::array<std::array<bool, 2>, kinds>, kinds> table{};
    for (const RequestKind newer : all_request_kinds)
        for (const RequestKind older : all_request_kinds) {
            const ReplicaNumber replica_of_older = is_of_host(older) ? host_replica : 1;
            const ReplicaNumber another = is_of_host(newer) ? host_replica : 2;
            auto& cell = table[static_cast<std::size_t>(newer)][static_cast<std::size_t>(older)];
            cell[0] = covers({newer, another}, {older, replica_of_older});
            cell[1] = covers({newer, replica_of_older}, {older, replica_of_older});
        }
    return table;
}();

} // namespace

bool waits_for(const Request& later, const Request& earlier) noexcept { return must_wait(later, earlier); }

bool replaces(const Request& newer, const Request& older, bool same_lane) noexcept {
    const bool same_replica = newer.replica == older.replica;
    // The tables omit pairs of transfers, because a third request orders them (see within_controller).
    const bool through_third = same_replica && is_transfer(newer.kind) && is_transfer(older.kind);
    return (same_lane || through_third || must_wait(newer, older)) &&
           coverage[static_cast<std::size_t>(newer.kind)][static_cast<std::size_t>(older.kind)]
                   [same_replica ? 1 : 0];
}

} // namespace headrace
