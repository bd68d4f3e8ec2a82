// domains/data/summation.cpp - see summation.hpp.
#include "data/summation.hpp"

#include <oneapi/tbb/info.h>
#include <oneapi/tbb/parallel_for.h>
#include <oneapi/tbb/task_arena.h>

#include <algorithm>
#include <cstring>
#include <iterator>

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

Bytes Summation::begin_of(std::size_t piece) const noexcept {
    return piece * (bytes_ / element_) / pieces_ * element_;
}

ReplicaReader::Piece Summation::piece(std::size_t number) const noexcept {
    return {begin_of(number), begin_of(number + 1) - begin_of(number)};
}

/// Equal shares of the pieces.
IndexRange Summation::share_of(std::size_t number, std::size_t shares) const noexcept {
    return {number * pieces_ / shares, (number + 1) * pieces_ / shares};
}

/// The order goes through the shares of the largest group side by side. Shares of other groups then come in
/// any order.
void Summation::divide() {
    const std::size_t shares = std::ranges::max_element(groups_, {}, &DeviceGroup::size)->size();
    for (std::size_t at = 0; order_.size() < pieces_; ++at)
        for (std::size_t number = 0; number < shares; ++number)
            if (const IndexRange share = share_of(number, shares); at < share.size())
                order_.push_back(share.begin + at);
    Bytes most = 0;
    for (const std::size_t one : order_) most = std::max(most, piece(one).bytes());
    for (DeviceGroup& group : groups_)
        for (std::size_t number = 0; number < group.size(); ++number) {
            Member& member = group[number];
            member.share = share_of(number, group.size());
            if (member.share.empty()) continue;
            std::ranges::copy_if(order_, std::back_inserter(member.pieces), [&](std::size_t one) {
                return one >= member.share.begin && one < member.share.end;
            });
            member.reader = std::make_unique<ReplicaReader>(*member.replica, most);
            if (group.size() > 1) member.stream = member.replica->device->make_stream();
        }
}

/// Each member adds up its share in its own memory.
void Summation::add_up(DeviceGroup& group) {
    for (const Member& member : group) {
        if (member.share.empty()) continue;
        const Bytes begin = begin_of(member.share.begin), end = begin_of(member.share.end);
        Event added = member.replica->ready;
        for (const Member& other : group) {
            if (&other == &member) continue;
            const Event both[] = {added, other.replica->ready};
            has_mixed_ = true;
            added = member.stream->add(*member.replica->memory, *other.replica->memory, begin, end - begin,
                                       numbers_.type, both);
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
