// apps/sobel/frames.cpp - see frames.hpp.
#include "frames.hpp"

#include <algorithm>

namespace sobel {

MemorySource::MemorySource(const FrameFormat& format, int frames) {
    for (int i = 0; i < frames; ++i) generate(i, frames_.emplace_back(format.bytes()));
}

bool MemorySource::read(FrameHeader& header, Pixels pixels) {
    header.text.clear();
    std::ranges::copy(frames_[next_++ % frames_.size()], pixels.begin());
    return true;
}

MemorySink::MemorySink(const FrameFormat& format, int frames)
    : frames_(static_cast<std::size_t>(frames), std::vector<std::uint8_t>(format.bytes())) {}

void MemorySink::write(const FrameHeader&, ConstPixels pixels) {
    std::ranges::copy(pixels, frames_[next_++ % frames_.size()].begin());
}

void generate(std::int64_t number, Pixels pixels) {
    // A xorshift for noise, and a ramp under it that moves from frame to frame.
    auto state = static_cast<std::uint64_t>(number + 1) * 0x9e3779b97f4a7c15;
    auto ramp = static_cast<std::uint32_t>(number) * 7;
    for (std::uint8_t& pixel : pixels) {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        pixel = static_cast<std::uint8_t>((ramp++ >> 3) + (state >> 59));
    }
}

} // namespace sobel
