// devices/opencl/stream_number.hpp - which build of a kernel a stream runs.
#pragma once
#include <headrace/core/export.hpp>

namespace headrace::opencl {

/// A number, from 1, unique among the process's streams. On PoCL it is the stream's `NativeStream::ordinal`.
///
/// PoCL 3.1 counts uses of a compiled kernel by program text and work-group size alone. But it loads separate
/// builds for grids with and without an offset, and another for a grid wider than all before. If two streams
/// run two builds at once, it counts the end of one as the other's. Below 0 it ends the process
/// (pocl_release_dlhandle_cache in lib/CL/devices/common.c; 5.0 does so, too). So each PoCL stream has its
/// own programs, which this number tells apart; the launches of one stream do not overlap. No number is
/// needed if all launches of a program have the same grid, as those of the persistent kernel.
class HEADRACE_EXPORT StreamNumber {
public:
    StreamNumber();
    ~StreamNumber();
    StreamNumber(const StreamNumber&) = delete; // it belongs to one stream
    StreamNumber& operator=(const StreamNumber&) = delete;

    [[nodiscard]] int get() const noexcept { return number_; }
    /// Keeps the number for ever: for a stream that is destroyed before its launches have ended.
    void keep() noexcept { is_kept_ = true; }

private:
    int number_;
    bool is_kept_ = false;
};

} // namespace headrace::opencl
