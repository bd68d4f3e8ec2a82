// devices/simt/fills.hpp - fills device memory with a pattern of more than one byte. For a pattern of one
// byte, the runtime has a call.
#pragma once
#include <headrace/core/pattern.hpp>
#include <headrace/devices/simt/runtime.hpp>

#include <cstddef>

namespace headrace::HEADRACE_ON_SIMT {

/// `memory` is aligned to the pattern. `size`, in bytes, is a multiple of the pattern's size.
void enqueue_fill(StreamHandle stream, void* memory, std::size_t size, Pattern pattern);

} // namespace headrace::HEADRACE_ON_SIMT
