// domains/data/summation.cpp - see summation.hpp.
#include "data/summation.hpp"

#include <oneapi/tbb/info.h>
#include <oneapi/tbb/parallel_for.h>
#include <oneapi/tbb/task_arena.h>

#include <algorithm>
#include <cstring>

namespace headrace {
namespace {

// Many pieces, so that shares are equal; but a request costs the host some microseconds.
constexpr std::size_t wanted_pieces = 64;
constexpr Bytes least_bytes = Bytes{1} << 20, most_bytes = Bytes{4} << 20; // of a piece
constexpr Bytes bytes_at_once = Bytes{64} << 10;                           // that a thread of the host takes
constexpr int summing_threads = 8; // they often wait; other work needs the cores

} // namespace

Summation::Summation(Bytes bytes, Bytes element, DomainData::Numbers numbers)
    : bytes_(bytes),
      element_(element),
      pieces_(std::max<std::size_t>(bytes / std::clamp(bytes / wanted_pieces, least_bytes, most_bytes), 1)),
      numbers_(numbers) {}

Summation::~Summation() {
    for (const Event& addition : additions_)
        static_cast<void>(addition.outcome()); // the caller has the error
}

void Summation::include(const Replica& replica) {
    const bool can_join = numbers_.type != NumberType::none;
    const std::size_t group = can_join ? linked_.add(*replica.device) : groups_.size();
    if (group == groups_.size()) groups_.emplace_back();
    groups_[group].push_back({.replica = &replica});
}

ReplicaReader::Piece Summation::piece(std::size_t number) const noexcept {
    const auto begin_of = [this](std::size_t one) { return one * (bytes_ / element_) / pieces_ * element_; };
    const Bytes begin = begin_of(number);
    return {begin, begin_of(number + 1) - begin};
}

/// Members of a group get shares of neighbouring pieces. The order goes through the shares of the largest
/// group side by side.
void Summation::divide() {
    const std::size_t shares = std::ranges::max_element(groups_, {}, &DeviceGroup::size)->size();
    const std::size_t longest = (pieces_ + shares - 1) / shares;
    for (std::size_t at = 0; at < longest; ++at)
        for (std::size_t share = 0; share < shares; ++share)
            if (const std::size_t one = share * pieces_ / shares + at; one < (share + 1) * pieces_ / shares)
                order_.push_back(one);
    Bytes most = 0;
    for (const std::size_t one : order_) most = std::max(most, piece(one).bytes());
    for (DeviceGroup& group : groups_) {
        for (const std::size_t one : order_) {
            std::size_t share = 0;
            while ((share + 1) * pieces_ / group.size() <= one) ++share;
            group[share].pieces.push_back(one);
        }
        for (Member& member : group) {
            if (member.pieces.empty()) continue;
            member.reader = std::make_unique<ReplicaReader>(*member.replica, most);
            if (group.size() > 1) member.stream = member.replica->device->make_stream();
        }
    }
}

/// Each member adds up its share in its own memory.
void Summation::add_up(DeviceGroup& group) {
    for (const Member& member : group) {
        if (member.pieces.empty()) continue;
        const Bytes begin = piece(member.pieces.front()).begin;
        const ReplicaReader::Piece last = piece(member.pieces.back());
        Event added = member.replica->ready;
        for (const Member& other : group) {
            if (&other == &member) continue;
            const Event both[] = {added, other.replica->ready};
            has_mixed_ = true;
            added = member.stream->add(*member.replica->memory, *other.replica->memory, begin,
                                       last.begin + last.bytes() - begin, numbers_.type, both);
            additions_.push_back(added);
        }
        member.reader->follow(added);
    }
}

void Summation::fetch(Member& member, std::size_t which) const {
    if (which < member.pieces.size()) member.reader->fetch(which, piece(member.pieces[which]));
}

/// The piece, from each group. Called in the order of pieces. Blocks.
std::vector<const std::byte*> Summation::read(std::size_t number) {
    std::vector<const std::byte*> sources;
    for (DeviceGroup& group : groups_) {
        Member& member = *std::ranges::find_if(group, [number](const Member& one) {
            return one.read < one.pieces.size() && one.pieces[one.read] == number;
        });
        fetch(member, member.read + 1);
        sources.push_back(member.reader->read(member.read++, piece(number)).first);
    }
    return sources;
}

void Summation::take_up(std::byte* sums, std::span<const std::byte* const> sources, Bytes bytes,
                        bool overwrite) const {
    const Bytes block = std::max(bytes_at_once / element_, Bytes{1}) * element_;
    tbb::parallel_for(Bytes{0}, (bytes + block - 1) / block, [&](Bytes one) {
        const Bytes begin = one * block, size = std::min(block, bytes - begin);
        for (const std::byte* const& source : sources)
            if (overwrite && &source == &sources.front())
                std::memcpy(sums + begin, source + begin, size);
            else
                numbers_.add(sums + begin, source + begin, size);
    });
}

void Summation::into(std::byte* sums, bool overwrite) {
    divide(); // first, while nothing is mixed: there may be no room
    for (DeviceGroup& group : groups_) add_up(group);
    for (DeviceGroup& group : groups_)
        for (Member& member : group) fetch(member, 0);
    // A separate arena: a thread that waits for a piece then starts no other work of the caller.
    tbb::task_arena arena(std::min(summing_threads, tbb::info::default_concurrency()));
    for (const std::size_t number : order_) {
        const std::vector<const std::byte*> sources = read(number);
        has_mixed_ = has_mixed_ || !overwrite;
        const ReplicaReader::Piece at = piece(number);
        arena.execute([&] { take_up(sums + at.begin, sources, at.bytes(), overwrite); });
    }
}

} // namespace headrace
