// domains/data/linked_replicas.cpp - see linked_replicas.hpp.
#include "data/linked_replicas.hpp"
#include <headrace/core/pattern.hpp>
#include <headrace/internal/core/changes.hpp>

#include <algorithm>
#include <utility>

namespace headrace {

LinkedReplicas::LinkedReplicas(std::vector<const Replica*> members, Bytes most, Bytes element)
    : members_(std::move(members)), element_(element), buffers_(2 * members_.size()) {
    for (std::size_t i = 0; i < buffers_.size(); ++i) {
        Buffer& buffer = buffers_[i];
        buffer.member = members_[i % members_.size()];
        Device& device = *buffer.member->device;
        buffer.before = device.allocate(most);
        buffer.conflict = device.allocate(sizeof no_conflict);
        buffer.on_host = device.allocate_host(most);
        buffer.stream = device.make_stream();
    }
    for (Buffer& buffer : buffers_)
        buffer.came = buffer.stream->fill(*buffer.conflict, 0, sizeof no_conflict, Pattern(no_conflict));
}

LinkedReplicas::~LinkedReplicas() {
    for (const Buffer& buffer : buffers_) static_cast<void>(buffer.came.outcome()); // `read` reported them
}

void LinkedReplicas::fetch(std::size_t number, Bytes begin, Bytes bytes, const std::byte* before) {
    Buffer& buffer = buffers_[number % buffers_.size()];
    Memory& own = *buffer.member->memory;
    const Changes changes{*buffer.before, element_, *buffer.conflict};
    Event done = buffer.stream->copy_in(*buffer.before, 0, before, bytes, {&buffer.member->ready, 1});
    for (const Replica* const other : members_) {
        if (other == buffer.member) continue;
        const Event both[] = {done, other->ready};
        done = buffer.stream->take_changes(own, *other->memory, begin, bytes, changes, both);
    }
    buffer.came = buffer.stream->copy_out(buffer.on_host.get(), own, begin, bytes, {&done, 1});
}

const std::byte* LinkedReplicas::read(std::size_t number) const {
    const Buffer& buffer = buffers_[number % buffers_.size()];
    buffer.came.wait();
    return static_cast<const std::byte*>(buffer.on_host.get());
}

std::uint64_t LinkedReplicas::conflict() const {
    std::uint64_t least = no_conflict;
    for (const Buffer& buffer : buffers_) {
        std::uint64_t found = no_conflict;
        buffer.stream->copy_out(&found, *buffer.conflict, 0, sizeof found, {&buffer.came, 1}).wait();
        least = std::min(least, found);
    }
    return least;
}

} // namespace headrace
