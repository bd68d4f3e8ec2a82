// core/coherence/submission_copies.cpp - the transfers of a submission: their sources, and how they are
// enqueued. A copy between devices through the host is divided into pieces. While one piece moves to the
// second device, the next piece comes from the first device. So the buses of both devices are used at once.
#include "control/starting.hpp"
#include <headrace/core/controller.hpp>
#include <headrace/core/detail/submission.hpp>
#include <headrace/core/trace.hpp>

#include <algorithm>
#include <array>
#include <ranges>
#include <utility>

namespace headrace {

namespace {

constexpr Bytes smallest_piece = Bytes{1} << 20, largest_piece = Bytes{8} << 20;

/// The size of the pieces of a copy through the host. About eight pieces, so that the part without overlap at
/// both ends is small. The minimum keeps the cost of a piece small: enqueueing and synchronising it takes
/// some tens of microseconds. The maximum avoids pieces that are larger than necessary.
constexpr Bytes piece_size(Bytes size) {
    constexpr Bytes page = 4096;
    return std::clamp(size / 8 / page * page, smallest_piece, largest_piece);
}

} // namespace

void Submission::copy(Storage& storage, Storage::Stretch& stretch, Move move) {
    Replicas& replicas = stretch.replicas;
    const EventSlotPtr& producer = replicas.producer(move.from);

    // Neighbouring stretches with the same producer and the same direction share one copy. A stretch needs
    // at most two copies.
    const auto extends = [&](const Copy& copy) {
        return copy.storage == &storage && copy.move == move && copy.end == stretch.begin &&
               copy.producer == producer;
    };
    const auto latest = copies_ | std::views::reverse | std::views::take(2);
    Copy* same = nullptr;
    if (const auto found = std::ranges::find_if(latest, extends); found != latest.end()) {
        same = &*found;
        same->end = stretch.end;
    } else {
        const auto memory = [&](ReplicaNumber replica) {
            return replica == host_replica ? nullptr : storage.holder(replica).memory.get();
        };
        const auto begin = [&](ReplicaNumber replica) {
            return replica == host_replica ? 0 : storage.holder(replica).begin;
        };
        const ReplicaNumber owner = move.to == host_replica ? move.from : move.to;
        same = &copies_.emplace_back(Copy{&storage, move, stretch.begin, stretch.end, producer,
                                          Dependencies(&memory_), std::make_shared<EventSlot>(),
                                          storage.holder(owner).controller, memory(move.from),
                                          memory(move.to), begin(move.from), begin(move.to)});
    }
    Copy& copy = *same;
    // The second half of a copy through the host overlaps with the first half, piece by piece.
    const auto first_half = std::ranges::find_if(latest, [&](const Copy& earlier) {
        return earlier.slot == producer && earlier.move.to == move.from;
    });
    if (first_half != latest.end()) {
        copy.first_half = first_half->slot;
        first_half->has_second_half = true;
    }

    std::pmr::vector<Request> requests(&memory_);
    if (move.to == host_replica)
        requests = {{RequestKind::from_device, move.from}};
    else if (move.from == host_replica)
        requests = {{RequestKind::to_device, move.to}};
    else
        requests = {{RequestKind::peer_out, move.from}, {RequestKind::peer_in, move.to}};
    for (const Request& request : requests) replicas.collect(request, copy.after);
    replicas.collect_producer(move.from, copy.after);
    if (copy.first_half) copy.after.remove(copy.first_half);
    for (const Request& request : requests) replicas.record(request, nullptr, copy.slot);
    replicas.copied_to(move.to, copy.slot);
}

void Submission::enqueue(Copy& copy) {
    if (copy.first_half && pieces_of(copy.first_half).empty()) // copied in one piece, or failed
        copy.after.add(copy.first_half, true);
    const std::pmr::vector<Event> after = copy.after.resolve();
    Event event = start_or_fail({}, after, [&](std::span<const Event> events) {
        const bool in_pieces = copy.first_half
                                   ? !pieces_of(copy.first_half).empty()
                                   : copy.has_second_half && copy.end - copy.begin > smallest_piece;
        return in_pieces ? enqueue_pieces(copy, events) : enqueue(copy, copy.begin, copy.end, events);
    });
    if (event.state() && event.state()->settled() && event.outcome()) copy.pieces.clear();
    copy.slot->publish(in_place(std::move(event), after, {}));
}

Event Submission::enqueue(const Copy& copy, Bytes begin, Bytes end, std::span<const Event> after) {
    copy.controller->check_process(); // the host may gather what another process had on a device
    const Bytes size = end - begin;
    Controller::TransferStream& way =
        copy.to == nullptr ? copy.controller->from_device_ : copy.controller->to_device_;
    way.bytes.fetch_add(size, std::memory_order_relaxed); // relaxed: a statistic that orders nothing
    auto* const host = copy.to == nullptr || copy.from == nullptr
                           ? static_cast<std::byte*>(copy.storage->host()) + begin
                           : nullptr;
    const std::scoped_lock lock(way.mutex);
    Event event =
        copy.to == nullptr     ? way.stream->copy_out(host, *copy.from, begin - copy.from_begin, size, after)
        : copy.from == nullptr ? way.stream->copy_in(*copy.to, begin - copy.to_begin, host, size, after)
                               : way.stream->copy_peer(*copy.to, begin - copy.to_begin, *copy.from,
                                                       begin - copy.from_begin, size, after);
    if (Trace* const trace = Trace::recording()) // with the mutex: in the order of the stream
        trace->add(
            {&way, copy.controller->device().info().id, copy.to == nullptr ? "from device" : "to device"},
            copy.storage->name(), event, after, {.bytes = size, .part_of = span_});
    return event;
}

std::span<const Submission::Piece> Submission::pieces_of(const EventSlotPtr& slot) const {
    const auto found = std::ranges::find(copies_, slot, &Copy::slot);
    return found == copies_.end() ? std::span<const Piece>{} : found->pieces;
}

Event Submission::enqueue_pieces(Copy& copy, std::span<const Event> after) {
    const std::span<const Piece> before =
        copy.first_half ? pieces_of(copy.first_half) : std::span<const Piece>{};
    const Bytes step = piece_size(copy.end - copy.begin);
    Event last;
    try {
        for (Bytes begin = copy.begin; begin < copy.end;) {
            const Bytes end = std::min(copy.end, begin + step);
            // The previous piece on the same stream needs no wait. Its failure is inherited, so the last
            // event has the outcome of all pieces.
            std::vector<Event> all{last};
            if (begin == copy.begin) all.assign(after.begin(), after.end());
            for (const Piece& piece : before)
                if (piece.begin < end && begin < piece.end) all.push_back(piece.event);
            last = enqueue(copy, begin, end, all);
            copy.pieces.push_back({begin, end, last});
            begin = end;
        }
        return last;
    } catch (...) {          // wait until the enqueued pieces have ended
        copy.pieces.clear(); // so a second half waits for the whole copy, and fails with it
        return Event::all(std::array{last.order_only(), Event::failed(current_error())});
    }
}

} // namespace headrace
