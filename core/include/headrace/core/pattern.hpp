// core/pattern.hpp - a short sequence of bytes that is repeated to fill memory.
#pragma once
#include <headrace/core/export.hpp>

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

namespace headrace {

/// A pattern of 1, 2, 4 or 8 bytes. The default is a single zero byte.
class HEADRACE_EXPORT Pattern {
public:
    constexpr Pattern() = default;
    /// The bytes of a value.
    template <class T>
    explicit Pattern(const T& value) : size_(sizeof(T)) {
        static_assert(std::is_trivially_copyable_v<T> && std::has_single_bit(sizeof(T)) && sizeof(T) <= 8,
                      "a pattern has 1, 2, 4 or 8 bytes");
        auto* const bytes = reinterpret_cast<std::byte*>(&word_);
        for (std::size_t at = 0; at < sizeof word_; at += size_) std::memcpy(bytes + at, &value, size_);
        while (size_ > 1 && std::memcmp(bytes, bytes + size_ / 2, size_ / 2) == 0) size_ /= 2;
    }

    /// The size of the repeated part in bytes, as small as possible: 1 if all bytes are equal. A filled range
    /// begins and ends at a multiple of it.
    [[nodiscard]] constexpr std::size_t size() const noexcept { return size_; }
    /// The pattern, repeated to fill 8 bytes.
    [[nodiscard]] constexpr std::uint64_t word() const noexcept { return word_; }
    /// The first bytes of `word()`, as a T.
    template <class T>
    [[nodiscard]] T as() const noexcept {
        T value;
        std::memcpy(&value, &word_, sizeof value);
        return value;
    }
    /// Calls `visit` with the pattern as an unsigned integer of its size.
    template <class Visit>
    decltype(auto) visit(const Visit& visit) const {
        switch (size_) {
        case 1:
            return visit(as<std::uint8_t>());
        case 2:
            return visit(as<std::uint16_t>());
        case 4:
            return visit(as<std::uint32_t>());
        default:
            return visit(word_);
        }
    }

    /// Fills `size` bytes of host memory. `size` is a multiple of the pattern's size.
    void write(void* to, std::size_t size) const {
        visit([&](auto value) {
            for (std::size_t at = 0; at < size; at += sizeof value)
                std::memcpy(static_cast<std::byte*>(to) + at, &value, sizeof value);
        });
    }

private:
    std::uint64_t word_ = 0;
    std::size_t size_ = 1;
};

} // namespace headrace
