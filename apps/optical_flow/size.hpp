// apps/optical_flow/size.hpp - how large frames and flow fields are.
#pragma once
#include <cstddef>

namespace optical_flow {

/// In pixels.
struct Size {
    int width = 0, height = 0;

    [[nodiscard]] constexpr std::size_t pixels() const {
        return static_cast<std::size_t>(width) * static_cast<std::size_t>(height);
    }
    friend constexpr bool operator==(Size, Size) = default;
};

inline constexpr int longest_side = 65535;

} // namespace optical_flow
