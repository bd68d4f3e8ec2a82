// persistent/control_simt.cuh - the control block's way to a GPU before a launch, and back after it: by small
// kernels, since compute engines and copy engines take longer to wait for each other than to do this.
#pragma once
#include <headrace/devices/simt/runtime.hpp>
#include <headrace/persistent/control.h>

#include <cstring>

#if defined(__CUDACC__)
    // Parameters stay where the launch put them, also where their addresses are taken: no copy in each
    // thread.
    #define HEADRACE_PARAMETER const __grid_constant__
#else
    #define HEADRACE_PARAMETER const
#endif

namespace headrace::HEADRACE_ON_SIMT {

/// A struct in words of which each thread of a block copies one.
template <class T>
struct InWords {
    static constexpr unsigned count = sizeof(T) / sizeof(std::uint64_t);
    std::uint64_t word[count];
};

template <class Words>
__global__ void write_words(Words* to, HEADRACE_PARAMETER Words from) {
    to->word[threadIdx.x] = from.word[threadIdx.x];
}
template <class Words>
__global__ void copy_words(Words* to, const Words* from) {
    to->word[threadIdx.x] = from->word[threadIdx.x];
}

using ControlWords = InWords<HrControl>;

/// `image` as it is now.
inline void enqueue_write(StreamHandle stream, HrControl& control, const HrControl& image) {
    ControlWords words;
    std::memcpy(&words, &image, sizeof words);
    write_words<<<1, ControlWords::count, 0, stream>>>(reinterpret_cast<ControlWords*>(&control), words);
    HEADRACE_CALL(GetLastError);
}

/// To pinned memory.
inline void enqueue_read(StreamHandle stream, HrControl& image, const HrControl& control) {
    copy_words<<<1, ControlWords::count, 0, stream>>>(reinterpret_cast<ControlWords*>(&image),
                                                      reinterpret_cast<const ControlWords*>(&control));
    HEADRACE_CALL(GetLastError);
}

} // namespace headrace::HEADRACE_ON_SIMT
