// devices/simt/sums.hpp - adds one array to another on the device.
#pragma once
#include <headrace/core/export.hpp>
#include <headrace/core/number_type.hpp>
#include <headrace/devices/simt/runtime.hpp>

#include <cstddef>

namespace headrace::HEADRACE_ON_SIMT {

/// Enqueues to += from, number by number. `from` may be in the memory of another device that the stream's
/// reaches: each number crosses the link once, while the ones before are added. `size` in bytes, a multiple
/// of the number's; NumberType::none is not for this.
HEADRACE_EXPORT void enqueue_sum(StreamHandle stream, void* to, const void* from, std::size_t size,
                                 NumberType type);

} // namespace headrace::HEADRACE_ON_SIMT
