// domains/cluster/ended_ranks.cpp - see ended_ranks.hpp.
#include <headrace/internal/domains/cluster/ended_ranks.hpp>

#include <fmt/format.h>

namespace headrace::cluster {

bool EndedRanks::has_failed(int rank) const {
    const auto found = why_.find(rank);
    return found != why_.end() && found->second;
}

Error EndedRanks::error_of(int rank, const std::vector<std::string>& hosts) const {
    const std::string name =
        fmt::format("rank {}{}", rank, hosts.empty() ? "" : " on " + hosts[static_cast<std::size_t>(rank)]);
    if (!has_failed(rank)) return Error(ErrorKind::device, name + " has ended, and its results are missing");
    const Error& why = *why_.at(rank);
    return Error(why.kind(), name + " has ended: " + why.what());
}

} // namespace headrace::cluster
