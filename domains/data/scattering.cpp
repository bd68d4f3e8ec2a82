// domains/data/scattering.cpp - joins elements that units wrote anywhere, each one once: see
// joining.hpp.
//
// Every private replica begins as a copy of the domain. Elements that differ from this copy were
// written. The host replica holds the copy meanwhile, so no device needs a second one. Devices that reach
// each other join theirs over the link: linked_replicas.hpp. The host joins what comes from these, and from
// all others, piece by piece. Several threads compare a piece in blocks, so that a block of all replicas
// stays in a cache.
#include "data/linked_devices.hpp"
#include "data/linked_replicas.hpp"
#include "data/replica_reader.hpp"
#include <headrace/core/controller.hpp>
#include <headrace/core/detail/submission.hpp>
#include <headrace/domains/detail/joining.hpp>
#include <headrace/domains/domain.hpp>
#include <headrace/internal/core/changes.hpp>

#include <oneapi/tbb/blocked_range.h>
#include <oneapi/tbb/info.h>
#include <oneapi/tbb/parallel_for.h>
#include <oneapi/tbb/task_arena.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <memory>
#include <vector>

namespace headrace {
namespace {

constexpr Bytes bytes_of_piece = Bytes{4} << 20, bytes_of_block = Bytes{64} << 10;
constexpr int joining_threads = 8;

/// Replicas of devices that are linked with each other.
using Group = std::vector<const Replica*>;

std::vector<Group> groups_of(std::span<const Replica* const> replicas) {
    LinkedDevices linked;
    std::vector<Group> groups;
    for (const Replica* const replica : replicas) {
        const std::size_t group = linked.add(*replica->device);
        if (group == groups.size()) groups.emplace_back();
        groups[group].push_back(replica);
    }
    return groups;
}

/// What several devices have scattered, in pieces.
class Pieces {
public:
    struct Range {
        Bytes begin, bytes;
    };

    /// `before`: the domain as it was, on the host. Of a piece, it stays until the piece is read.
    Pieces(std::span<const Replica* const> replicas, const std::byte* before, Bytes bytes, Bytes element)
        : before_(before), bytes_(bytes), piece_(std::max(bytes_of_piece / element, Bytes{1}) * element) {
        for (const Group& group : groups_of(replicas)) include(group, element);
    }
    /// From here on, contents of replicas may be mixed.
    void start() {
        for (const auto& replica : alone_) fetch(*replica, 0);
        for (const auto& group : linked_)
            for (std::size_t number = 0; number + 1 < group->ahead(); ++number) fetch(*group, number);
    }

    [[nodiscard]] std::size_t sources() const noexcept { return alone_.size() + linked_.size(); }
    [[nodiscard]] std::size_t count() const noexcept { return (bytes_ + piece_ - 1) / piece_; }
    [[nodiscard]] Range range(std::size_t number) const noexcept {
        const Bytes begin = number * piece_;
        return {begin, std::min(piece_, bytes_ - begin)};
    }
    /// The piece, from each source. The pieces are read in their order. Blocks. Errors: a device's.
    [[nodiscard]] std::vector<const std::byte*> read(std::size_t number) {
        for (const auto& replica : alone_) fetch(*replica, number + 1);
        for (const auto& group : linked_) fetch(*group, number + group->ahead() - 1);
        const auto [begin, bytes] = range(number);
        std::vector<const std::byte*> pieces;
        for (const auto& replica : alone_) pieces.push_back(replica->read(number, {begin, bytes}).first);
        for (const auto& group : linked_) pieces.push_back(group->read(number));
        return pieces;
    }
    /// The least element that linked devices have changed differently, or `no_conflict`. Blocks.
    [[nodiscard]] std::uint64_t conflict() const {
        std::uint64_t least = no_conflict;
        for (const auto& group : linked_) least = std::min(least, group->conflict());
        return least;
    }

private:
    /// The host joins small domains: a kernel and its buffers cost more there. It joins, too, where a device
    /// has no room for pieces.
    void include(const Group& group, Bytes element) {
        if (group.size() > 1 && bytes_ > group.size() * piece_) try {
                linked_.push_back(std::make_unique<LinkedReplicas>(group, piece_, element));
                return;
            } catch (const Error& error) {
                if (error.kind() != ErrorKind::out_of_memory) throw;
            }
        for (const Replica* const replica : group)
            alone_.push_back(std::make_unique<ReplicaReader>(*replica, std::min(piece_, bytes_)));
    }
    void fetch(ReplicaReader& replica, std::size_t number) const {
        if (number >= count()) return;
        const auto [begin, bytes] = range(number);
        replica.fetch(number, {begin, bytes});
    }
    void fetch(LinkedReplicas& group, std::size_t number) const {
        if (number >= count()) return;
        const auto [begin, bytes] = range(number);
        group.fetch(number, begin, bytes, before_ + begin);
    }

