// apps/video/size.hpp - how large frames and pictures are.
#pragma once
#include <cstddef>
#include <string>

namespace video {

/// In pixels.
struct Size {
    int width = 0, height = 0;

    [[nodiscard]] constexpr std::size_t pixels() const {
        return static_cast<std::size_t>(width) * static_cast<std::size_t>(height);
    }
    friend constexpr bool operator==(Size, Size) = default;
};

inline constexpr int longest_side = 65535;

/// For messages: "640 x 480".
[[nodiscard]] inline std::string text_of(Size size) {
    return std::to_string(size.width) + " x " + std::to_string(size.height);
}

} // namespace video
