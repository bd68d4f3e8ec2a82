// domains/cluster/traffic.cpp - see traffic.hpp.
#include <headrace/domains/cluster/traffic.hpp>
#include <headrace/internal/domains/cluster/current_node.hpp>

#include <array>
#include <cstddef>

namespace headrace::cluster {
namespace {

constexpr auto counts =
    std::array{&RankTraffic::work, &RankTraffic::results, &RankTraffic::exchanges, &RankTraffic::other};

} // namespace

std::vector<RankTraffic> collect_traffic() {
    const auto node = current_node();
    if (!node) return {};
    const RankTraffic mine = node->wire().sent();
    Writer message;
    for (const auto count : counts) message.put(mine.*count);
    message.put(mine.least_result_bytes);
    const std::vector<Message> all = node->wire().gather(message.take());
    std::vector<RankTraffic> ranks;
    for (std::size_t rank = 0; rank < all.size(); ++rank) {
        if (all[rank].empty()) continue; // lost
        RankTraffic& one = ranks.emplace_back();
        if (rank == 0) {
            one = node->wire().sent(); // with what it has sent while it waited for the others
        } else {
            Reader theirs(all[rank]);
            for (const auto count : counts) one.*count = theirs.get<MessageCount>();
            one.least_result_bytes = theirs.get<std::uint64_t>();
        }
        one.rank = static_cast<int>(rank);
        one.host = node->hosts()[rank];
    }
    return ranks;
}

} // namespace headrace::cluster
