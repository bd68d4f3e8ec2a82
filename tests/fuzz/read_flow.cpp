// tests/fuzz/read_flow.cpp - any bytes as a .flo file of true flow: compared with flow that is there, or
// refused with an Error. What is compared has a finite error.
#include "program/used_files.hpp"
#include "truth.hpp"
#include <fuzz/memory_file.hpp>
#include <headrace/core/error.hpp>

#include <array>
#include <cmath>
#include <cstring>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    // Frames of the size that the file says, if it is small.
    std::array<std::int32_t, 2> sides{3, 2};
    if (size >= 12) std::memcpy(sides.data(), data + 4, sizeof sides);
    for (std::int32_t& side : sides)
        if (side < 1 || side > 64) side = 4;
    const optical_flow::Size frames{sides[0], sides[1]};
    const std::vector<float> u(frames.pixels(), 0.5f), v(frames.pixels(), -1e9f);
    const headrace::fuzz::MemoryFile file(data, size);
    program::forget_used_files(); // else there are more with every call
    try {
        optical_flow::Truth truth({file.name()}, frames);
        truth.compare(u, v);
        const optical_flow::EndPointErrors& errors = truth.errors().front();
        if (!std::isfinite(errors.mean()) || errors.known > frames.pixels() || errors.large > errors.known)
            std::abort();
    } catch (const headrace::Error&) { // as it should; all else is a crash
    }
    return 0;
}
