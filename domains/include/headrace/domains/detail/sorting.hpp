// domains/detail/sorting.hpp - sorts records into an order that does not depend on the order of arrival.
// Internal to domains/; only templates in public headers use it.
#pragma once
#include <headrace/core/export.hpp>

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstring>
#include <functional>
#include <span>

namespace headrace::detail {

/// Calls `one(i)` for each i below `count`, in several threads. Blocks.
HEADRACE_EXPORT void in_parallel(std::size_t count, const std::function<void(std::size_t)>& one);

/// `order` is a function of two records that tells if the first one comes before. Or it is a function of one
/// record, or a member: its value then ascends. Equal records are ordered by their bytes.
template <class T, class Order>
[[nodiscard]] bool comes_before(const T& a, const T& b, const Order& order) {
    if constexpr (std::predicate<const Order&, const T&, const T&>) {
        if (std::invoke(order, a, b)) return true;
        if (std::invoke(order, b, a)) return false;
    } else {
        if (std::invoke(order, a) < std::invoke(order, b)) return true;
        if (std::invoke(order, b) < std::invoke(order, a)) return false;
    }
    return std::memcmp(&a, &b, sizeof(T)) < 0;
}

template <class T, class Order>
void sort_records(std::span<T> records, const Order& order) {
    constexpr std::size_t parts = 8, worth_threads = 1 << 15;
    const auto is_before = [&](const T& a, const T& b) { return comes_before(a, b, order); };
    if (records.size() < worth_threads) return std::sort(records.begin(), records.end(), is_before);
    const auto begin_of = [&](std::size_t part) {
        return records.begin() + static_cast<std::ptrdiff_t>(part * records.size() / parts);
    };
    in_parallel(parts, [&](std::size_t part) { std::sort(begin_of(part), begin_of(part + 1), is_before); });
    for (std::size_t width = 1; width < parts; width *= 2)
        in_parallel(parts / (2 * width), [&](std::size_t pair) {
            const std::size_t first = pair * 2 * width;
            std::inplace_merge(begin_of(first), begin_of(first + width), begin_of(first + 2 * width),
                               is_before);
        });
}

} // namespace headrace::detail
