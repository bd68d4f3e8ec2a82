// domains/data/replica_reader.cpp - see replica_reader.hpp.
#include "data/replica_reader.hpp"
#include <headrace/core/controller.hpp>

#include <cstring>

namespace headrace {

bool is_in_place(const Device& device, const Memory& memory) {
    const DeviceInfo& info = device.info();
    return info.kind == DeviceKind::cpu && info.shares_host_memory && memory.address() != nullptr;
}

ReplicaReader::ReplicaReader(const Replica& replica, Bytes most)
    : memory_(*replica.memory), ready_(replica.ready) {
    Device& device = *replica.device;
    if (is_in_place(device, memory_)) return;
    stream_ = device.make_stream();
    for (Buffer& buffer : buffers_) buffer.bytes = device.allocate_host(most);
}

ReplicaReader::~ReplicaReader() {
    for (const Buffer& buffer : buffers_) static_cast<void>(buffer.came.outcome()); // `read` reported them
}

void ReplicaReader::fetch(std::size_t number, const Piece& piece) {
    if (!stream_) return;
    Buffer& buffer = buffers_[number % 2];
    auto* const to = static_cast<std::byte*>(buffer.bytes.get());
    if (piece.rows == 1 || piece.pitch == piece.row_bytes) {
        buffer.came = stream_->copy_out(to, memory_, piece.begin, piece.bytes(), {&ready_, 1});
        return;
    }
    std::vector<Event> rows;
    for (Bytes row = 0; row < piece.rows; ++row)
        rows.push_back(stream_->copy_out(to + row * piece.row_bytes, memory_, piece.begin + row * piece.pitch,
                                         piece.row_bytes, {&ready_, 1}));
    buffer.came = Event::all(rows);
}

ReplicaReader::Rows ReplicaReader::read(std::size_t number, const Piece& piece) const {
    if (!stream_) {
        ready_.wait();
        return {static_cast<const std::byte*>(memory_.address()) + piece.begin, piece.pitch};
    }
    const Buffer& buffer = buffers_[number % 2];
    buffer.came.wait();
    return {static_cast<const std::byte*>(buffer.bytes.get()), piece.row_bytes};
}

ReplicaCopier::ReplicaCopier(const Replica& replica) : replica_(&replica) {
    if (!is_in_place(*replica.device, *replica.memory)) stream_ = replica.device->make_stream();
}

Event ReplicaCopier::copy_out(void* to, Bytes begin, Bytes bytes) const {
    const Event& ready = replica_->ready;
    if (stream_) return stream_->copy_out(to, *replica_->memory, begin, bytes, {&ready, 1});
    if (!ready.outcome())
        std::memcpy(to, static_cast<const std::byte*>(replica_->memory->address()) + begin, bytes);
    return ready;
}

std::vector<std::byte> contents_of(const Replica& replica, Bytes bytes) {
    std::vector<std::byte> contents(bytes);
    ReplicaCopier(replica).copy_out(contents.data(), 0, bytes).wait();
    return contents;
}

} // namespace headrace
