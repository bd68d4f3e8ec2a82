// domains/cluster/thread_number.cpp - see thread_number.hpp.
#include <headrace/domains/cluster/thread_number.hpp>
#include <headrace/internal/domains/cluster/current_node.hpp>
#include <headrace/internal/domains/cluster/submitters.hpp>

namespace headrace::cluster {

struct ThreadNumber::Entered {
    std::shared_ptr<Node> node;
    std::uint32_t number;
    SubmitterScope scope{number};
};

ThreadNumber::ThreadNumber(std::uint32_t number) {
    const auto node = current_node();
    if (!node) return;
    node->submitters().enter(number);
    entered_ = std::make_unique<Entered>(node, number);
}

ThreadNumber::~ThreadNumber() {
    if (entered_) entered_->node->submitters().leave(entered_->number);
}

} // namespace headrace::cluster
