// core/access.hpp - how a request uses a datum.
#pragma once
#include <cstdint>
#include <string_view>

namespace headrace {

enum class Access : std::uint8_t {
    read,       ///< needs an up-to-date replica and does not change it
    write,      ///< writes the whole tile and reads nothing: no data is copied in
    update,     ///< needs an up-to-date replica and writes all or part of it
    accumulate, ///< commutative additions. A job gives each device a zeroed replica; here it is an update.
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
