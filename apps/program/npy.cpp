// apps/program/npy.cpp - see npy.hpp.
#include "program/npy.hpp"

#include <string_view>

namespace program {
namespace {

using namespace std::string_view_literals;

std::string header_of(std::string_view type, const std::vector<std::size_t>& shape) {
    std::string header = "{'descr': '" + std::string(type) + "', 'fortran_order': False, 'shape': (";
    for (const std::size_t size : shape) header += std::to_string(size) + ", ";
    if (shape.size() > 1) header.resize(header.size() - 2); // a single one keeps its comma: "(3, )"
    header += "), }";
    constexpr std::string_view magic = "\x93NUMPY\1\0"sv; // version 1.0
    // So that the numbers begin at a multiple of 64 bytes.
    const std::size_t before = magic.size() + 2, whole = (before + header.size() + 1 + 63) / 64 * 64;
    header.resize(whole - before - 1, ' ');
    header += '\n';
    std::string bytes(magic);
    bytes += {static_cast<char>(header.size() % 256), static_cast<char>(header.size() / 256)};
    return bytes += header;
}

} // namespace

std::string npy_of(std::span<const float> numbers, const std::vector<std::size_t>& shape) {
    return header_of("<f4", shape)
        .append(reinterpret_cast<const char*>(numbers.data()), numbers.size_bytes());
}

std::string npy_of(std::span<const double> numbers, const std::vector<std::size_t>& shape) {
    return header_of("<f8", shape)
        .append(reinterpret_cast<const char*>(numbers.data()), numbers.size_bytes());
}

} // namespace program
