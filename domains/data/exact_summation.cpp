// domains/data/exact_summation.cpp - see exact_summation.hpp.
//
// Planes come to the host in pieces: a run of each plane, for the same elements. Threads divide a piece, so
// no two threads add to one element, and the sums do not depend on the number of threads. Nor do they depend
// on the order of replicas, since every addition is exact.
#include "data/replica_reader.hpp"
#include <headrace/domains/detail/exact_summation.hpp>

#include <oneapi/tbb/info.h>
#include <oneapi/tbb/parallel_for.h>
#include <oneapi/tbb/task_arena.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <vector>

namespace headrace {
namespace {

constexpr Bytes bytes_of_planes = Bytes{16}
                                  << 20; // of a replica: a piece has up to 41 copies, each of them long
constexpr std::uint64_t block = 512;     // elements that a thread takes at once
constexpr int adding_threads = 8;        // they often wait for devices, and other work needs the cores

} // namespace

Bytes ExactSumJoining::replica_bytes(const DomainData& data, const DeviceInfo&) const {
    return words_ * stride_of(data.extent().size()) * sizeof(std::uint64_t);
}

Event ExactSumJoining::begin(DomainData&, Memory& replica, Stream& stream) const {
    return stream.fill_zero(replica, 0, replica.size());
}

void ExactSumJoining::join(DomainData& data, const JoinedReplicas& joined, bool& is_mixed) const {
    const std::uint64_t elements = data.extent().size(), stride = stride_of(elements);
    const std::uint64_t most =
        std::max(bytes_of_planes / sizeof(std::uint64_t) / words_ / block * block, block);
    const auto piece_at = [&](std::size_t number) {
        const std::uint64_t begin = number * most, end = std::min(begin + most, stride);
        return ReplicaReader::Piece{begin * sizeof(std::uint64_t), (end - begin) * sizeof(std::uint64_t),
                                    words_, stride * sizeof(std::uint64_t)};
    };
    std::vector<std::unique_ptr<ReplicaReader>> replicas;
    for (const Replica* const replica : joined.replicas)
        replicas.push_back(std::make_unique<ReplicaReader>(*replica, piece_at(0).bytes()));
    const auto fetch = [&](std::size_t number) {
        if (number * most >= elements) return;
        for (const auto& replica : replicas) replica->fetch(number, piece_at(number));
    };
    fetch(0);
    // A separate arena: a thread that waits for a piece then starts no other work of the caller.
    tbb::task_arena arena(std::min(adding_threads, tbb::info::default_concurrency()));
    for (std::size_t number = 0; number * most < elements; ++number) {
        fetch(number + 1);
        const std::uint64_t first = number * most, count = std::min(most, elements - first);
        std::vector<ReplicaReader::Rows> planes;
        for (const auto& replica : replicas) planes.push_back(replica->read(number, piece_at(number)));
        // From here on earlier contents include a part of the sums. If there were none, the join can be
        // repeated.
        is_mixed = !joined.is_blank;
        arena.execute([&] {
            tbb::parallel_for(std::uint64_t{0}, (count + block - 1) / block, [&](std::uint64_t one) {
                const std::uint64_t from = one * block, size = std::min(block, count - from);
                std::byte* const to = joined.on_host + (first + from) * data.element_size();
                if (joined.is_blank) std::memset(to, 0, size * data.element_size());
                for (const ReplicaReader::Rows& words : planes)
                    add_planes_(to, size, reinterpret_cast<const std::uint64_t*>(words.first) + from,
                                words.pitch / sizeof(std::uint64_t));
            });
        });
    }
}

} // namespace headrace
