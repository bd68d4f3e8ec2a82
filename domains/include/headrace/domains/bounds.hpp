// domains/bounds.hpp - HEADRACE_CHECK_BOUNDS: views store which elements of a domain their task may touch,
// and check each index. Without this definition views have no such member and check nothing. Compiled for
// every technology.
//
// Define it for all sources of a target or for none (CMake option HEADRACE_CHECK=ON: for all): it changes the
// size of views.
#pragma once
#include <headrace/devices/kernels/macros.hpp>

#include <cstdint>

#if defined(HEADRACE_CHECK_BOUNDS)
    #include <headrace/core/error.hpp>

    #include <cstdio>
    #include <string>

    /// The last member of views.
    #define HEADRACE_BOUNDS ::headrace::detail::Bounds bounds = {};
#else
    #define HEADRACE_BOUNDS
#endif

namespace headrace::detail {

#if defined(HEADRACE_CHECK_BOUNDS)
/// The elements of a domain that a task may touch: [begin, end).
struct Bounds {
    const char* domain = "(made by hand)"; ///< name of the domain, in the host's memory
    std::uint64_t begin = 0, end = ~std::uint64_t{0};
};

/// On the host, throws invalid_argument with the domain, the index and the allowed range. A GPU prints the
/// same without the name and ends the launch by a trap: the process loses the device.
HEADRACE_HOST_DEVICE inline void fail_out_of_bounds(std::uint64_t i, std::uint64_t size,
                                                    const Bounds& bounds) {
    const std::uint64_t end = bounds.end < size ? bounds.end : size;
    #if defined(__CUDA_ARCH__) || defined(__HIP_DEVICE_COMPILE__)
    ::printf("headrace: error: a kernel uses element %llu of a domain of %llu elements; its task may use "
             "[%llu, %llu)\n",
             static_cast<unsigned long long>(i), static_cast<unsigned long long>(size),
             static_cast<unsigned long long>(bounds.begin), static_cast<unsigned long long>(end));
        #if defined(__CUDA_ARCH__)
    __trap();
        #else
    __builtin_trap();
        #endif
    #else
    throw Error{ErrorKind::invalid_argument,
                "a kernel uses element " + std::to_string(i) + " of domain '" + bounds.domain +
                    "', which has " + std::to_string(size) + " elements; its task may use [" +
                    std::to_string(bounds.begin) + ", " + std::to_string(end) + ")"};
    #endif
}

template <class View>
HEADRACE_HOST_DEVICE void check_bounds(const View& view, std::uint64_t i, bool is_in_its_row) {
    const std::uint64_t size = view.extent.size();
    if (!is_in_its_row || i < view.bounds.begin || i >= view.bounds.end || i >= size)
        fail_out_of_bounds(i, size, view.bounds);
}
#endif

/// The number of an element of a view, row-major. If bounds are checked, each coordinate except the slowest
/// must also be within its dimension.
template <class View>
HEADRACE_HOST_DEVICE std::uint64_t index_in([[maybe_unused]] const View& view, std::uint64_t i) {
#if defined(HEADRACE_CHECK_BOUNDS)
    check_bounds(view, i, true);
#endif
    return i;
}
template <class View>
HEADRACE_HOST_DEVICE std::uint64_t index_in(const View& view, std::uint64_t i, std::uint64_t j) {
    const std::uint64_t index = i * view.extent.n[1] + j;
#if defined(HEADRACE_CHECK_BOUNDS)
    check_bounds(view, index, j < view.extent.n[1]);
#endif
    return index;
}
template <class View>
HEADRACE_HOST_DEVICE std::uint64_t index_in(const View& view, std::uint64_t i, std::uint64_t j,
                                            std::uint64_t k) {
    const std::uint64_t index = (i * view.extent.n[1] + j) * view.extent.n[2] + k;
#if defined(HEADRACE_CHECK_BOUNDS)
    check_bounds(view, index, j < view.extent.n[1] && k < view.extent.n[2]);
#endif
    return index;
}

} // namespace headrace::detail
