// domains/domain.cpp - see domain.hpp.
#include <headrace/core/submission.hpp>
#include <headrace/domains/domain.hpp>

#include <algorithm>
#include <cstring>
#include <limits>
#include <utility>

namespace headrace {
namespace {

Bytes checked_size(const std::string& name, const Extent& extent, Bytes element_size) {
    Bytes size = element_size;
    for (const std::uint64_t n : extent.n) {
        if (n == 0)
            throw Error{ErrorKind::invalid_argument, "domain '" + name + "' has a dimension of size zero"};
        if (size > std::numeric_limits<Bytes>::max() / n)
            throw Error{ErrorKind::invalid_argument,
                        "domain '" + name + "' has more bytes than can be addressed"};
        size *= n;
    }
    return size;
}

} // namespace

DomainData::DomainData(std::string name, Extent extent, Bytes element_size, Add add, void* borrowed)
    : storage_(name, checked_size(name, extent, element_size), borrowed),
      extent_(extent),
      element_size_(element_size),
      add_(add) {}

DomainData::DomainData(std::string name, Extent extent, Bytes element_size, Add add,
                       std::shared_ptr<void> host)
    : storage_(name, checked_size(name, extent, element_size), std::move(host)),
      extent_(extent),
      element_size_(element_size),
      add_(add) {}

DomainData::Accumulator DomainData::accumulator(Controller& controller, Stream& stream) {
    const std::scoped_lock lock(mutex_);
    for (const Replica& replica : replicas_)
        if (replica.controller == &controller) return {replica.memory.get(), replica.zeroed};
    Replica replica{&controller, controller.device().allocate(storage_.bytes()), {}};
    replica.zeroed = stream.fill_zero(*replica.memory, 0, storage_.bytes());
    replicas_.push_back(std::move(replica));
    return {replicas_.back().memory.get(), replicas_.back().zeroed};
}

void DomainData::reduce() {
    const std::scoped_lock lock(mutex_);
    if (lost_) throw Error{*lost_};
    if (replicas_.empty()) return;
    auto* sums = static_cast<std::byte*>(storage_.host());
    for (Tile* tile : storage_.tiles()) {
        if (is_unwritten(*tile)) // sums start from zero where nobody wrote
            std::memset(sums + tile->begin(), 0, tile->end() - tile->begin());
        else
            headrace::gather(*tile).wait();
    }
    for (const Replica& replica : replicas_) {
        Device& device = replica.controller->device();
        const auto stream = device.make_stream();
        const auto staging = device.allocate_host(storage_.bytes());
        stream->copy_out(staging.get(), *replica.memory, 0, storage_.bytes(), {&replica.zeroed, 1}).wait();
        add_(sums, staging.get(), storage_.bytes());
    }
    for (Tile* tile : storage_.tiles()) host_wrote(*tile);
    replicas_.clear();
}

void DomainData::seal() {
    const std::scoped_lock lock(mutex_);
    for (Replica& replica : replicas_) replica.sealed = true;
}

void DomainData::drop_replica(const Controller& controller, const ErrorPtr& error) {
    const std::scoped_lock lock(mutex_);
    std::erase_if(replicas_, [&](const Replica& replica) {
        if (replica.controller != &controller) return false;
        if (replica.sealed) lost_ = error;
        return true;
    });
}

void* DomainData::gather() {
    reduce();
    for (Tile* tile : storage_.tiles()) headrace::gather(*tile).wait();
    return storage_.host();
}

void* DomainData::fill() {
    reduce();
    void* host = storage_.host();
    for (Tile* tile : storage_.tiles()) {
        if (!is_unwritten(*tile)) headrace::gather(*tile).wait();
        host_wrote(*tile);
    }
    return host;
}

void DomainData::forget(const Controller& controller) {
    const bool holds_sums = [&] {
        const std::scoped_lock lock(mutex_);
        return std::ranges::any_of(replicas_,
                                   [&](const Replica& replica) { return replica.controller == &controller; });
    }();
    if (holds_sums) reduce();
}

} // namespace headrace
