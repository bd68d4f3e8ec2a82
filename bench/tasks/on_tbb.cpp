// bench/tasks/on_tbb.cpp - tasks of oneTBB, which knows nothing of data.
#include "programs.hpp"

#include <oneapi/tbb/flow_graph.h>
#include <oneapi/tbb/task_group.h>

#include <deque>

namespace bench {
namespace {

namespace flow = tbb::flow;
using Node = flow::continue_node<flow::continue_msg>;

void independent_group(std::span<Line> lines) {
    tbb::task_group group;
    for (Line& line : lines) group.run([&line] { ++line.marks; });
    group.wait();
}

/// Each task has the next one run.
struct Link {
    tbb::task_group& group;
    Line& line;
    std::size_t left;
    void operator()() const {
        ++line.marks;
        if (left > 1) group.run(Link{group, line, left - 1});
    }
};

void chain_of_group(std::span<Line> lines) {
    tbb::task_group group;
    group.run(Link{group, lines.front(), lines.size()});
    group.wait();
}

void independent_graph(std::span<Line> lines) {
    flow::graph graph;
    std::deque<Node> nodes;
    for (Line& line : lines)
        nodes.emplace_back(graph, [&line](flow::continue_msg) { ++line.marks; }).try_put({});
    graph.wait_for_all();
}

void chain_of_graph(std::span<Line> lines) {
    flow::graph graph;
    std::deque<Node> nodes;
    for (std::size_t i = 0; i < lines.size(); ++i) {
        nodes.emplace_back(graph, [&line = lines.front()](flow::continue_msg) { ++line.marks; });
        if (i > 0) flow::make_edge(nodes[i - 1], nodes[i]);
    }
    nodes.front().try_put({});
    graph.wait_for_all();
}

} // namespace

std::vector<Program> on_tbb(std::span<Line> lines) {
    constexpr Pattern independent{.is_chain = false, .has_data = false},
        chain{.is_chain = true, .has_data = false};
    return {{"oneTBB, task_group", independent, [=] { independent_group(lines); }},
            {"oneTBB, task_group", chain, [=] { chain_of_group(lines); }},
            {"oneTBB, flow graph", independent, [=] { independent_graph(lines); }},
            {"oneTBB, flow graph", chain, [=] { chain_of_graph(lines); }}};
}

} // namespace bench
