// domains/cluster/membership.cpp - see membership.hpp.
#include <headrace/internal/domains/cluster/membership.hpp>

#include <algorithm>
#include <numeric>
#include <utility>

namespace headrace::cluster {
namespace {

/// Without a need for haste: a rank may be stopped by a debugger, or wait for its disk.
constexpr std::chrono::seconds usual_patience{30};

std::vector<int> first_ranks(int ranks) {
    std::vector<int> all(static_cast<std::size_t>(ranks));
    std::iota(all.begin(), all.end(), 0);
    return all;
}

int place_of(int rank, std::span<const int> members) {
    return static_cast<int>(std::ranges::lower_bound(members, rank) - members.begin());
}

} // namespace

std::string name_of_rank(int rank, const std::vector<std::string>& hosts) {
    const std::string name = "rank " + std::to_string(rank);
    return hosts.empty() ? name : name + " on " + hosts[static_cast<std::size_t>(rank)];
}

Neighbours Neighbours::of(int rank, std::span<const int> members, std::string name) {
    const auto size = static_cast<int>(members.size());
    const int at = place_of(rank, members);
    Neighbours neighbours{.name = std::move(name), .rank = rank};
    if (at > 0) neighbours.above = members[static_cast<std::size_t>((at - 1) / fan_out)];
    const int first = std::min(at * fan_out + 1, size), end = std::min(first + fan_out, size);
    const auto below =
        members.subspan(static_cast<std::size_t>(first), static_cast<std::size_t>(end - first));
    neighbours.below.assign(below.begin(), below.end());
    return neighbours;
}

bool Neighbours::is_leaf(int rank, std::span<const int> members) {
    return place_of(rank, members) * fan_out + 1 >= static_cast<int>(members.size());
}

Neighbours Neighbours::of(int rank, int ranks, std::string name) { // without a list: for many ranks
    Neighbours neighbours{
        .name = std::move(name), .rank = rank, .above = rank == 0 ? -1 : (rank - 1) / fan_out};
    for (int below = rank * fan_out + 1; below <= rank * fan_out + fan_out && below < ranks; ++below)
        neighbours.below.push_back(below);
    return neighbours;
}

Membership::Membership(int rank, int ranks, std::string name, Send send, Clock::time_point now)
    : rank_(rank),
      name_(std::move(name)),
      send_(std::move(send)),
      members_(first_ranks(ranks)),
      neighbours_(Neighbours::of(rank, members_, name_)),
      sent_for_(usual_patience),
      patience_(usual_patience),
      sent_at_(now),
      looked_at_(now) {}

bool Membership::is_member(int rank) const { return std::ranges::binary_search(members_, rank); }

std::vector<int> Membership::watched() const {
    std::vector<int> watched = neighbours_.below;
    if (neighbours_.above >= 0) watched.push_back(neighbours_.above);
    return watched;
}

bool Membership::is_leaf(int member) const { return Neighbours::is_leaf(member, members_); }

void Membership::heard(int rank, Clock::time_point now) {
    if (const auto found = heard_.find(rank); found != heard_.end()) found->second = now;
}

void Membership::look(Clock::time_point now) {
    const std::vector<int> watched = this->watched();
    if (now >= sent_at_ + interval()) {
        sent_at_ = now;
        for (const int rank : watched) send_(rank, Writer(Topic::alive).take());
    }
    // If this rank itself was stopped, it has not looked, and the silence is its own.
    const Clock::duration passed = now - std::exchange(looked_at_, now);
    if (passed > patience_ / 4)
        for (auto& [rank, at] : heard_) at += passed;
    std::vector<int> silent;
    for (const int rank : watched)
        if (now - heard_.try_emplace(rank, now).first->second > patience_) silent.push_back(rank);
    for (const int rank : silent) suspect(rank, now);
    // No answer: rank 0 is lost too, or cannot be reached.
    if (std::ranges::any_of(suspected_, [&](const auto& one) { return now - one.second > 2 * patience_; }))
        lose(0);
}

void Membership::suspect(int rank, Clock::time_point now) {
    if (!is_member(rank) || !is_member(rank_) || rank == rank_) return;
    if (rank_ == 0 || rank == 0) return lose(rank);
    if (suspected_.try_emplace(rank, now).second) send_(0, Writer(Topic::suspect).put(rank).take());
}

/// On rank 0, or of rank 0.
void Membership::lose(int rank) {
    if (!is_member(rank)) return;
    const std::vector<int> told = rank == 0 ? neighbours_.below : members_;
    std::vector<int> lost = lost_;
    lost.push_back(rank);
    set_lost(std::move(lost), generation_ + 1);
    for (const int member : told)
        if (member != rank_) tell(member); // also the lost one: it may only have been slow
}

void Membership::tell(int rank) const {
    Writer message(Topic::members);
    message.put(generation_).put<std::uint64_t>(lost_.size());
    for (const int lost : lost_) message.put(lost);
    send_(rank, message.take());
}

void Membership::take(int from, Reader message, Clock::time_point now) {
    const auto generation = message.get<std::uint32_t>();
    if (generation <= generation_) return;
    std::vector<int> lost;
    for (auto count = message.get<std::uint64_t>(); count > 0; --count) lost.push_back(message.get<int>());
    // If another rank says that rank 0 is lost, rank 0 may have lost that rank.
    if (std::ranges::find(lost, 0) != lost.end()) return suspect(from, now);
    set_lost(std::move(lost), generation);
}

void Membership::set_lost(std::vector<int> lost, std::uint32_t generation) {
    lost_ = std::move(lost);
    generation_ = generation;
    std::erase_if(members_, [this](int rank) { return std::ranges::find(lost_, rank) != lost_.end(); });
    // The tree has no root without rank 0, and no place for a rank that is lost. Both end.
    if (is_member(0) && is_member(rank_)) neighbours_ = Neighbours::of(rank_, members_, name_);
    heard_.clear();
    suspected_.clear();
}

} // namespace headrace::cluster
