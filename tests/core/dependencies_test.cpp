// tests/core/dependencies_test.cpp - every pair of the table of dependencies, and what may be forgotten.
#include <core/replica_numbers.hpp>
#include <headrace/core/detail/dependencies.hpp>

#include <gtest/gtest.h>

#include <map>
#include <sstream>
#include <string>
#include <vector>

namespace headrace {
namespace {

using enum RequestKind;

using test::a, test::b;

const std::map<std::string, RequestKind> kind_named{
    {"K in", kernel_in}, {"K out", kernel_out}, {"H in", host_in}, {"H out", host_out},
    {"HTD", to_device},  {"DTH", from_device},  {"free", release}, {"wait", wait}};

/// The replica that a request of controller `controller` names: host requests have none.
Request request_of(RequestKind kind, ReplicaNumber controller) {
    return {kind, kind == host_in || kind == host_out ? host_replica : controller};
}

std::vector<std::string> cells_of(const std::string& line) {
    std::vector<std::string> cells;
    std::istringstream in(line);
    std::string cell;
    std::getline(in, cell, '|'); // what is before the first bar
    while (std::getline(in, cell, '|')) {
        const auto first = cell.find_first_not_of(' ');
        cells.push_back(
            first == std::string::npos ? "" : cell.substr(first, cell.find_last_not_of(' ') - first + 1));
    }
    return cells;
}

/// Row waits for column.
constexpr const char* within_controller = R"(
|       | K in | K out | H in | H out | HTD | DTH |
| K in  |      | x     |      |       | x   |     |
| K out | x    | x     |      |       | x   | x   |
| H in  |      |       |      | x     |     | x   |
| H out |      |       | x    | x     | x   | x   |
| HTD   | x    | x     |      | x     |     |     |
| DTH   |      | x     | x    | x     | x   |     |
| free  | x    | x     | x    | x     | x   | x   |
| wait  | x    | x     | x    | x     | x   | x   |
)";

/// "kernels wait only for requests of their own controller; a conflict on the host replica is between all of
/// them: H in waits for H out and DTH; H out for H in, H out, HTD and DTH; HTD for H out and DTH; DTH for H
/// in, H out, HTD and DTH; wait(x) for everything; free for everything, when the last holder lets go"
constexpr const char* across_controllers = R"(
|       | K in | K out | H in | H out | HTD | DTH |
| K in  |      |       |      |       |     |     |
| K out |      |       |      |       |     |     |
| H in  |      |       |      | x     |     | x   |
| H out |      |       | x    | x     | x   | x   |
| HTD   |      |       |      | x     |     | x   |
| DTH   |      |       | x    | x     | x   | x   |
| free  | x    | x     | x    | x     | x   | x   |
| wait  | x    | x     | x    | x     | x   | x   |
)";

void expect_table(const char* table, ReplicaNumber later_controller, ReplicaNumber earlier_controller) {
    std::istringstream lines(table);
    std::string line;
    std::getline(lines, line);
    std::getline(lines, line);
    const auto columns = cells_of(line);
    int pairs = 0;
    while (std::getline(lines, line)) {
        const auto cells = cells_of(line);
        for (std::size_t column = 1; column < columns.size(); ++column, ++pairs)
            EXPECT_EQ(waits_for(request_of(kind_named.at(cells[0]), later_controller),
                                request_of(kind_named.at(columns[column]), earlier_controller)),
                      cells.at(column) == "x")
                << cells[0] << " after " << columns[column];
    }
    EXPECT_EQ(pairs, 8 * 6);
}

TEST(Dependencies, EveryPairWithinAController) { expect_table(within_controller, a, a); }

TEST(Dependencies, EveryPairAcrossControllers) {
    expect_table(across_controllers, a, b);
    expect_table(across_controllers, b, a);
}

TEST(Dependencies, FreeAndWaitWaitForEverythingWhoeverAsks) {
    for (const RequestKind later : {release, wait})
        for (const ReplicaNumber replica : {host_replica, a, b})
            for (const RequestKind earlier : all_request_kinds) {
                if (earlier == release || earlier == wait) continue;
                EXPECT_TRUE(waits_for({later, replica}, request_of(earlier, a)))
                    << static_cast<int>(later) << " of " << replica << " after " << static_cast<int>(earlier);
            }
}

