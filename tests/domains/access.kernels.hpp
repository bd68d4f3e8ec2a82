// tests/domains/access.kernels.hpp - kernels that write in every way that a job can declare.
#pragma once
#include <headrace/domains/view.hpp>

namespace headrace::test {

struct Permute {
    View<const std::uint32_t> to;
    Scatter<std::uint64_t> x;
    std::uint64_t base;

    HEADRACE_KERNEL void operator()(auto&, std::uint64_t i) const { x[to[i]] = base + i; }
};

/// x[to[i]] becomes what it was times `keep`, and base + i.
struct PermuteInto {
    View<const std::uint32_t> to;
    View<std::uint64_t> x;
    std::uint64_t base, keep;

    HEADRACE_KERNEL void operator()(auto&, std::uint64_t i) const {
        x[to[i]] = (keep != 0 ? x[to[i]] : 0) + base + i;
    }
};

struct AddBackwards {
    View<std::uint32_t> x;
    HEADRACE_KERNEL void operator()(auto&, std::uint64_t i) const {
        x[x.size() - 1 - i] += static_cast<std::uint32_t>(i);
    }
};
struct WriteBackwards {
    View<std::uint32_t> x;
    HEADRACE_KERNEL void operator()(auto&, std::uint64_t i) const {
        x[x.size() - 1 - i] = static_cast<std::uint32_t>(7 * i);
    }
};

/// Byte i becomes i, for those below `end`; `shift` further on, where that is within the domain.
struct WriteBytes {
    View<std::uint8_t> x;
    Sum<std::uint64_t> sums;
    std::uint64_t end, shift;

    HEADRACE_KERNEL void operator()(auto&, std::uint64_t i) const {
        sums.add(0, 1);
        const std::uint64_t at = i + shift < x.size() ? i + shift : i;
        if (i < end) x[at] = static_cast<std::uint8_t>(i);
    }
};

/// Each byte goes to its place in the other domain, and grows.
struct TakeAndAdd {
    View<std::uint8_t> to, from;
    std::uint8_t more;

    HEADRACE_KERNEL void operator()(auto&, std::uint64_t i) const {
        to[i] = from[i];
        from[i] = static_cast<std::uint8_t>(from[i] + more);
    }
};

/// Byte i becomes i, and the last unit writes `other` to byte 5 as well.
struct ScatterBytes {
    Scatter<std::uint8_t> x;
    std::uint8_t other;

    HEADRACE_KERNEL void operator()(auto&, std::uint64_t i) const {
        x[i] = static_cast<std::uint8_t>(i);
        if (i + 1 == x.size()) x[5] = other;
    }
};

/// Elements of three bytes: no word of a machine.
struct Odd {
    std::uint8_t part[3];
};
HEADRACE_HOST_DEVICE inline Odd odd_of(std::uint64_t i) {
    return {{static_cast<std::uint8_t>(i), static_cast<std::uint8_t>(i >> 8), 7}};
}

/// Backwards, but for every third.
struct ScatterOdd {
    Scatter<Odd> odd;
    Scatter<std::uint8_t> bytes;

    HEADRACE_KERNEL void operator()(auto&, std::uint64_t i) const {
        if (i % 3 == 0) return;
        odd[odd.size() - 1 - i] = odd_of(i);
        bytes[bytes.size() - 1 - i] = static_cast<std::uint8_t>(i);
    }
};

} // namespace headrace::test
