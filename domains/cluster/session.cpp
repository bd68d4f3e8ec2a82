// domains/cluster/session.cpp - see session.hpp.
#include "cluster/host_share.hpp"
#include <headrace/domains/cluster/session.hpp>
#include <headrace/internal/domains/cluster/current_node.hpp>
#include <headrace/internal/domains/cluster/mpi_module.hpp>

#include <cstddef>
#include <utility>

namespace headrace::cluster {

Session::Session() {
    if (!was_started_by_mpi()) return;
    node_ = std::make_shared<Node>([] { return load_mpi_transport(); });
    if (node_->ranks() < 2) { // all would do the same work, and write the same files
        node_->leave();
        throw Error{
            ErrorKind::device,
            "this process was started together with others by MPI, and finds none of them: the launcher "
            "(mpirun, srun) and the MPI library that Headrace was built with do not fit"};
    }
    take_share_of_host(*node_);
    set_current_node(node_);
}

Session::~Session() {
    if (!node_ || has_left_) return;
    set_current_node(nullptr);
    node_->leave();
}

bool Session::leave(const Error& why) noexcept {
    if (!node_) return false;
    if (!std::exchange(has_left_, true)) {
        set_current_node(nullptr);
        node_->leave(std::make_shared<const Error>(why));
    }
    return !is_first() && node_->has_first_failed();
}

std::string Session::broadcast(std::string bytes_of_first) const {
    if (!node_) return bytes_of_first;
    const auto* const begin = reinterpret_cast<const std::byte*>(bytes_of_first.data());
    const Message first =
        node_->exchange(is_first() ? Message(begin, begin + bytes_of_first.size()) : Message()).front();
    return {reinterpret_cast<const char*>(first.data()), first.size()};
}

void Session::keep_own_devices(const std::string& request, DeviceSelection& selection) const {
    if (node_) keep_share_of_gpus(PlaceOnHost::of(*node_), request, selection);
}

int Session::rank() const noexcept { return node_ ? node_->rank() : 0; }
int Session::ranks() const noexcept { return node_ ? node_->ranks() : 1; }

} // namespace headrace::cluster
