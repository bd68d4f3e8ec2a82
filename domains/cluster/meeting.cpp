// domains/cluster/meeting.cpp - see meeting.hpp.
#include "cluster/meeting.hpp"
#include <headrace/internal/domains/cluster/node.hpp>

#include <fmt/format.h>

#include <array>
#include <cstddef>
#include <cstdint>

#include <unistd.h>

namespace headrace::cluster {

std::string host_name() {
    std::array<char, 256> name{};
    if (::gethostname(name.data(), name.size() - 1) != 0) return "an unknown host";
    return name.data();
}

namespace {

std::string program_name() { return program_invocation_short_name; }

} // namespace

std::vector<std::string> meet_ranks(Node& node) {
    constexpr std::uint64_t byte_order = 0x0102030405060708;
    Writer mine;
    mine.put(byte_order).put(std::string(HEADRACE_VERSION)).put(program_name()).put(host_name());
    const std::vector<Message> all = node.exchange(mine.take());
    std::vector<std::string> hosts;
    std::string first;
    for (int rank = 0; rank < node.ranks(); ++rank) {
        Reader theirs(all[static_cast<std::size_t>(rank)]);
        if (theirs.get<std::uint64_t>() != byte_order)
            throw Error{ErrorKind::unsupported, fmt::format("rank {} has another byte order", rank)};
        if (const std::string version = theirs.text(); version != HEADRACE_VERSION)
            throw Error{ErrorKind::unsupported, fmt::format("rank {} has Headrace {}, and this rank has {}",
                                                            rank, version, HEADRACE_VERSION)};
        const std::string program = theirs.text();
        hosts.push_back(theirs.text());
        if (rank == 0) first = program;
        if (program != first)
            throw Error{ErrorKind::invalid_argument,
                        fmt::format("rank 0 on {} runs '{}' and rank {} on {} runs '{}': all ranks must run "
                                    "the same program",
                                    hosts[0], first, rank, hosts.back(), program)};
    }
    return hosts;
}

} // namespace headrace::cluster
