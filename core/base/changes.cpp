// core/base/changes.cpp - see changes.hpp.
#include <headrace/internal/core/changes.hpp>

#include <algorithm>
#include <cstring>

namespace headrace {
namespace {

/// `Size` 0: the size is known only at run time.
template <std::size_t Size>
std::uint64_t take(std::byte* to, const std::byte* from, const std::byte* before, std::size_t bytes,
                   std::size_t element) {
    const std::size_t size = Size == 0 ? element : Size;
    std::uint64_t conflict = no_conflict;
    for (std::size_t at = 0; at < bytes; at += size) {
        if (std::memcmp(from + at, before + at, size) == 0) continue;
        if (std::memcmp(to + at, before + at, size) != 0 && std::memcmp(to + at, from + at, size) != 0)
            conflict = std::min<std::uint64_t>(conflict, at / size);
        std::memcpy(to + at, from + at, size);
    }
    return conflict;
}

} // namespace

std::uint64_t take_changes(std::byte* to, const std::byte* from, const std::byte* before, std::size_t bytes,
                           std::size_t element) {
    switch (element) {
    case 1:
        return take<1>(to, from, before, bytes, element);
    case 2:
        return take<2>(to, from, before, bytes, element);
    case 4:
        return take<4>(to, from, before, bytes, element);
    case 8:
        return take<8>(to, from, before, bytes, element);
    case 16:
        return take<16>(to, from, before, bytes, element);
    default:
        return take<0>(to, from, before, bytes, element);
    }
}

} // namespace headrace
