// tests/core/transfers_test.cpp - every row of the table of implicit transfers, and those with several
// controllers.
#include <core/replica_numbers.hpp>
#include <headrace/core/detail/transfers.hpp>

#include <gtest/gtest.h>

#include <sstream>
#include <string>
#include <vector>

namespace headrace {
namespace {

using test::a, test::b, test::c;
constexpr ReplicaSet nowhere;

// The table for one controller: request, sh sd before, what happens, sh sd after. Rows that the papers leave
// out
// ("nothing to do") are written out.
struct Row {
    const char* request;
    int sh, sd;
    const char* action;
    int sh_after, sd_after;
};
constexpr Row rows[] = {
    {"K reads", 0, 0, "warn", 0, 0}, {"K reads", 1, 0, "HTD", 1, 1}, {"K reads", 0, 1, "", 0, 1},
    {"K reads", 1, 1, "", 1, 1},     {"K outputs", 0, 0, "", 0, 1},  {"K outputs", 1, 0, "HTD", 0, 1},
    {"K outputs", 0, 1, "", 0, 1},   {"K outputs", 1, 1, "", 0, 1},  {"H reads", 0, 0, "warn", 0, 0},
    {"H reads", 1, 0, "", 1, 0},     {"H reads", 0, 1, "DTH", 1, 1}, {"H reads", 1, 1, "", 1, 1},
    {"H outputs", 0, 0, "", 1, 0},   {"H outputs", 1, 0, "", 1, 0},  {"H outputs", 0, 1, "DTH", 1, 0},
    {"H outputs", 1, 1, "", 1, 0},
};

ReplicaSet bits(int sh, int sd) {
    ReplicaSet set;
    if (sh != 0) set.insert(host_replica);
    if (sd != 0) set.insert(a);
    return set;
}

std::string action_of(const TransferPlan& plan) {
    std::string action = plan.reads_nothing ? "warn" : "";
    for (const Move move : plan.moves) action += move == Move{host_replica, a} ? "HTD" : "DTH";
    return action;
}

TEST(Transfers, EveryRowForOneController) {
    for (const Row& row : rows) {
        const std::string request = row.request;
        const ReplicaNumber replica = request[0] == 'K' ? a : host_replica;
        const bool is_input = request.substr(2) == "reads";
        const TransferPlan plan = is_input ? plan_input(replica, bits(row.sh, row.sd), nowhere)
                                           : plan_output(replica, bits(row.sh, row.sd), nowhere);
        EXPECT_EQ(action_of(plan), row.action) << request << ' ' << row.sh << row.sd;
        EXPECT_EQ(plan.current, bits(row.sh_after, row.sd_after)) << request << ' ' << row.sh << row.sd;
    }
}

TEST(Transfers, ReadAccessIsAnInputAndUpdateAnInputThenAnOutput) {
    for (const ReplicaNumber replica : {host_replica, a})
        for (int state = 0; state < 4; ++state) {
            const ReplicaSet before = bits(state & 1, state >> 1);
            const TransferPlan input = plan_input(replica, before, nowhere);
            const TransferPlan read = plan_access(replica, Access::read, before, nowhere);
            EXPECT_EQ(action_of(read), action_of(input));
            EXPECT_EQ(read.current, input.current);
            for (const Access access : {Access::update, Access::accumulate}) {
                const TransferPlan update = plan_access(replica, access, before, nowhere);
                EXPECT_EQ(action_of(update), action_of(input));
                EXPECT_EQ(update.current, plan_output(replica, input.current, nowhere).current);
            }
        }
}

TEST(Transfers, WriteAccessMovesNothingAndClearsAllOtherReplicas) {
    for (const ReplicaNumber replica : {host_replica, a, b})
        for (const ReplicaSet before :
             {nowhere, ReplicaSet{host_replica}, ReplicaSet{a, b}, ReplicaSet{host_replica, a, b}}) {
            const TransferPlan plan = plan_access(replica, Access::write, before, ReplicaSet{a, b});
            EXPECT_FALSE(plan.reads_nothing);
            EXPECT_TRUE(plan.moves.empty());
            EXPECT_EQ(plan.current, ReplicaSet{replica});
        }
}

TEST(Transfers, FromOneDeviceToAnotherDirectlyWhereTheHardwareCan) {
    const TransferPlan plan = plan_access(b, Access::read, {a}, {a});
    EXPECT_EQ(plan.moves, (std::vector<Move>{{a, b}}));
    EXPECT_EQ(plan.current, (ReplicaSet{a, b})) << "the host replica stays stale";
}

TEST(Transfers, FromOneDeviceToAnotherThroughTheHostElse) {
    const TransferPlan plan = plan_access(b, Access::read, {a}, nowhere);
    EXPECT_EQ(plan.moves, (std::vector<Move>{{a, host_replica}, {host_replica, b}}));
    EXPECT_EQ(plan.current, (ReplicaSet{host_replica, a, b}));
}

TEST(Transfers, AReachablePeerIsPreferredToTheHost) {
    EXPECT_EQ(plan_access(b, Access::read, {host_replica, a, c}, {c}).moves, (std::vector<Move>{{c, b}}));
    EXPECT_EQ(plan_access(b, Access::read, {host_replica, a}, {c}).moves,
              (std::vector<Move>{{host_replica, b}}));
}

TEST(Transfers, TheHostTakesItFromAnyDevice) {
    EXPECT_EQ(plan_access(host_replica, Access::read, {b, c}, {b, c}).moves,
              (std::vector<Move>{{b, host_replica}}));
}

TEST(Transfers, AWriterClearsAllOtherReplicas) {
    EXPECT_EQ(plan_access(b, Access::update, {host_replica, a, c}, nowhere).current, ReplicaSet{b});
    EXPECT_EQ(plan_access(host_replica, Access::update, {a, c}, nowhere).current, ReplicaSet{host_replica});
}

} // namespace
} // namespace headrace
