// tests/fuzz/read_picture.cpp - any bytes as a picture: decoded, or refused with an Error.
#include "video/picture.hpp"
#include <headrace/core/error.hpp>

#include <cstdint>
#include <string>

// NOLINTNEXTLINE(readability-identifier-naming): libFuzzer calls it so
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string bytes(reinterpret_cast<const char*>(data), size);
    const auto open = [&bytes] {
        if (bytes.starts_with("\x89PNG")) return video::open_png("fuzz", bytes, video::Opacity::kept);
        return bytes.starts_with("\xff\xd8") ? video::open_jpeg("fuzz", bytes)
                                             : video::open_pnm("fuzz", bytes);
    };
    if (size < 2) return 0; // as open_picture, which looks at them
    try {
        const auto picture = open();
        if (picture->size().pixels() > 1'000'000) return 0; // no more of it, but more slowly
        unsigned sum = 0;
        for (const std::uint8_t sample : picture->samples().bytes) sum += sample;
        return sum == 0xffffffff ? -1 : 0; // so that all are read
    } catch (const headrace::Error&) {     // as it should; all else is a crash
    }
    return 0;
}
