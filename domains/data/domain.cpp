// domains/data/domain.cpp - see domain.hpp.
#include "data/summation.hpp"
#include <headrace/core/detail/submission.hpp>
#include <headrace/domains/domain.hpp>
#include <headrace/internal/domains/task_scope.hpp>

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

DomainData::OwnReplica DomainData::replica(const Joining& joining, Controller& controller, Stream& stream) {
    {
        const std::scoped_lock lock(mutex_);
        for (const Replica& replica : replicas_)
            if (replica.controller == &controller) return {replica.memory.get(), replica.ready};
    }
    // Without the lock, because other devices make their replicas at the same time.
    Device& device = controller.device();
    Replica replica{
        &controller, &device, device.allocate(joining.replica_bytes(*this, device.info())), {}, seals_};
    replica.ready = joining.begin(*this, *replica.memory, stream);
    const OwnReplica made{replica.memory.get(), replica.ready};
    const std::scoped_lock lock(mutex_);
    replicas_.push_back(std::move(replica));
    joining_ = &joining;
    return made;
}

void DomainData::join() {
    const std::scoped_lock lock(mutex_);
    join(nullptr);
}

/// With the lock held.
bool DomainData::is_apart(const Joining* joining, bool is_shared) const {
    const Joining* const now = joining_;
    return now && (now != joining || is_of_ranks_ != is_shared);
}

bool DomainData::needs_join(const Joining* joining, bool is_shared) {
    if (pending_.lacks_parts()) return true;
    if (!joining && !joining_) return false; // usual, and without the lock
    const std::unique_lock lock(mutex_, std::try_to_lock);
    if (!lock || is_apart(joining, is_shared)) return true;
    if (joining) is_of_ranks_ = is_shared;
    return false;
}

void DomainData::join_before(const Joining* joining, bool is_shared) {
    const std::scoped_lock lock(mutex_);
    exchange_parts();
    if (is_apart(joining, is_shared)) join(nullptr);
    if (joining) is_of_ranks_ = is_shared;
}

/// Joins those of one controller, or all (`only` null). With the lock held.
void DomainData::join(const Controller* only) {
    if (!only) exchange_parts();
    const Joining* const joining = joining_;
    if (!joining) return;
    const auto is_meant = [=](const Replica& replica) { return !only || replica.controller == only; };
    std::vector<const Replica*> meant;
    for (const Replica& replica : replicas_ | std::views::filter(is_meant)) meant.push_back(&replica);
    const auto ranks = pending_.take_ranks();
    if (only && meant.empty() && !ranks) return;
    if (only && ranks) { // the other ranks may never join: so this one does not wait for them
        pending_.set_error(std::make_shared<const Error>(
            ErrorKind::cancelled, "domain '" + name() + "' was not asked for before its runtime went away"));
        std::erase_if(replicas_, is_meant);
        return;
    }
    const ErrorPtr error = pending_.error();
    if (ranks) {
        try {
            join_of_ranks(*joining, *ranks, meant, error);
        } catch (...) { // without the other ranks, this one's replicas are a part of the result
            pending_.set_error(current_error(ErrorKind::internal));
            replicas_.clear();
            throw;
        }
    } else if (!error) {
        join(*joining, meant);
    }
    std::erase_if(replicas_, is_meant);
    if (only) return;
    joining_ = nullptr;
    base_ = {};
    if (error) {
        pending_.set_error({});
        fail({0, extent_.size()}, error);
    }
}

void DomainData::join(const Joining& joining, std::span<const Replica* const> replicas) {
    for (const Replica* const replica : replicas)
        if (replica->controller) replica->controller->check_process();
    if (!joining.replaces_host_replica()) {
        expect_no_failure();
        return join_to_host(joining, replicas, false);
    }
    const std::vector<Tile> unwritten = unwritten_parts(storage_.tile());
    if (replicas.empty()) {
        write_unwritten(joining, unwritten); // jobs were to write to private replicas, and none did
        for (const Tile& part : unwritten) host_wrote(part);
        return set_written();
    }
    const bool is_blank = unwritten == std::vector{storage_.tile()};
    if (!is_blank) {
        take_to_host(storage_.tile());
        write_unwritten(joining, unwritten);
    }
    join_to_host(joining, replicas, is_blank);
    host_wrote(storage_.tile());
    set_written();
}

/// None of them writes the host replica any more.
void DomainData::wait_for_requests() {
    try {
        wait(storage_.tile());
    } catch (const Error&) { // an earlier failure: what follows replaces the contents
    }
}

/// With the lock held. After an error, readers get it until the data are written again.
void DomainData::exchange_parts() {
    if (!pending_.lacks_parts()) return;
    PendingJoin::Parts parts = pending_.take_parts();
    const auto tile_of = [this](IndexRange elements) {
        return storage_.tile(elements.begin * element_size_, elements.end * element_size_);
    };
    try {
        if (!parts.error)
            for (const IndexRange elements : parts.written) headrace::gather(tile_of(elements)).wait();
    } catch (...) {
        parts.error = current_error(ErrorKind::device);
    }
    wait_for_requests();
    try {
        for (const IndexRange elements : parts.ranks->exchange_parts(*this, parts.written, parts.error))
            host_wrote(tile_of(elements));
    } catch (...) {
        fail({0, extent_.size()}, current_error(ErrorKind::internal));
    }
    pending_.note_exchanged();
}

