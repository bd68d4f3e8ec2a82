// apps/program/npy.cpp - see npy.hpp.
#include "program/npy.hpp"
#include <headrace/core/error.hpp>

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
#include <regex>
#include <string_view>
#include <type_traits>

namespace program {
namespace {

using namespace std::string_view_literals;

static_assert(std::endian::native == std::endian::little, "the files that are read and written are");

constexpr std::string_view magic = "\x93NUMPY"sv;

std::string header_of(std::string_view type, const std::vector<std::size_t>& shape) {
    std::string header = "{'descr': '" + std::string(type) + "', 'fortran_order': False, 'shape': (";
    for (const std::size_t size : shape) header += std::to_string(size) + ", ";
    if (shape.size() > 1) header.resize(header.size() - 2); // a single one keeps its comma: "(3, )"
    header += "), }";
    constexpr std::string_view version = "\1\0"sv;
    // So that the numbers begin at a multiple of 64 bytes.
    const std::size_t before = magic.size() + version.size() + 2,
                      whole = (before + header.size() + 1 + 63) / 64 * 64;
    header.resize(whole - before - 1, ' ');
    header += '\n';
    std::string bytes(magic);
    bytes += version;
    bytes += {static_cast<char>(header.size() % 256), static_cast<char>(header.size() / 256)};
    return bytes += header;
}

[[noreturn]] void refuse(const std::string& name, const std::string& what) {
    throw headrace::Error{headrace::ErrorKind::invalid_argument, name + ": " + what};
}

template <class Stored, class Number>
void read_as(std::istream& stream, const std::string& name, std::span<Number> to) {
    if constexpr (std::is_same_v<Stored, Number>) {
        stream.read(reinterpret_cast<char*>(to.data()), static_cast<std::streamsize>(to.size_bytes()));
    } else {
        std::array<Stored, 4096> some;
        for (std::size_t first = 0; first < to.size() && stream; first += some.size()) {
            const std::size_t count = std::min(some.size(), to.size() - first);
            stream.read(reinterpret_cast<char*>(some.data()),
                        static_cast<std::streamsize>(count * sizeof(Stored)));
            std::transform(some.begin(), some.begin() + static_cast<std::ptrdiff_t>(count),
                           to.begin() + static_cast<std::ptrdiff_t>(first),
                           [](Stored number) { return static_cast<Number>(number); });
        }
    }
    if (!stream) refuse(name, "ends before its last number");
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

NpyHeader read_npy_header(std::istream& stream, const std::string& name) {
    unsigned char fixed[magic.size() + 2] = {};
    stream.read(reinterpret_cast<char*>(fixed), sizeof fixed);
    if (!stream || std::memcmp(fixed, magic.data(), magic.size()) != 0) refuse(name, "is no .npy file");
    const int length_bytes = fixed[magic.size()] == 1 ? 2 : 4; // of version 1, and of those after it
    std::uint32_t length = 0;
    stream.read(reinterpret_cast<char*>(&length), length_bytes);
    if (!stream || length > 1'000'000) refuse(name, "has a broken header");
    std::string text(length, ' ');
    if (!stream.read(text.data(), length)) refuse(name, "ends in its header");

    std::smatch found;
    const auto finds = [&](const char* pattern) {
        return std::regex_search(text, found, std::regex(pattern));
    };
    if (!finds("'descr': *'([^']{0,40})'")) refuse(name, "has a broken header");
    const std::string type = found[1];
    if (type != "<f4" && type != "<f8")
        refuse(name,
               "has numbers of type " + type + "; float32 and float64 are read (array.astype('float32'))");
    if (!finds("'fortran_order': *False"))
        refuse(name, "is in Fortran order; numpy.ascontiguousarray(array) is not");
    if (!finds("'shape': *\\(([0-9, ]{0,80})\\)")) refuse(name, "has a broken header");
    NpyHeader header{{}, type == "<f8"};
    const std::string sizes = found[1];
    const std::regex number("[0-9]+");
    for (std::sregex_iterator size(sizes.begin(), sizes.end(), number), end; size != end; ++size) {
        if (size->str().size() > 12) refuse(name, "says that it has " + size->str() + " numbers");
        header.shape.push_back(std::stoull(size->str()));
    }
    return header;
}

void read_npy_numbers(std::istream& stream, const NpyHeader& header, const std::string& name,
                      std::span<float> to) {
    header.is_double ? read_as<double>(stream, name, to) : read_as<float>(stream, name, to);
}

void read_npy_numbers(std::istream& stream, const NpyHeader& header, const std::string& name,
                      std::span<double> to) {
    header.is_double ? read_as<double>(stream, name, to) : read_as<float>(stream, name, to);
}

std::string text_of_shape(const std::vector<std::size_t>& shape) {
    std::string text;
    for (const std::size_t size : shape) text += (text.empty() ? "" : " x ") + std::to_string(size);
    return shape.size() == 1 ? text + " numbers" : text;
}

} // namespace program
