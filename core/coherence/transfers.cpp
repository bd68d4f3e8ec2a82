// core/coherence/transfers.cpp - see transfers.hpp.
#include <headrace/core/detail/transfers.hpp>

namespace headrace {

namespace {

/// Copies a current replica to `image`: directly if the hardware can, else through the host.
void fetch(Image image, ImageSet reachable, TransferPlan& plan) {
    const auto move = [&plan](Image from, Image to) {
        plan.moves.push_back({from, to});
        plan.current.insert(to);
    };
    if (plan.current.empty() || plan.current.has(image)) return;
    if (const ImageSet peers = plan.current & reachable; !peers.empty()) return move(peers.first(), image);
    if (!plan.current.has(host_image)) move(plan.current.first(), host_image);
    if (image != host_image) move(host_image, image);
}

} // namespace

TransferPlan plan_input(Image image, ImageSet current, ImageSet reachable) {
    TransferPlan plan{.reads_nothing = current.empty(), .moves = {}, .current = current};
    fetch(image, reachable, plan);
    return plan;
}

TransferPlan plan_output(Image image, ImageSet current, ImageSet reachable) {
    TransferPlan plan{.reads_nothing = false, .moves = {}, .current = current};
    fetch(image, reachable, plan);
    plan.current = {image};
    return plan;
}

TransferPlan plan_access(Image image, Access access, ImageSet current, ImageSet reachable) {
    if (!reads(access)) return {.reads_nothing = false, .moves = {}, .current = {image}};
    TransferPlan plan = plan_input(image, current, reachable);
    if (writes(access))
        plan.current = plan_output(image, plan.current, reachable).current; // nothing left to fetch
    return plan;
}

} // namespace headrace
