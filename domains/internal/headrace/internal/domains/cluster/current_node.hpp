// internal/domains/cluster/current_node.hpp - how runtimes find the node of their process. Internal to
// domains/.
#pragma once
#include <headrace/core/export.hpp>
#include <headrace/internal/domains/cluster/node.hpp>

#include <memory>

namespace headrace::cluster {

/// The node of this thread or process; null: there is one process.
[[nodiscard]] HEADRACE_EXPORT std::shared_ptr<Node> current_node();
/// Makes it the node of the process, or of none.
HEADRACE_EXPORT void set_current_node(std::shared_ptr<Node> node);
/// As long as this lives, it is the node of this thread: functions of `then` have the node of their caller.
/// Tests have several ranks in one process.
class HEADRACE_EXPORT NodeOfThisThread {
public:
    explicit NodeOfThisThread(std::shared_ptr<Node> node);
    ~NodeOfThisThread();
    NodeOfThisThread(const NodeOfThisThread&) = delete;
    NodeOfThisThread& operator=(const NodeOfThisThread&) = delete;
};

} // namespace headrace::cluster
