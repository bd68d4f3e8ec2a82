// tests/domains/cluster/nodes.hpp - several ranks in this process, without runtimes.
#pragma once
#include <core/test_deadline.hpp>
#include <headrace/core/error.hpp>
#include <headrace/internal/domains/cluster/node.hpp>
#include <headrace/internal/domains/cluster/simulated_network.hpp>

#include <functional>
#include <memory>
#include <thread>
#include <vector>

namespace headrace::test {

/// Runs `program` on each rank, in a thread of its own. What each has thrown; null: nothing.
inline std::vector<ErrorPtr>
on_nodes(cluster::SimulatedNetwork& network, int ranks,
         const std::function<void(const std::shared_ptr<cluster::Node>&)>& program) {
    using cluster::Node;
    const TestDeadline deadline("the ranks of a test");
    std::vector<ErrorPtr> errors(static_cast<std::size_t>(ranks));
    {
        std::vector<std::jthread> threads;
        for (int rank = 0; rank < ranks; ++rank)
            threads.emplace_back([&, rank] {
                try {
                    const auto node = std::make_shared<Node>([&] { return network.transport(rank); });
                    const std::unique_ptr<Node, void (*)(Node*)> member(node.get(),
                                                                        [](Node* one) { one->leave(); });
                    program(node);
                } catch (...) {
                    errors[static_cast<std::size_t>(rank)] = current_error();
                }
            });
    }
    return errors;
}

} // namespace headrace::test
