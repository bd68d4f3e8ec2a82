// core/coherence/transfers.cpp - see transfers.hpp.
#include <headrace/core/detail/transfers.hpp>

namespace headrace {

namespace {

/// Copies a current replica to `replica`: directly if the hardware can, else through the host.
void fetch(ReplicaNumber replica, ReplicaSet reachable, TransferPlan& plan) {
    const auto move = [&plan](ReplicaNumber from, ReplicaNumber to) {
        plan.moves.push_back({from, to});
        plan.current.insert(to);
    };
    if (plan.current.empty() || plan.current.has(replica)) return;
    if (const ReplicaSet peers = plan.current & reachable; !peers.empty())
        return move(peers.first(), replica);
    if (!plan.current.has(host_replica)) move(plan.current.first(), host_replica);
    if (replica != host_replica) move(host_replica, replica);
}

} // namespace

TransferPlan plan_input(ReplicaNumber replica, ReplicaSet current, ReplicaSet reachable) {
    TransferPlan plan{.reads_nothing = current.empty(), .moves = {}, .current = current};
    fetch(replica, reachable, plan);
    return plan;
}

TransferPlan plan_output(ReplicaNumber replica, ReplicaSet current, ReplicaSet reachable) {
    TransferPlan plan{.reads_nothing = false, .moves = {}, .current = current};
    fetch(replica, reachable, plan);
    plan.current = {replica};
    return plan;
}

TransferPlan plan_access(ReplicaNumber replica, Access access, ReplicaSet current, ReplicaSet reachable) {
    if (!reads(access)) return {.reads_nothing = false, .moves = {}, .current = {replica}};
    TransferPlan plan = plan_input(replica, current, reachable);
    if (writes(access))
        plan.current = plan_output(replica, plan.current, reachable).current; // nothing left to fetch
    return plan;
}

} // namespace headrace
