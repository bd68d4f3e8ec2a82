// domains/data/summation.cpp - see summation.hpp.
#include "data/summation.hpp"
#include "data/replica_reader.hpp"

#include <oneapi/tbb/info.h>
#include <oneapi/tbb/parallel_for.h>
#include <oneapi/tbb/task_arena.h>

#include <algorithm>
#include <cstring>

namespace headrace {
namespace {

constexpr Bytes piece_bytes = 1 << 20; // what a thread of the host takes at once
// A request costs the host some microseconds, and a stream has room for about 100 requests.
constexpr std::size_t least_of_copy = 4, most_copies = 32; // pieces; copies of a device
constexpr int most_threads = 8;                            // they often wait; other work needs the cores

} // namespace

Summation::~Summation() {
    for (const Event& request : requests_) static_cast<void>(request.outcome()); // the caller has the error
}

void Summation::include(Device& device, Memory& memory, const Event& ready) {
    const bool can_join = numbers_.type != NumberType::none;
    const std::size_t group = can_join ? linked_.add(device) : groups_.size();
    if (group == groups_.size()) groups_.emplace_back();
    // A device that adds up for others makes requests, so it needs a stream.
    const bool has_requests = !is_in_place(device, memory) || device.adds_from(device);
    groups_[group].members.push_back(
        {&device, &memory, has_requests ? device.make_stream() : nullptr, ready});
}

std::size_t Summation::pieces() const noexcept { return std::max<std::size_t>(bytes_ / piece_bytes, 1); }

Bytes Summation::begin_of(std::size_t piece) const noexcept {
    return piece * (bytes_ / element_) / pieces() * element_;
}

void Summation::choose_host_replica(DeviceGroup& group) const {
    group.came.resize(pieces());
    const Member& first = group.members.front();
    if (first.stream) {
        group.owner = first.device->allocate_host(bytes_);
        group.on_host = static_cast<const std::byte*>(group.owner.get());
    } else {
        group.on_host = static_cast<const std::byte*>(first.memory->address());
        std::ranges::fill(group.came, first.ready);
    }
}

/// Enqueues the work of the devices.
void Summation::share_out(DeviceGroup& group) {
    if (!group.owner) return;
    auto* const on_host = static_cast<std::byte*>(group.owner.get());
    const std::size_t shares = group.members.size();
    for (std::size_t mine = 0; mine < shares; ++mine) {
        const std::size_t first = mine * pieces() / shares, last = (mine + 1) * pieces() / shares;
        if (first == last) continue;
        const Member& member = group.members[mine];
        const Event added = add_up(group, member, begin_of(first), begin_of(last));
        const std::size_t of_copy = std::max(least_of_copy, (last - first + most_copies - 1) / most_copies);
        for (std::size_t piece = first; piece < last;) {
            const std::size_t next = std::min(piece + of_copy, last);
            const Bytes begin = begin_of(piece);
            const Event came = member.stream->copy_out(on_host + begin, *member.memory, begin,
                                                       begin_of(next) - begin, {&added, 1});
            requests_.push_back(came);
            for (; piece < next; ++piece) group.came[piece] = came;
        }
    }
}

/// Adds up these bytes in the member's memory.
Event Summation::add_up(const DeviceGroup& group, const Member& member, Bytes begin, Bytes end) {
    Event added = member.ready;
    for (const Member& other : group.members) {
        if (&other == &member) continue;
        const Event both[] = {added, other.ready};
        has_mixed_ = true;
        added = member.stream->add(*member.memory, *other.memory, begin, end - begin, numbers_.type, both);
        requests_.push_back(added);
    }
    return added;
}

void Summation::take_up(std::size_t piece, std::byte* sums, bool overwrite) const {
    const Bytes begin = begin_of(piece), size = begin_of(piece + 1) - begin;
    for (const DeviceGroup& group : groups_) {
        group.came[piece].wait();
        if (overwrite && &group == &groups_.front())
            std::memcpy(sums + begin, group.on_host + begin, size);
        else
            numbers_.add(sums + begin, group.on_host + begin, size);
    }
}

void Summation::into(std::byte* sums, bool overwrite) {
    for (DeviceGroup& group : groups_)
        choose_host_replica(group); // first, while nothing is mixed: there may be no room
    for (DeviceGroup& group : groups_) share_out(group);
    if (!overwrite)
        for (const DeviceGroup& group : groups_)
            for (const Event& event : group.came) event.wait();
    // A separate arena: a thread that waits for the last piece then starts no other work of the caller.
    tbb::task_arena arena(std::min(most_threads, tbb::info::default_concurrency()));
    arena.execute([&] {
        tbb::parallel_for(std::size_t{0}, pieces(),
                          [&](std::size_t piece) { take_up(piece, sums, overwrite); });
    });
}

} // namespace headrace
