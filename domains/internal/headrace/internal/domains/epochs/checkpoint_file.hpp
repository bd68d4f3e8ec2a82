// internal/domains/epochs/checkpoint_file.hpp - a snapshot in a file. Internal to domains/.
//
//     magic         8 bytes
//     format        4 bytes: a number that grows when this layout changes
//     byte order    4 bytes
//     size          8 bytes, of the whole file
//     text          Headrace's version
//     text          identity: EpochOptions::identity
//     text          spaces, so that the snapshot begins at a multiple of 8
//     units         8 + 8 bytes: those of the job
//     done          8 bytes: index of the first unit that is not done
//     bytes         of the snapshot
//     checksum      8 bytes, over all before
//
// A text, and bytes, begin with their length in 8 bytes. Numbers are as the processor has them.
#pragma once
#include <headrace/core/export.hpp>
#include <headrace/core/index_range.hpp>
#include <headrace/internal/domains/epochs/snapshot.hpp>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>

namespace headrace::epochs {

/// What a checkpoint belongs to.
struct Identity {
    std::string text; ///< lines "name: value"
    IndexRange units; ///< of the job
};

/// A change of any bits within 8 bytes, at a multiple of 8, changes it; others almost always do. `before`:
/// the checksum of the bytes before these, a multiple of 8 of them.
[[nodiscard]] HEADRACE_EXPORT std::uint64_t checksum(std::span<const std::byte> bytes,
                                                     std::uint64_t before = 0);

/// Writes a draft beside the file, waits until the disk has it, and then gives it the file's name: the file
/// is whole at any time, also with several writers. An earlier file's mode stays, and a link stays one.
/// Errors: io, with the reason; nothing is left behind then
HEADRACE_EXPORT void write_checkpoint(const std::filesystem::path& file, const Identity& identity,
                                      const Snapshot& snapshot);

/// Errors: not_found; io if it cannot be read; out_of_memory if it is larger than that; invalid_argument if
/// it is no whole checkpoint of that identity, with the reason and what to do
[[nodiscard]] HEADRACE_EXPORT Snapshot read_checkpoint(const std::filesystem::path& file,
                                                       const Identity& identity);

} // namespace headrace::epochs
