// domains/domain.cpp - see domain.hpp.
#include <headrace/core/submission.hpp>
#include <headrace/domains/domain.hpp>
#include <headrace/domains/summation.hpp>

#include <algorithm>
#include <cstring>
#include <limits>
#include <optional>
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

DomainData::DomainData(std::string name, Extent extent, Bytes element_size, Numbers numbers, void* borrowed)
    : storage_(name, checked_size(name, extent, element_size), borrowed),
      extent_(extent),
      element_size_(element_size),
      numbers_(numbers) {}

DomainData::DomainData(std::string name, Extent extent, Bytes element_size, Numbers numbers,
                       std::shared_ptr<void> host)
    : storage_(name, checked_size(name, extent, element_size), std::move(host)),
      extent_(extent),
      element_size_(element_size),
      numbers_(numbers) {}

DomainData::Accumulator DomainData::accumulator(Controller& controller, Stream& stream) {
    {
        const std::scoped_lock lock(mutex_);
        for (const Replica& replica : replicas_)
            if (replica.controller == &controller) return {replica.memory.get(), replica.zeroed};
    }
    // Without the lock: other devices make theirs at the same time.
    Replica replica{&controller, controller.device().allocate(storage_.bytes()), {}};
    replica.zeroed = stream.fill_zero(*replica.memory, 0, storage_.bytes());
    const Accumulator made{replica.memory.get(), replica.zeroed};
    const std::scoped_lock lock(mutex_);
    replicas_.push_back(std::move(replica));
    return made;
}

void DomainData::reduce() {
    const std::scoped_lock lock(mutex_);
    if (lost_) throw Error{*lost_};
    if (replicas_.empty()) return;
    auto* sums = static_cast<std::byte*>(storage_.host());
    const std::vector<Tile> unwritten = unwritten_parts(storage_.tile());
    const bool from_zero = unwritten == std::vector{storage_.tile()};
    if (!from_zero) {
        take_to_host(storage_.tile());
        for (const Tile& part : unwritten) // where sums start from zero
            std::memset(sums + part.begin(), 0, part.size());
    }
    std::optional<Summation> summation(std::in_place, storage_.bytes(), element_size_, numbers_);
    try {
        for (const Replica& replica : replicas_)
            summation->include(replica.controller->device(), *replica.memory, replica.zeroed);
        summation->into(sums, from_zero);
    } catch (...) {
        const bool are_mixed = summation->has_mixed();
        summation.reset();
        if (are_mixed) {
            lost_ = current_error();
            replicas_.clear();
        }
        throw;
    }
    summation.reset();
    host_wrote(storage_.tile());
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

void DomainData::used_by(const Event& end, Access access) {
    const std::scoped_lock lock(mutex_);
    std::erase_if(users_, [](const User& user) { return user.end.done(); });
    users_.push_back({end, writes(access)});
}

void DomainData::wait_for_users(bool also_readers) {
    std::vector<User> users;
    {
        const std::scoped_lock lock(mutex_);
        users = users_;
    }
    for (const User& user : users) // what one failed with is for its handle to tell
        if (also_readers || user.writes) static_cast<void>(user.end.outcome());
}

void* DomainData::gather() {
    wait_for_users(false);
    reduce();
    headrace::gather(storage_.tile()).wait();
    return storage_.host();
}

void* DomainData::fill() {
    wait_for_users(true);
    {
        const std::scoped_lock lock(mutex_);
        if (std::exchange(lost_, {})) replicas_.clear();
    }
    reduce();
    take_to_host(storage_.tile());
    return storage_.host();
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
