// bench/brake.hpp - makes what a CUDA stream is given between two calls take several times as long.
#pragma once
#include <cstdint>

namespace bench {

/// Notes the device's time in `began` once the stream has come there.
void start_clock(void* stream, std::uint64_t* began);
/// Holds the stream up until `times` as much time has gone by since `*began`. Both on the device: what the
/// host would need to hear of it is more than many launches take.
void hold(void* stream, const std::uint64_t* began, double times);

} // namespace bench
