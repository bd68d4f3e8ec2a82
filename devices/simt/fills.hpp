// devices/simt/fills.hpp - fills memory of the device with a pattern of more than one byte: for others there
// is the runtime's own call.
#pragma once
#include <headrace/core/pattern.hpp>
#include <headrace/devices/simt/runtime.hpp>

#include <cstddef>

namespace headrace::HEADRACE_ON_SIMT {

/// `memory` is aligned to the pattern, and `size`, in bytes, is a multiple of it.
void enqueue_fill(StreamHandle stream, void* memory, std::size_t size, Pattern pattern);

} // namespace headrace::HEADRACE_ON_SIMT
