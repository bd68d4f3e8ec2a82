// core/detail/changes.hpp - takes up what another replica has changed, on the host. Devices do it by
// Stream::take_changes.
#pragma once
#include <headrace/core/export.hpp>

#include <cstddef>
#include <cstdint>
#include <limits>

namespace headrace {

inline constexpr std::uint64_t no_conflict = std::numeric_limits<std::uint64_t>::max();

/// Elements of `from` that differ from those of `before` replace those of `to`. Returns the first element
/// that `to` had changed as well, into other bytes; or `no_conflict`.
///
/// `bytes`: size of each of the three, a multiple of `element`, the size of an element. Threads: any, for
/// ranges that do not overlap.
[[nodiscard]] HEADRACE_EXPORT std::uint64_t take_changes(std::byte* to, const std::byte* from,
                                                         const std::byte* before, std::size_t bytes,
                                                         std::size_t element);

} // namespace headrace