/// `replicas`: of this rank. If `error` is set, they do not hold what they should.
void DomainData::join_of_ranks(const Joining& joining, RankJoin& ranks, std::vector<const Replica*> replicas,
                               const ErrorPtr& error) {
    if (!ranks.is_first_rank()) {
        const RankJoin::Result result = ranks.exchange(*this, joining, replicas, error);
        wait_for_requests();
        std::ranges::copy(result.contents, static_cast<std::byte*>(storage_.host()));
        if (!result.contents.empty()) host_wrote(storage_.tile(0, result.contents.size()));
        records_ = result.records.value_or(no_records);
        return;
    }
    try {
        const std::vector<Replica> others = ranks.receive();
        if (error) throw Error{*error};
        for (const Replica& replica : others) replicas.push_back(&replica);
        join(joining, replicas);
        ranks.publish(result_of_join());
    } catch (...) {
        ranks.publish(*current_error(ErrorKind::internal));
        if (!error) throw;
    }
}

RankJoin::Result DomainData::result_of_join() {
    const Bytes bytes = filled() * element_size_;
    if (bytes > 0) headrace::gather(storage_.tile(0, bytes)).wait();
    const auto* const contents = static_cast<const std::byte*>(storage_.host());
    const std::uint64_t records = records_;
    return {{contents, contents + bytes}, records == no_records ? std::nullopt : std::optional(records)};
}

void DomainData::join_to_host(const Joining& joining, std::span<const Replica* const> replicas,
                              bool is_blank) {
    bool is_mixed = false;
    try {
        joining.join(*this,
                     {.replicas = replicas,
                      .on_host = static_cast<std::byte*>(storage_.host()),
                      .is_blank = is_blank,
                      .others_stay = replicas.size() < replicas_.size()},
                     is_mixed);
    } catch (...) {
        if (is_mixed) {
            pending_.set_error(current_error());
            replicas_.clear();
        }
        throw;
    }
}

void DomainData::write_unwritten(const Joining& joining, std::span<const Tile> parts) {
    for (const Tile& part : parts)
        joining.write_unwritten(*this, static_cast<std::byte*>(storage_.host()), part.begin(), part.end());
}

void DomainData::fail(IndexRange elements, const ErrorPtr& error) {
    if (elements.empty()) return;
    set_written(); // a reader of any element gets the error
    mark_failed(storage_.tile(elements.begin * element_size_, elements.end * element_size_), error);
}

void DomainData::fail_replicas(const Joining& joining, const ErrorPtr& error) {
    pending_.set_error(error);
    joining_ = &joining;
}

void DomainData::drop_replica(const Controller& controller, const ErrorPtr& error) {
    const std::scoped_lock lock(mutex_);
    std::erase_if(replicas_, [&](const Replica& replica) {
        if (replica.controller != &controller) return false;
        if (replica.made_at < seals_) pending_.set_error(error);
        return true;
    });
}

/// Jobs that start now find that the replicas are joined, or wait for the lock before they write to one.
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
            static_cast<void>(user->end().outcome()); // the job's handle reports its failure
        }
    }
}

void* DomainData::gather() {
    {
        const auto lock = lock_without_users(false);
        join(nullptr);
    }
    if (const Bytes bytes = filled() * element_size_; bytes != 0)
        headrace::gather(storage_.tile(0, bytes)).wait();
    return storage_.host();
}

void* DomainData::fill() {
    {
        const auto lock = lock_without_users(true);
        try {
            join(nullptr);
        } catch (const Error&) {
            forget_replicas();
        }
        set_written();
    }
    try {
        take_to_host(storage_.tile());
    } catch (const Error&) {
        host_wrote(storage_.tile()); // clears the failure
    }
    return storage_.host();
}

void DomainData::wait_and_join() {
    const auto lock = lock_without_users(false);
    join(nullptr);
    expect_no_failure();
}

std::uint64_t DomainData::count_records() {
    wait_and_join();
    return records();
}

std::span<const std::byte> DomainData::gather_records() {
    const Bytes bytes = count_records() * element_size_;
    if (bytes == 0) return {};
    headrace::gather(storage_.tile(0, bytes)).wait();
    return {static_cast<const std::byte*>(storage_.host()), bytes};
}

void DomainData::assign_records(const void* records, std::uint64_t count) {
    if (count > extent_.size())
        throw Error{ErrorKind::invalid_argument, "domain '" + name() + "' holds " +
                                                     std::to_string(extent_.size()) + " records, not " +
                                                     std::to_string(count)};
    const auto lock = lock_without_users(true);
    forget_replicas();
    try {
        wait(storage_.tile());
    } catch (const Error&) {
        host_wrote(storage_.tile()); // clears the failure
    }
    records_ = count;
    if (count == 0) return;
    std::memmove(storage_.host(), records, count * element_size_); // they may be in the host replica
    host_wrote(storage_.tile(0, count * element_size_));
}

std::span<std::byte> DomainData::take_records() {
    const auto lock = lock_without_users(true);
    join(nullptr);
    expect_no_failure();
    const Bytes bytes = records() * element_size_;
    if (bytes == 0) return {};
    take_to_host(storage_.tile(0, bytes));
    return {static_cast<std::byte*>(storage_.host()), bytes};
}

void DomainData::expect_no_failure() {
    if (const ErrorPtr error = failure_of(storage_.tile())) throw Error{*error};
}

void DomainData::forget_replicas() {
    pending_.forget();
    replicas_.clear();
    base_ = {};
    joining_ = nullptr;
}

void DomainData::forget(const Controller& controller) {
    const std::scoped_lock lock(mutex_); // kernels may still be writing to other replicas
    join(&controller);
}

} // namespace headrace
