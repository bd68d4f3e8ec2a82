// domains/append.hpp - the view of a domain to which units add records, in a number not known before.
// Compiled for every technology.
//
// The size of the domain is its capacity for the records of all devices together. Example: a search that
// continues while there are records:
//     frontier.assign(starts);
//     while (const std::uint64_t count = frontier.count()) {
//         next.clear();
//         runtime.submit(headrace::Job("level", count).reads(graph, frontier).appends(next).kernel(
//             [&](headrace::Task& t) { return Level{t.read(graph), t.read(frontier), t.append(next)}; }));
//         std::swap(frontier, next);
//     }
// In OpenCL C: hr_append (persistent/opencl/append.cl).
#pragma once
#include <headrace/devices/kernels/macros.hpp>
#include <headrace/persistent/atomics.hpp>

#include <cstddef>
#include <cstdint>

namespace headrace {

/// A domain under append access: this device's private replica, to which any lane adds at any time. It cannot
/// be read. Records are in the order of arrival, which differs between runs (Domain::sorted_by).
///
/// Cost: one atomic addition to one counter of the device for each record. nvcc merges the additions of all
/// lanes of a warp that append at once. Elsewhere each is separate, and lanes that append all the time wait
/// for each other. One record with several values costs less than several records.
template <class T>
struct Append {
    T* records = nullptr;
    std::uint64_t capacity = 0;     ///< of the domain
    std::uint64_t* count = nullptr; ///< of this device's records; the job fails if they do not fit

    /// Returns nothing, because it is not known yet whether the records of all devices fit. If they do not
    /// fit, a later request for the records fails.
    HEADRACE_HOST_DEVICE void append(const T& record) const {
        const std::uint64_t at = atomic_add(*count, std::uint64_t{1});
        if (at < capacity) records[at] = record;
    }
};

namespace detail {

/// Offset of the counter in a replica: on a separate cache line, behind the records.
constexpr std::size_t counter_line = 64;
constexpr std::size_t counter_offset(std::size_t record_bytes) {
    return (record_bytes + counter_line - 1) / counter_line * counter_line;
}

} // namespace detail

} // namespace headrace
