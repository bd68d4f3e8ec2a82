// apps/barnes_hut/checksum.hpp - tells snapshots apart of which a bit is wrong.
#pragma once
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace barnes_hut {

/// Of texts and rows in the order in which they are added.
/// Source  G. Fowler, L. C. Noll, K.-P. Vo, D. Eastlake, "The FNV non-cryptographic hash algorithm", 1991;
///         here with words of 64 bits
class Checksum {
public:
    template <std::size_t N>
    void add(const std::array<double, N>& row) {
        for (const double number : row) add(std::bit_cast<std::uint64_t>(number));
    }
    void add(std::string_view text) {
        for (const char letter : text) add(std::uint64_t{static_cast<unsigned char>(letter)});
    }
    void add(std::uint64_t word) {
        value_ = (value_ ^ word) * 0x100000001b3ull;
        value_ ^= value_ >> 29; // a product moves upper bits nowhere
    }
    [[nodiscard]] std::uint64_t value() const { return value_; }

private:
    std::uint64_t value_ = 0xcbf29ce484222325ull;
};

} // namespace barnes_hut
