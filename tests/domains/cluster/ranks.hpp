// tests/domains/cluster/ranks.hpp - several ranks in this process, each with a runtime of its own.
#pragma once
#include <devices/two_private_cpus.hpp>
#include <headrace/domains/runtime.hpp>
#include <headrace/internal/domains/cluster/current_node.hpp>
#include <headrace/internal/domains/cluster/simulated_network.hpp>

#include <exception>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

namespace headrace::test {

/// What became of one rank.
struct RankOutcome {
    ErrorPtr error; ///< null: it has ended without one
};

/// Runs `program` on each rank, in a thread of its own, over `network`. Every rank has a runtime with two CPU
/// devices with memories of their own.
inline std::vector<RankOutcome> on_ranks(int ranks, cluster::SimulatedNetwork& network,
                                         const std::function<void(int rank, Runtime&)>& program) {
    std::vector<RankOutcome> outcomes(static_cast<std::size_t>(ranks));
    {
        std::vector<std::jthread> threads;
        for (int rank = 0; rank < ranks; ++rank)
            threads.emplace_back([&, rank] {
                try {
                    const auto node =
                        std::make_shared<cluster::Node>([&] { return network.transport(rank); });
                    const std::unique_ptr<cluster::Node, void (*)(cluster::Node*)> member(
                        node.get(), [](cluster::Node* one) { one->leave(); });
                    const cluster::NodeOfThisThread mine(node);
                    Runtime runtime({.devices = device_list(two_private_cpus), .policy = "adaptive"});
                    program(rank, runtime);
                } catch (...) {
                    outcomes[static_cast<std::size_t>(rank)].error = current_error();
                }
            });
    }
    return outcomes;
}

} // namespace headrace::test
