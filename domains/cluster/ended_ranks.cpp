// domains/cluster/ended_ranks.cpp - see ended_ranks.hpp.
#include <headrace/internal/domains/cluster/ended_ranks.hpp>
#include <headrace/internal/domains/cluster/neighbours.hpp>

namespace headrace::cluster {

bool EndedRanks::has_failed(int rank) const {
    const auto found = why_.find(rank);
    return found != why_.end() && found->second;
}

Error EndedRanks::error_of(int rank, const std::vector<std::string>& hosts) const {
    const std::string name = name_of_rank(rank, hosts);
    if (!has_failed(rank)) return Error(ErrorKind::device, name + " has ended, and its results are missing");
    const Error& why = *why_.at(rank);
    return Error(why.kind(), name + " has ended: " + why.what());
}

} // namespace headrace::cluster
