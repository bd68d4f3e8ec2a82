// domains/data/scattering.cpp - joins elements that units wrote anywhere, each one once: see
// joining.hpp.
//
// Every private replica begins as a copy of the domain. Elements that differ from this copy were
// written. The host replica holds the copy meanwhile, so no device needs a second one. Replicas come to
// the host in pieces, two of each device at a time: while one is compared, the next one moves. Several
// threads compare a piece in blocks, so that a block of all replicas stays in a cache.
#include "data/replica_reader.hpp"
#include <headrace/core/controller.hpp>
#include <headrace/core/detail/submission.hpp>
#include <headrace/domains/detail/joining.hpp>
#include <headrace/domains/domain.hpp>

#include <oneapi/tbb/blocked_range.h>
#include <oneapi/tbb/info.h>
#include <oneapi/tbb/parallel_for.h>
#include <oneapi/tbb/task_arena.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <limits>
#include <memory>
#include <vector>

namespace headrace {
namespace {

constexpr Bytes bytes_of_piece = Bytes{4} << 20, bytes_of_block = Bytes{64} << 10;
constexpr int joining_threads = 8;

constexpr std::uint64_t none = std::numeric_limits<std::uint64_t>::max();

/// Elements that differ from `before` replace those of `on_host`. Returns the first element for which
/// another replica has a different new value, or `none`. `Size` 0: the size is known only at run time.
template <Bytes Size>
std::uint64_t take_up(std::byte* on_host, const std::byte* before, const std::byte* replica, Bytes bytes,
                      Bytes element) {
    const Bytes size = Size == 0 ? element : Size;
    std::uint64_t conflict = none;
    for (Bytes at = 0; at < bytes; at += size) {
        if (std::memcmp(replica + at, before + at, size) == 0) continue;
        if (std::memcmp(on_host + at, before + at, size) != 0 &&
            std::memcmp(on_host + at, replica + at, size) != 0)
            conflict = std::min<std::uint64_t>(conflict, at / size);
        std::memcpy(on_host + at, replica + at, size);
    }
    return conflict;
}

using TakeUp = std::uint64_t (*)(std::byte*, const std::byte*, const std::byte*, Bytes, Bytes);
TakeUp take_up_of(Bytes element) {
    switch (element) {
    case 1:
        return take_up<1>;
    case 2:
        return take_up<2>;
    case 4:
        return take_up<4>;
    case 8:
        return take_up<8>;
    case 16:
        return take_up<16>;
    default:
        return take_up<0>;
    }
}

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
        const Bytes piece = std::max(bytes_of_piece / element, Bytes{1}) * element;
        if (joined.others_stay && data.base().empty())
            data.base().assign(joined.on_host,
                               joined.on_host + bytes); // for the comparison in later joins
        const auto piece_at = [=](std::size_t number) {
            const Bytes begin = number * piece;
            return ReplicaReader::Piece{begin, std::min(piece, bytes - begin)};
        };
        std::vector<std::unique_ptr<ReplicaReader>> replicas;
        for (const Replica* const replica : joined.replicas)
            replicas.push_back(std::make_unique<ReplicaReader>(*replica, piece_at(0).bytes()));
        const auto fetch = [&](std::size_t number) {
            if (number * piece >= bytes) return;
            for (const auto& replica : replicas) replica->fetch(number, piece_at(number));
        };
        fetch(0);
        is_mixed = true; // from here on some elements may be joined and others not
        const bool is_only_one = replicas.size() == 1 && !joined.others_stay && data.base().empty();
        const Bytes block = std::max(bytes_of_block / element, Bytes{1}) * element;
        std::atomic<std::uint64_t> conflict = none;
        const TakeUp take_up = take_up_of(element);
        // A separate arena: a thread that waits for a piece then starts no other work of the caller.
        tbb::task_arena arena(std::min(joining_threads, tbb::info::default_concurrency()));
        std::vector<const std::byte*> sources(replicas.size());
        for (std::size_t number = 0; number * piece < bytes; ++number) {
            fetch(number + 1);
            const ReplicaReader::Piece at = piece_at(number);
            for (std::size_t i = 0; i < replicas.size(); ++i)
                sources[i] = replicas[i]->read(number, at).first;
            std::byte* const on_host = joined.on_host + at.begin;
            const auto join_blocks = [&](const tbb::blocked_range<Bytes>& blocks) {
                std::vector<std::byte> copy(is_only_one || !data.base().empty() ? 0 : block);
                for (Bytes one = blocks.begin(); one < blocks.end(); ++one) {
                    const Bytes begin = one * block, end = std::min(begin + block, at.bytes());
                    if (is_only_one) { // elements that it has not written equal the replica
                        std::memcpy(on_host + begin, sources[0] + begin, end - begin);
                        continue;
                    }
                    const std::byte* before = data.base().data() + at.begin + begin;
                    if (!copy.empty()) {
                        std::memcpy(copy.data(), on_host + begin, end - begin);
                        before = copy.data();
                    }
                    for (const std::byte* const source : sources) {
                        const std::uint64_t found =
                            take_up(on_host + begin, before, source + begin, end - begin, element);
                        if (found != none) note(conflict, (at.begin + begin) / element + found);
                    }
                }
            };
            arena.execute([&] {
                tbb::parallel_for(tbb::blocked_range<Bytes>(0, (at.bytes() + block - 1) / block),
                                  join_blocks);
            });
        }
        if (const std::uint64_t at = conflict; at != none)
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
