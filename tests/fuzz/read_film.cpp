// tests/fuzz/read_film.cpp - any bytes as a YUV4MPEG2 stream: its frames are read, or it is refused with an
// Error.
#include "program/used_files.hpp"
#include "video/frame_stream.hpp"
#include <fuzz/memory_file.hpp>
#include <headrace/core/error.hpp>

#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const headrace::fuzz::MemoryFile file(data, size);
    program::forget_used_files(); // else there are more with every call
    try {
        video::StreamSource source(file.name(), nullptr);
        if (source.format().bytes() <= 1'000'000) { // of no other kind than those that are larger
            std::vector<std::uint8_t> frame(source.format().bytes());
            for (video::FrameHeader header; source.read(header, frame);) {
            }
        }
    } catch (const headrace::Error&) { // as it should; all else is a crash
    }
    return 0;
}
