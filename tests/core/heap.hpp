// tests/core/heap.hpp - how much of the heap is in use.
#pragma once
#include <core/sanitizers.hpp>

#include <cstddef>

#include <malloc.h>

namespace headrace::test {

constexpr bool heap_is_measured =
    !under_address_sanitizer && !under_thread_sanitizer; // theirs keeps what is freed

/// Bytes, of all threads.
inline std::size_t heap_in_use() { return mallinfo2().uordblks; }

} // namespace headrace::test
