// tests/fuzz/read_film.cpp - any bytes as a YUV4MPEG2 stream: its frames are read, or it is refused with an
// Error.
#include "video/frame_stream.hpp"
#include <headrace/core/error.hpp>

#include <cstdint>
#include <string>
#include <vector>

#include <sys/mman.h>
#include <unistd.h>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const int file = ::memfd_create("film", MFD_CLOEXEC);
    if (file < 0 || ::write(file, data, size) != static_cast<ssize_t>(size)) return -1;
    try {
        video::StreamSource source("/proc/self/fd/" + std::to_string(file), nullptr);
        if (source.format().bytes() <= 1'000'000) { // of no other kind than those that are larger
            std::vector<std::uint8_t> frame(source.format().bytes());
            for (video::FrameHeader header; source.read(header, frame);) {
            }
        }
    } catch (const headrace::Error&) { // as it should; all else is a crash
    }
    ::close(file);
    return 0;
}
