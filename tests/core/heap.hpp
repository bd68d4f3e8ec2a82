// tests/core/heap.hpp - how much of the heap is in use.
#pragma once
#include <cstddef>

#include <malloc.h>

namespace headrace::test {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool heap_is_measured = false; // theirs keeps what is freed
#else
constexpr bool heap_is_measured = true;
#endif

/// Bytes, of all threads.
inline std::size_t heap_in_use() { return mallinfo2().uordblks; }

} // namespace headrace::test