    const std::byte* const before_;
    const Bytes bytes_, piece_;
    std::vector<std::unique_ptr<ReplicaReader>> alone_;
    std::vector<std::unique_ptr<LinkedReplicas>> linked_;
};

class ScatterJoining final : public Joining {
public:
    [[nodiscard]] std::string_view declaration() const noexcept override { return "scatters"; }
    [[nodiscard]] std::string_view view() const noexcept override { return "scatter"; }

    [[nodiscard]] Event begin(DomainData& data, Memory& replica, Stream& stream) const override {
        Storage& storage = data.storage();
        if (unwritten_parts(storage.tile()) == std::vector{storage.tile()})
            return stream.fill_zero(replica, 0, replica.size());
        const Event gathered = gather(storage.tile());
        std::vector<Event> written{
            stream.copy_in(replica, 0, storage.host(), replica.size(), {&gathered, 1})};
        for (const Tile& part : unwritten_parts(storage.tile()))
            written.push_back(stream.fill_zero(replica, part.begin(), part.size()));
        return written.back(); // streams are in order
    }

    void join(DomainData& data, const JoinedReplicas& joined, bool& is_mixed) const override {
        const Bytes bytes = data.bytes(), element = data.element_size();
        if (joined.is_blank) write_unwritten(data, joined.on_host, 0, bytes);
        std::vector<std::byte>& base = data.base();
        if (joined.others_stay && base.empty())
            base.assign(joined.on_host, joined.on_host + bytes); // for the comparison in later joins
        Pieces pieces(joined.replicas, base.empty() ? joined.on_host : base.data(), bytes, element);
        is_mixed = true; // from here on some elements may be joined and others not
        pieces.start();
        const bool is_only_one = pieces.sources() == 1 && base.empty();
        const Bytes block = std::max(bytes_of_block / element, Bytes{1}) * element;
        std::atomic<std::uint64_t> conflict = no_conflict;
        // A separate arena: a thread that waits for a piece then starts no other work of the caller.
        tbb::task_arena arena(std::min(joining_threads, tbb::info::default_concurrency()));
        for (std::size_t number = 0; number < pieces.count(); ++number) {
            const std::vector<const std::byte*> sources = pieces.read(number);
            const Pieces::Range at = pieces.range(number);
            std::byte* const on_host = joined.on_host + at.begin;
            const auto join_blocks = [&](const tbb::blocked_range<Bytes>& blocks) {
                std::vector<std::byte> copy(is_only_one || !base.empty() ? 0 : block);
                for (Bytes one = blocks.begin(); one < blocks.end(); ++one) {
                    const Bytes begin = one * block, end = std::min(begin + block, at.bytes);
                    if (is_only_one) { // elements that it has not written equal the replica
                        std::memcpy(on_host + begin, sources[0] + begin, end - begin);
                        continue;
                    }
                    const std::byte* before = base.data() + at.begin + begin;
                    if (!copy.empty()) {
                        std::memcpy(copy.data(), on_host + begin, end - begin);
                        before = copy.data();
                    }
                    for (const std::byte* const source : sources) {
                        const std::uint64_t found =
                            take_changes(on_host + begin, source + begin, before, end - begin, element);
                        if (found != no_conflict) note(conflict, (at.begin + begin) / element + found);
                    }
                }
            };
            arena.execute([&] {
                tbb::parallel_for(tbb::blocked_range<Bytes>(0, (at.bytes + block - 1) / block), join_blocks);
            });
        }
        note(conflict, pieces.conflict());
        if (const std::uint64_t at = conflict; at != no_conflict)
            throw Error{ErrorKind::invalid_argument,
                        "two devices wrote element " + std::to_string(at) + " of domain '" + data.name() +
                            "' differently: of a domain under scatters(), each element is for one unit to "
                            "write"};
    }

private:
    /// Keeps the smallest index. relaxed: it is read after all threads have ended.
    static void note(std::atomic<std::uint64_t>& least, std::uint64_t index) {
        std::uint64_t known = least.load(std::memory_order_relaxed);
        while (index < known && !least.compare_exchange_weak(known, index, std::memory_order_relaxed)) {
        }
    }
};

} // namespace

const Joining& joins_scattered() noexcept {
    static const ScatterJoining joining;
    return joining;
}

} // namespace headrace
