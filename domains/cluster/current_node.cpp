// domains/cluster/current_node.cpp - see current_node.hpp.
#include <headrace/internal/domains/cluster/current_node.hpp>

#include <utility>

namespace headrace::cluster {
namespace {

std::shared_ptr<Node>& node_of_process() {
    static std::shared_ptr<Node> node;
    return node;
}
std::shared_ptr<Node>& node_of_thread() {
    thread_local std::shared_ptr<Node> node;
    return node;
}

} // namespace

std::shared_ptr<Node> current_node() { return node_of_thread() ? node_of_thread() : node_of_process(); }
void set_current_node(std::shared_ptr<Node> node) { node_of_process() = std::move(node); }
NodeOfThisThread::NodeOfThisThread(std::shared_ptr<Node> node) { node_of_thread() = std::move(node); }
NodeOfThisThread::~NodeOfThisThread() { node_of_thread().reset(); }

} // namespace headrace::cluster
