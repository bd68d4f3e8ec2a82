// devices/simt/sums.hpp - adds one array to another on the device.
#pragma once
#include <headrace/core/export.hpp>
#include <headrace/core/number_type.hpp>
#include <headrace/devices/simt/runtime.hpp>

#include <cstddef>

namespace headrace::HEADRACE_ON_SIMT {

/// Enqueues to += from, number by number. `from` may be memory of another device that this device reaches.
/// Each number then crosses the link once, while earlier numbers are added. `size` is in bytes, a multiple of
/// the number's size. `type` must not be NumberType::none.
HEADRACE_EXPORT void enqueue_sum(StreamHandle stream, void* to, const void* from, std::size_t size,
                                 NumberType type);

} // namespace headrace::HEADRACE_ON_SIMT
