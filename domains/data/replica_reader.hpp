// domains/data/replica_reader.hpp - one device's replica, as the host reads it piece by piece. Private to
// domains/.
#pragma once
#include <headrace/core/export.hpp>
#include <headrace/domains/detail/joining.hpp>

#include <array>
#include <cstddef>
#include <memory>
#include <vector>

namespace headrace {

/// While one piece is looked at, the next one moves. A replica in a processor's memory is read where it is.
///
/// Threads: one at a time; what `read` returned is for all. The replica stays until it is destroyed.
class HEADRACE_EXPORT ReplicaReader {
public:
    /// Rows of equal size, as far apart as `pitch` says.
    struct Piece {
        Bytes begin, row_bytes, rows = 1, pitch = 0;
        [[nodiscard]] Bytes bytes() const noexcept { return rows * row_bytes; }
    };
    /// The same, on the host.
    struct Rows {
        const std::byte* first;
        Bytes pitch;
    };

    /// `most`: bytes of the largest piece.
    ReplicaReader(const Replica& replica, Bytes most);
    ~ReplicaReader();
    ReplicaReader(const ReplicaReader&) = delete; // copies go to its buffers
    ReplicaReader& operator=(const ReplicaReader&) = delete;

    /// Piece `number`, which is to be read next, or next but one.
    void fetch(std::size_t number, const Piece& piece);
    /// Blocks until the piece is there. It stays until the next but one is fetched. Errors: the device's.
    [[nodiscard]] Rows read(std::size_t number, const Piece& piece) const;

private:
    struct Buffer {
        std::shared_ptr<void> bytes;
        Event came;
    };
    const Memory& memory_;
    const Event ready_;
    std::array<Buffer, 2> buffers_;
    std::unique_ptr<Stream> stream_; ///< null: the host reads the memory where it is
};

/// The first `bytes` of a replica, in one piece. Blocks. Errors: the device's.
[[nodiscard]] std::vector<std::byte> contents_of(const Replica& replica, Bytes bytes);

/// True if the host reads what this device has in `memory` where it is.
[[nodiscard]] bool is_in_place(const Device& device, const Memory& memory);

} // namespace headrace
