// devices/opencl/stream_number.hpp - which build of a kernel a stream runs.
#pragma once
#include <headrace/core/export.hpp>

namespace headrace::opencl {

/// A number from 1 on that no other stream of the process has, for PoCL's streams as `NativeStream::ordinal`.
///
/// PoCL 3.1 counts who uses a compiled kernel by its program's text and its work-group alone, although it
/// loads one for grids with an offset and one without, and another whenever a grid is wider than those
/// before. Where streams run both at once, it counts one's end as the other's and ends the process when it
/// has come to less than nothing (lib/CL/devices/common.c, pocl_release_dlhandle_cache; 5.0 does so, too). So
/// each stream has programs of its own there, which this number tells apart: one stream's launches do not
/// overlap. Or all launches of a program have the same grid, as those of the persistent kernel.
class HEADRACE_EXPORT StreamNumber {
public:
    StreamNumber();
    ~StreamNumber();
    StreamNumber(const StreamNumber&) = delete; // it is one stream's
    StreamNumber& operator=(const StreamNumber&) = delete;

    [[nodiscard]] int get() const noexcept { return number_; }
    /// Nobody else has it any more: the stream goes, and its launches do not end before.
    void keep() noexcept { is_kept_ = true; }

private:
    int number_;
    bool is_kept_ = false;
};

} // namespace headrace::opencl
