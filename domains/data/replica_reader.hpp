// domains/data/replica_reader.hpp - reads the private replica of a device on the host, piece by piece.
// Internal to domains/.
#pragma once
#include <headrace/core/export.hpp>
#include <headrace/domains/detail/joining.hpp>

#include <array>
#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

namespace headrace {

/// While the host reads one piece, the next one moves. A replica in a processor's memory is read in place.
///
/// Threads: one at a time; any may use what `read` returned. The replica outlives this object.
class HEADRACE_EXPORT ReplicaReader {
public:
    /// Rows of equal size, `pitch` bytes apart.
    struct Piece {
        Bytes begin, row_bytes, rows = 1, pitch = 0;
        [[nodiscard]] Bytes bytes() const noexcept { return rows * row_bytes; }
    };
    /// The rows of a piece, on the host.
    struct Rows {
        const std::byte* first;
        Bytes pitch;
    };

    /// `most`: size of the largest piece in bytes.
    ReplicaReader(const Replica& replica, Bytes most);
    ~ReplicaReader();
    ReplicaReader(const ReplicaReader&) = delete; // copies go to its buffers
    ReplicaReader& operator=(const ReplicaReader&) = delete;

    /// What is fetched from here on is there after that event, and not yet with the replica's own.
    void follow(Event event) noexcept { ready_ = std::move(event); }
    /// Starts to fetch piece `number`, which is read next, or after the next one.
    void fetch(std::size_t number, const Piece& piece);
    /// Blocks until the piece has come. It stays until piece `number` + 2 is fetched. Errors: the device's.
    [[nodiscard]] Rows read(std::size_t number, const Piece& piece) const;

private:
    struct Buffer {
        std::shared_ptr<void> bytes;
        Event came;
    };
    const Memory& memory_;
    Event ready_;
    std::array<Buffer, 2> buffers_;
    std::unique_ptr<Stream> stream_; ///< null: the host reads the memory in place
};

/// Copies parts of a replica to the host. The caller's thread copies a processor's memory, since a stream
/// there is a thread.
///
/// Lifetime  the replica outlives it
class HEADRACE_EXPORT ReplicaCopier {
public:
    explicit ReplicaCopier(const Replica& replica);

    [[nodiscard]] Event copy_out(void* to, Bytes begin, Bytes bytes) const;

private:
    const Replica* replica_;
    std::unique_ptr<Stream> stream_; ///< null: the host reads the memory in place
};

/// The first `bytes` of a replica, in one piece. Blocks. Errors: the device's.
[[nodiscard]] std::vector<std::byte> contents_of(const Replica& replica, Bytes bytes);

/// True if the host can read this device's `memory` in place.
[[nodiscard]] bool is_in_place(const Device& device, const Memory& memory);

} // namespace headrace