TEST(Dependencies, PeerCopiesWaitLikeTransfersOnTheirDeviceReplicas) {
    // The reading half of a copy waits on its device replica as DTH does; the writing half as HTD does.
    for (const RequestKind earlier : {kernel_in, kernel_out, to_device}) {
        EXPECT_EQ(waits_for({peer_out, a}, {earlier, a}), waits_for({from_device, a}, {earlier, a}));
        if (earlier != to_device) {
            EXPECT_EQ(waits_for({peer_in, b}, {earlier, b}), waits_for({to_device, b}, {earlier, b}));
        }
    }
    // And is waited for so.
    for (const RequestKind later : {kernel_in, kernel_out}) {
        EXPECT_EQ(waits_for({later, a}, {peer_out, a}), waits_for({later, a}, {from_device, a}));
        EXPECT_EQ(waits_for({later, b}, {peer_in, b}), waits_for({later, b}, {to_device, b}));
    }
}

TEST(Dependencies, PeerCopiesLeaveTheHostReplicaAlone) {
    for (const RequestKind half : {peer_out, peer_in})
        for (const RequestKind host : {host_in, host_out}) {
            EXPECT_FALSE(waits_for({half, a}, {host, host_replica}));
            EXPECT_FALSE(waits_for({host, host_replica}, {half, a}));
        }
}

TEST(Dependencies, PeerCopiesOfTwoPairsDoNotMeet) {
    for (const RequestKind half : {peer_out, peer_in})
        for (const RequestKind other : all_request_kinds)
            if (other != release && other != wait) {
                EXPECT_FALSE(waits_for({half, a}, {other, b}));
            }
}

// Two requests that touch one replica, one of them writing it, must be ordered by somebody. The table leaves
// out pairs of transfers of one controller (coherence_order_test.cpp shows who orders them); nothing else.
TEST(Dependencies, HoldsEveryConflictOnAReplicaButThreePairsOfTransfers) {
    struct Touch {
        ReplicaNumber replica;
        bool writes;
    };
    const auto touches = [](const Request& request) -> std::vector<Touch> {
        switch (request.kind) {
        case kernel_in:
        case peer_out:
            return {{request.replica, false}};
        case kernel_out:
        case peer_in:
            return {{request.replica, true}};
        case host_in:
            return {{host_replica, false}};
        case host_out:
            return {{host_replica, true}};
        case to_device:
            return {{host_replica, false}, {request.replica, true}};
        case from_device:
            return {{request.replica, false}, {host_replica, true}};
        default:
            return {};
        }
    };
    const auto left_out = [](const Request& later, const Request& earlier) {
        if (later.replica != earlier.replica) return false;
        return (later.kind == to_device && (earlier.kind == to_device || earlier.kind == from_device)) ||
               (later.kind == from_device && earlier.kind == from_device);
    };
    for (const RequestKind later_kind : all_request_kinds)
        for (const RequestKind earlier_kind : all_request_kinds)
            for (const ReplicaNumber other : {a, b}) {
                if (later_kind == release || later_kind == wait) continue;
                const Request later = request_of(later_kind, a), earlier = request_of(earlier_kind, other);
                bool conflict = false;
                for (const Touch& x : touches(later))
                    for (const Touch& y : touches(earlier))
                        conflict |= x.replica == y.replica && (x.writes || y.writes);
                EXPECT_EQ(waits_for(later, earlier), conflict && !left_out(later, earlier))
                    << static_cast<int>(later_kind) << " after " << static_cast<int>(earlier_kind);
            }
}

TEST(Replaces, WritersReplaceWhatTheyWaitFor) {
    EXPECT_TRUE(replaces({kernel_out, a}, {kernel_in, a}, false));
    EXPECT_TRUE(replaces({kernel_out, a}, {kernel_out, a}, false));
    EXPECT_TRUE(replaces({host_out, host_replica}, {host_in, host_replica}, false));
    EXPECT_TRUE(replaces({peer_in, a}, {peer_in, a}, false));
}

TEST(Replaces, ReadersOfOneLaneReplaceEachOtherAndThoseOfTwoDoNot) {
    EXPECT_TRUE(replaces({kernel_in, a}, {kernel_in, a}, true));
    EXPECT_FALSE(replaces({kernel_in, a}, {kernel_in, a}, false));
    EXPECT_FALSE(replaces({host_in, host_replica}, {host_in, host_replica}, false));
}

TEST(Replaces, NotWhereAnotherReplicaStillNeedsTheOlder) {
    // A host task waits for a transfer to the host, and for no kernel.
    EXPECT_FALSE(replaces({kernel_out, a}, {from_device, a}, false));
    // A kernel waits for the fetch of its data, and for no host task.
    EXPECT_FALSE(replaces({host_out, host_replica}, {to_device, a}, false));
    EXPECT_FALSE(replaces({kernel_in, a}, {kernel_in, b}, false));
}

} // namespace
} // namespace headrace
