// domains/slice.hpp - which part of a domain a task needs: all of it, or a part that depends on its range.
#pragma once
#include <headrace/domains/domain.hpp>

#include <functional>
#include <memory>

namespace headrace {

/// The partitioning callback of a slice: the work units of a task -> the elements it touches, [begin, end).
using PartOf = std::function<IndexRange(IndexRange units)>;

/// A domain under one access of a job. Made by `rows` and `part`; a whole domain converts to it.
///
/// Source   Ribeiro et al., "Irregular workloads", 2014, sec. 3.2; differs in: there the callback builds the
///          sub-domain itself
struct Slice {
    std::shared_ptr<DomainData> data;
    PartOf part;            ///< empty: every task needs the whole domain
    std::uint64_t halo = 0; ///< further rows to read at each end
    bool is_rows = false;   ///< the job fills in `part`, because it knows its number of work units

    template <class T>
    Slice(const Domain<T>& whole) : data(whole.data()) {} // NOLINT: a domain is the slice of all of it
    Slice(std::shared_ptr<DomainData> of, PartOf callback) : data(std::move(of)), part(std::move(callback)) {}
};

/// The rows (slowest dimension) in proportion to the task's range. With as many work units as rows, row i
/// goes with unit i. With k times as many units, every k units share a row, and tasks are cut at multiples of
/// k. `halo`: further rows at each end, for reading only.
template <class T>
[[nodiscard]] Slice rows(const Domain<T>& domain, std::uint64_t halo = 0) {
    Slice slice(domain);
    slice.is_rows = true;
    slice.halo = halo;
    return slice;
}

/// The elements that `callback` returns. Parts that different tasks write must not overlap.
template <class T>
[[nodiscard]] Slice part(const Domain<T>& domain, PartOf callback) {
    return Slice(domain.data(), std::move(callback));
}

} // namespace headrace
