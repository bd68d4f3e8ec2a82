// domains/append.hpp - the view of a domain to which units add records, whose number is not known before.
// Compiled for every technology.
//
// The domain's size is its capacity, for the records of all devices together. A search that goes on as long
// as there are any:
//     frontier.assign(starts);
//     while (const std::uint64_t count = frontier.count()) {
//         next.clear();
//         runtime.submit(headrace::Job("level", count).reads(graph, frontier).appends(next).kernel(
//             [&](headrace::Task& t) { return Level{t.read(graph), t.read(frontier), t.append(next)}; }));
//         std::swap(frontier, next);
//     }
// In OpenCL C: hr_append (persistent/opencl/append.cl).
#pragma once
#include <headrace/persistent/atomics.hpp>
#include <headrace/persistent/kernel.hpp>

#include <cstddef>
#include <cstdint>

namespace headrace {

/// A domain under append access: this device's replica, to which any lane adds at any time. It cannot be
/// read. The order of records is that of arrival: it differs from run to run (Domain::sorted_by).
///
/// Cost: one atomic addition to one counter of the device for each record. nvcc makes one of those of all
/// lanes of a warp that append at once; elsewhere each is by itself, and lanes that append all the time wait
/// for each other there. One record of several values costs less than several records.
template <class T>
struct Append {
    T* records = nullptr;
    std::uint64_t capacity = 0;     ///< of the domain
    std::uint64_t* count = nullptr; ///< of this device's records; more than fit is an error of the job's

    /// Nothing is returned: whether all devices' records fit is known when they have been counted. If they do
    /// not, a caller that asks for them is told.
    HEADRACE_HOST_DEVICE void append(const T& record) const {
        const std::uint64_t at = atomic_add(*count, std::uint64_t{1});
        if (at < capacity) records[at] = record;
    }
};

namespace detail {

/// Where the counter is in a replica: on a line of its own, behind the records.
constexpr std::size_t counter_line = 64;
constexpr std::size_t counter_offset(std::size_t record_bytes) {
    return (record_bytes + counter_line - 1) / counter_line * counter_line;
}

} // namespace detail

} // namespace headrace
