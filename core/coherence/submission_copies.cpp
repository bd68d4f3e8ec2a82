// core/coherence/submission_copies.cpp - the transfers of a submission: where they come from, how they are
// enqueued. A copy from device to device that must pass by the host goes in pieces: while one is on its way
// to the second device, the next one comes from the first, so that both directions of both buses are in use.
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

/// Of a copy through the host. Some eight pieces, so that little is left over at both ends; none so small
/// that enqueueing and bridging it, some tens of microseconds, shows beside it, and none larger than needed.
constexpr Bytes piece_size(Bytes size) {
    constexpr Bytes page = 4096;
    return std::clamp(size / 8 / page * page, smallest_piece, largest_piece);
}

} // namespace

void Submission::copy(Storage& storage, Storage::Stretch& stretch, Move move) {
    Replicas& replicas = stretch.replicas;
    const EventSlotPtr& producer = replicas.producer(move.from);

    // Neighbours that one request made, and that go the same way, go in one copy. A stretch takes two at
    // most.
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
        const auto memory = [&](Image image) {
            return image == host_image ? nullptr : storage.holder(image).memory.get();
        };
        const auto begin = [&](Image image) { return image == host_image ? 0 : storage.holder(image).begin; };
        const Image owner = move.to == host_image ? move.from : move.to;
        same = &copies_.emplace_back(Copy{&storage, move, stretch.begin, stretch.end, producer,
                                          Dependencies(&memory_), std::make_shared<EventSlot>(),
                                          storage.holder(owner).controller, memory(move.from),
                                          memory(move.to), begin(move.from), begin(move.to)});
    }
    Copy& copy = *same;
    // The second half of a way through the host goes with the first, piece by piece, and not after it.
    const auto first_half = std::ranges::find_if(latest, [&](const Copy& earlier) {
        return earlier.slot == producer && earlier.move.to == move.from;
    });
    if (first_half != latest.end()) {
        copy.first_half = first_half->slot;
        first_half->has_second_half = true;
    }

    std::pmr::vector<Request> requests(&memory_);
    if (move.to == host_image)
        requests = {{RequestKind::from_device, move.from}};
    else if (move.from == host_image)
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
    if (copy.first_half && pieces_of(copy.first_half).empty()) // it was one, or has failed
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
    const Bytes size = end - begin;
    Controller::TransferStream& way =
        copy.to == nullptr ? copy.controller->from_device_ : copy.controller->to_device_;
    way.bytes.fetch_add(size, std::memory_order_relaxed); // a statistic: nothing is ordered by it
    auto* const host = copy.to == nullptr || copy.from == nullptr
                           ? static_cast<std::byte*>(copy.storage->host()) + begin
                           : nullptr;
    const std::scoped_lock lock(way.mutex);
    Event event =
        copy.to == nullptr     ? way.stream->copy_out(host, *copy.from, begin - copy.from_begin, size, after)
        : copy.from == nullptr ? way.stream->copy_in(*copy.to, begin - copy.to_begin, host, size, after)
                               : way.stream->copy_peer(*copy.to, begin - copy.to_begin, *copy.from,
                                                       begin - copy.from_begin, size, after);
    if (Trace* const trace = Trace::recording()) // with the mutex: the order is the stream's
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
            // The one before on the same stream: no wait, but its failure is inherited, so that the last
            // event says how all went.
            std::vector<Event> all{last};
            if (begin == copy.begin) all.assign(after.begin(), after.end());
            for (const Piece& piece : before)
                if (piece.begin < end && begin < piece.end) all.push_back(piece.event);
            last = enqueue(copy, begin, end, all);
            copy.pieces.push_back({begin, end, last});
            begin = end;
        }
        return last;
    } catch (...) {          // what is under way already ends first
        copy.pieces.clear(); // a second half comes after the whole, and fails with it
        return Event::all(std::array{last.order_only(), Event::failed(current_error())});
    }
}

} // namespace headrace
