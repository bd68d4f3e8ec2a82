// core/access.hpp - how a request uses a datum.
#pragma once
#include <cstdint>
#include <string_view>

namespace headrace {

enum class Access : std::uint8_t {
    read,       ///< an up-to-date image, left as it is
    write,      ///< all of it is written and none of it read: nothing is fetched
    update,     ///< an up-to-date image, all or part of which is written
    accumulate, ///< commutative additions. Jobs give every device a zeroed replica; here it is an update.
};

[[nodiscard]] constexpr bool reads(Access access) noexcept { return access != Access::write; }
[[nodiscard]] constexpr bool writes(Access access) noexcept { return access != Access::read; }

[[nodiscard]] constexpr std::string_view to_string(Access access) noexcept {
    switch (access) {
    case Access::read:
        return "read";
    case Access::write:
        return "write";
    case Access::update:
        return "update";
    case Access::accumulate:
        return "accumulate";
    }
    return "unknown";
}

} // namespace headrace
