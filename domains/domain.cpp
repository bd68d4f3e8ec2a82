// domains/domain.cpp - see domain.hpp.
#include <headrace/core/submission.hpp>
#include <headrace/domains/domain.hpp>
#include <headrace/domains/summation.hpp>
#include <headrace/domains/task_scope.hpp>

#include <algorithm>
#include <cstring>
#include <limits>
#include <optional>
#include <ranges>
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
    Replica replica{&controller, controller.device().allocate(storage_.bytes()), {}, seals_};
    replica.zeroed = stream.fill_zero(*replica.memory, 0, storage_.bytes());
    const Accumulator made{replica.memory.get(), replica.zeroed};
    const std::scoped_lock lock(mutex_);
    replicas_.push_back(std::move(replica));
    is_to_be_reduced_ = true;
    return made;
}

void DomainData::reduce() {
    const std::scoped_lock lock(mutex_);
    add_up(nullptr);
}

ErrorPtr DomainData::lost() const {
    const std::scoped_lock lock(lost_mutex_);
    return lost_;
}

/// The replicas go when the sums are asked for: other jobs may still be adding to them.
void DomainData::lose(const ErrorPtr& error) {
    const std::scoped_lock lock(lost_mutex_);
    lost_ = error;
    is_to_be_reduced_ = true;
}

/// Of one controller, or of all; with the lock.
void DomainData::add_up(const Controller* only) {
    const auto is_meant = [=](const Replica& replica) { return !only || replica.controller == only; };
    if (const ErrorPtr error = lost()) {
        std::erase_if(replicas_, is_meant);
        if (only) return;
        lose({});
        is_to_be_reduced_ = false;
        return mark_failed(storage_.tile(), error);
    }
    if (only ? std::ranges::none_of(replicas_, is_meant) : !is_to_be_reduced_) return;
    if (replicas_.empty()) {
        zero_unwritten_parts();
        is_to_be_reduced_ = false;
        return;
    }
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
        for (const Replica& replica : replicas_ | std::views::filter(is_meant))
            summation->include(replica.controller->device(), *replica.memory, replica.zeroed);
        summation->into(sums, from_zero);
    } catch (...) {
        const bool are_mixed = summation->has_mixed();
        summation.reset();
        if (are_mixed) {
            lose(current_error());
            replicas_.clear();
        }
        throw;
    }
    summation.reset();
    host_wrote(storage_.tile());
    std::erase_if(replicas_, is_meant);
    if (!only) is_to_be_reduced_ = false;
}

/// Jobs were to add to these, and none has.
void DomainData::zero_unwritten_parts() {
    for (const Tile& part : unwritten_parts(storage_.tile())) {
        std::memset(static_cast<std::byte*>(storage_.host()) + part.begin(), 0, part.size());
        host_wrote(part);
    }
}

void DomainData::fail(IndexRange elements, Access access, const ErrorPtr& error) {
    if (access == Access::accumulate) {
        lose(error);
    } else if (writes(access) && !elements.empty()) {
        mark_failed(storage_.tile(elements.begin * element_size_, elements.end * element_size_), error);
    }
}

void DomainData::drop_replica(const Controller& controller, const ErrorPtr& error) {
    const std::scoped_lock lock(mutex_);
    std::erase_if(replicas_, [&](const Replica& replica) {
        if (replica.controller != &controller) return false;
        if (replica.made_at < seals_) lose(error);
        return true;
    });
}

/// Jobs that come now find sums that were added up, or wait for the lock before they add to any.
std::unique_lock<std::mutex> DomainData::lock_without_users(bool also_readers) {
    for (;;) {
        std::unique_lock lock(mutex_);
        std::vector<JobNodePtr> users;
        {
            const std::scoped_lock users_lock(users_mutex_);
            users = users_.unfinished(also_readers);
        }
        if (users.empty()) return lock;
        lock.unlock();
        for (const JobNodePtr& user : users) {
            const JobWait wait(user, "domain '" + name() + "' is asked for");
            static_cast<void>(user->end().outcome()); // what it failed with is for its handle to tell
        }
    }
}

void* DomainData::gather() {
    {
        const auto lock = lock_without_users(false);
        add_up(nullptr);
    }
    headrace::gather(storage_.tile()).wait();
    return storage_.host();
}

void* DomainData::fill() {
    {
        const auto lock = lock_without_users(true);
        try {
            add_up(nullptr);
        } catch (const Error&) {
            replicas_.clear();
            lose({});
            is_to_be_reduced_ = false;
        }
    }
    try {
        take_to_host(storage_.tile());
    } catch (const Error&) {
        host_wrote(storage_.tile()); // the failure is forgotten
    }
    return storage_.host();
}

void DomainData::forget(const Controller& controller) {
    const std::scoped_lock lock(mutex_); // of others kernels may still be adding to theirs
    add_up(&controller);
}

} // namespace headrace
