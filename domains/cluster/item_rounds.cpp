// domains/cluster/item_rounds.cpp - see item_rounds.hpp.
#include <headrace/internal/domains/cluster/item_rounds.hpp>

#include <algorithm>
#include <numeric>

namespace headrace::cluster {
namespace {

std::vector<double> speeds_of(std::span<const ItemPace> ranks) {
    double known = 0, of = 0;
    for (const ItemPace& rank : ranks) {
        if (rank.items_per_second <= 0) continue;
        known += rank.items_per_second;
        of += static_cast<double>(rank.at_once);
    }
    const double usual = of > 0 ? known / of : 1;
    std::vector<double> speeds;
    for (const ItemPace& rank : ranks)
        speeds.push_back(rank.items_per_second > 0 ? rank.items_per_second
                                                   : usual * static_cast<double>(rank.at_once));
    return speeds;
}

} // namespace

std::vector<std::uint64_t> items_of_round(std::span<const ItemPace> ranks,
                                          std::optional<std::uint64_t> left) {
    std::uint64_t all = 0;
    for (const ItemPace& rank : ranks) all += rank.at_once;
    if (left) all = std::min(all, *left);
    const std::vector<double> speeds = speeds_of(ranks);
    const double sum = std::accumulate(speeds.begin(), speeds.end(), 0.0);
    std::vector<std::uint64_t> items;
    // The end of each block is rounded, so the sum is exact.
    double up_to = 0;
    std::uint64_t begin = 0;
    for (const double speed : speeds) {
        up_to += speed;
        const auto end =
            std::clamp(static_cast<std::uint64_t>(static_cast<double>(all) * up_to / sum + 0.5), begin, all);
        items.push_back(end - begin);
        begin = end;
    }
    items.back() += all - begin;
    for (std::size_t rank = 0; rank < items.size(); ++rank)
        items[rank] = std::min(items[rank], ranks[rank].most);
    return items;
}

} // namespace headrace::cluster
