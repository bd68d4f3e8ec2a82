// domains/grids/detail/members.hpp - the members of a kernel, one by one. C++ can unpack an aggregate only
// with a written-out number of members: hence the list of cases.
#pragma once
#include <headrace/domains/grids/implementations.hpp>
#include <headrace/domains/grids/roles.hpp>

#include <cstddef>
#include <span>
#include <tuple>
#include <type_traits>

namespace headrace::detail {

inline constexpr std::size_t most_members = 16;

/// References to the members of an aggregate with `Count` members, in their order.
template <std::size_t Count, class Kernel>
auto members(const Kernel& kernel) {
    static_assert(Count <= most_members, "a kernel has at most 16 members; put numbers into a struct");
    if constexpr (Count == 0) {
        return std::tie();
    } else if constexpr (Count == 1) {
        const auto& [a] = kernel;
        return std::tie(a);
    } else if constexpr (Count == 2) {
        const auto& [a, b] = kernel;
        return std::tie(a, b);
    } else if constexpr (Count == 3) {
        const auto& [a, b, c] = kernel;
        return std::tie(a, b, c);
    } else if constexpr (Count == 4) {
        const auto& [a, b, c, d] = kernel;
        return std::tie(a, b, c, d);
    } else if constexpr (Count == 5) {
        const auto& [a, b, c, d, e] = kernel;
        return std::tie(a, b, c, d, e);
    } else if constexpr (Count == 6) {
        const auto& [a, b, c, d, e, f] = kernel;
        return std::tie(a, b, c, d, e, f);
    } else if constexpr (Count == 7) {
        const auto& [a, b, c, d, e, f, g] = kernel;
        return std::tie(a, b, c, d, e, f, g);
    } else if constexpr (Count == 8) {
        const auto& [a, b, c, d, e, f, g, h] = kernel;
        return std::tie(a, b, c, d, e, f, g, h);
    } else if constexpr (Count == 9) {
        const auto& [a, b, c, d, e, f, g, h, i] = kernel;
        return std::tie(a, b, c, d, e, f, g, h, i);
    } else if constexpr (Count == 10) {
        const auto& [a, b, c, d, e, f, g, h, i, j] = kernel;
        return std::tie(a, b, c, d, e, f, g, h, i, j);
    } else if constexpr (Count == 11) {
        const auto& [a, b, c, d, e, f, g, h, i, j, l] = kernel;
        return std::tie(a, b, c, d, e, f, g, h, i, j, l);
    } else if constexpr (Count == 12) {
        const auto& [a, b, c, d, e, f, g, h, i, j, l, m] = kernel;
        return std::tie(a, b, c, d, e, f, g, h, i, j, l, m);
    } else if constexpr (Count == 13) {
        const auto& [a, b, c, d, e, f, g, h, i, j, l, m, n] = kernel;
        return std::tie(a, b, c, d, e, f, g, h, i, j, l, m, n);
    } else if constexpr (Count == 14) {
        const auto& [a, b, c, d, e, f, g, h, i, j, l, m, n, o] = kernel;
        return std::tie(a, b, c, d, e, f, g, h, i, j, l, m, n, o);
    } else if constexpr (Count == 15) {
        const auto& [a, b, c, d, e, f, g, h, i, j, l, m, n, o, p] = kernel;
        return std::tie(a, b, c, d, e, f, g, h, i, j, l, m, n, o, p);
    } else if constexpr (Count == 16) {
        const auto& [a, b, c, d, e, f, g, h, i, j, l, m, n, o, p, q] = kernel;
        return std::tie(a, b, c, d, e, f, g, h, i, j, l, m, n, o, p, q);
    }
}

/// The bytes of a member as an OpenCL C argument. For a role, only its first member, the cl_mem of its
/// elements; its shape is not an argument.
template <class Member>
std::span<const std::byte> argument_bytes(const Member& member) {
    static_assert(std::is_standard_layout_v<Member> || !is_role<Member>);
    constexpr std::size_t size = is_role<Member> ? sizeof(void*) : sizeof(Member);
    return {reinterpret_cast<const std::byte*>(&member), size};
}

template <std::size_t Count, class Kernel>
KernelMembers argument_bytes_of(const Kernel& kernel) {
    return std::apply([](const auto&... member) { return KernelMembers{argument_bytes(member)...}; },
                      members<Count>(kernel));
}

} // namespace headrace::detail
