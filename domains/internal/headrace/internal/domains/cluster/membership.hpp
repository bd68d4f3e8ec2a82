// internal/domains/cluster/membership.hpp - which ranks work together, and how the loss of one becomes known:
// a state machine without threads. Internal to domains/.
//
// Neighbours in the tree send each other signs of life. A rank that misses them suspects the neighbour.
// Rank 0 alone decides. It tells all ranks which are lost, and the members that are left form a new tree: the
// next generation.
//
//     neighbour silent -> suspect -> rank 0: loss -> all ranks: next generation
//
// Rank 0 cannot be replaced. A rank that misses it tells the ranks below. These ask rank 0, because only the
// link may be down. Without an answer all end.
#pragma once
#include <headrace/core/export.hpp>
#include <headrace/internal/domains/cluster/message.hpp>
#include <headrace/internal/domains/cluster/neighbours.hpp>

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

namespace headrace::cluster {

/// The ranks of a cluster, as one rank knows them.
///
/// Threads   one at a time
class HEADRACE_EXPORT Membership {
public:
    using Clock = std::chrono::steady_clock;
    using Send = std::function<void(int rank, Message message)>;

    /// `name`: of this rank, for people.
    Membership(int rank, int ranks, std::string name, Send send, Clock::time_point now);

    /// The number of changes that this rank knows of.
    [[nodiscard]] std::uint32_t generation() const noexcept { return generation_; }
    [[nodiscard]] const std::vector<int>& members() const noexcept { return members_; } ///< ascending
    [[nodiscard]] const std::vector<int>& lost() const noexcept { return lost_; } ///< in order of their loss
    [[nodiscard]] bool is_member(int rank) const;
    [[nodiscard]] const Neighbours& neighbours() const noexcept { return neighbours_; }
    [[nodiscard]] bool is_leaf(int member) const; ///< no rank is below it

    /// Signs of life are sent eight times in this time.
    void send_signs_for(Clock::duration patience) { sent_for_ = patience; }
    /// A neighbour that is silent for so long is lost.
    void expect_signs_within(Clock::duration patience) { patience_ = patience; }
    [[nodiscard]] Clock::duration patience() const noexcept { return patience_; }
    [[nodiscard]] Clock::duration interval() const { return sent_for_ / signs_in_patience; }

    /// Any message has come from that rank.
    void heard(int rank, Clock::time_point now);
    /// Sends signs of life, and looks for neighbours that are silent. To be called at least once in
    /// `interval`.
    void look(Clock::time_point now);
    /// The transport or another rank takes that rank for lost. It may know that before this one does.
    void suspect(int rank, Clock::time_point now);
    /// What that rank says of the members, after the topic.
    void take(int from, Reader message, Clock::time_point now);

private:
    static constexpr int signs_in_patience = 8;

    void lose(int rank);
    void tell(int rank) const;
    void set_lost(std::vector<int> lost, std::uint32_t generation);
    [[nodiscard]] std::vector<int> watched() const; ///< neighbours

    const int rank_;
    const std::string name_;
    const Send send_;
    std::uint32_t generation_ = 0;
    std::vector<int> members_, lost_;
    Neighbours neighbours_;
    Clock::duration sent_for_, patience_;
    Clock::time_point sent_at_, looked_at_;
    std::map<int, Clock::time_point> heard_;     ///< of neighbours
    std::map<int, Clock::time_point> suspected_; ///< rank 0 has been told
};

} // namespace headrace::cluster
