// tests/fuzz/read_picture.cpp - any bytes as a picture: decoded, or refused with an Error.
#include "video/picture.hpp"
#include <headrace/core/error.hpp>

#include <cstdint>
#include <string>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string bytes(reinterpret_cast<const char*>(data), size);
    using Open = std::unique_ptr<video::Picture> (*)(const std::string&, std::string);
    const Open open = bytes.starts_with("\x89PNG")    ? Open{video::open_png}
                      : bytes.starts_with("\xff\xd8") ? Open{video::open_jpeg}
                                                      : Open{video::open_pnm};
    if (size < 2) return 0; // as open_picture, which looks at them
    try {
        const auto picture = open("fuzz", bytes);
        if (picture->size().pixels() > 1'000'000) return 0; // no more of it, but more slowly
        unsigned sum = 0;
        for (const std::uint8_t sample : picture->samples().bytes) sum += sample;
        return sum == 0xffffffff ? -1 : 0; // so that all are read
    } catch (const headrace::Error&) {     // as it should; all else is a crash
    }
    return 0;
}
