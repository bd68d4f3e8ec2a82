// apps/program/npy.cpp - see npy.hpp.
#include "program/npy.hpp"
#include <headrace/core/error.hpp>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <functional>
#include <numeric>
#include <regex>
#include <sstream>
#include <string_view>
#include <type_traits>
#include <utility>

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

/// Half precision: sign, 5 bits of exponent, 10 of the number.
double half_of(std::uint16_t bits) {
    constexpr int exponent_of_denormals = -24, bias_and_digits = 25;
    const int exponent = bits >> 10 & 31, digits = bits & 1023;
    const double size = exponent == 31  ? (digits == 0 ? HUGE_VAL : std::nan(""))
                        : exponent == 0 ? std::ldexp(digits, exponent_of_denormals)
                                        : std::ldexp(digits + 1024, exponent - bias_and_digits);
    return (bits >> 15) != 0 ? -size : size;
}

template <class Stored>
double as_double(const unsigned char* bytes) {
    Stored number;
    std::memcpy(&number, bytes, sizeof number);
    return static_cast<double>(number);
}

double number_at(const unsigned char* element, const NpyField& field) {
    std::array<unsigned char, 8> bytes{};
    std::copy_n(element + field.offset, field.bytes, bytes.begin());
    if (field.is_big_endian)
        std::reverse(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(field.bytes));
    const unsigned char* const at = bytes.data();
    if (field.kind == 'f') {
        if (field.bytes == 8) return as_double<double>(at);
        if (field.bytes == 4) return as_double<float>(at);
        return half_of(static_cast<std::uint16_t>(at[0] | at[1] << 8));
    }
    const bool is_signed = field.kind == 'i';
    switch (field.bytes) {
    case 8:
        return is_signed ? as_double<std::int64_t>(at) : as_double<std::uint64_t>(at);
    case 4:
        return is_signed ? as_double<std::int32_t>(at) : as_double<std::uint32_t>(at);
    case 2:
        return is_signed ? as_double<std::int16_t>(at) : as_double<std::uint16_t>(at);
    default:
        return is_signed ? as_double<std::int8_t>(at) : as_double<std::uint8_t>(at);
    }
}

/// Errors  invalid_argument for what is no finite float
template <class Number>
Number converted(double number, const std::string& name, std::size_t place) {
    const auto result = static_cast<Number>(number);
    if constexpr (std::is_same_v<Number, float>)
        if (!std::isfinite(result)) {
            std::ostringstream text;
            text << "number " << place + 1 << " is " << number << ", which is no finite float32";
            refuse(name, text.str());
        }
    return result;
}

/// take(place, number) for the next elements.
template <class Number, class Take>
void read_numbers(std::istream& stream, const NpyHeader& header, const std::string& name,
                  std::size_t elements, const Take& take) {
    constexpr std::size_t at_once = 4096;
    std::vector<unsigned char> some(at_once * header.element_bytes);
    std::size_t place = 0;
    for (std::size_t first = 0; first < elements; first += at_once) {
        const std::size_t count = std::min(at_once, elements - first);
        if (!stream.read(reinterpret_cast<char*>(some.data()),
                         static_cast<std::streamsize>(count * header.element_bytes)))
            refuse(name, "ends before its last number");
        for (std::size_t i = 0; i < count; ++i)
            for (const NpyField& field : header.fields) {
                take(place,
                     converted<Number>(number_at(&some[i * header.element_bytes], field), name, place));
                ++place;
            }
    }
}

template <class Number>
void read_as(std::istream& stream, const NpyHeader& header, const std::string& name, std::span<Number> to) {
    HEADRACE_ASSERT(to.size() % header.fields.size() == 0);
    const NpyField& first = header.fields.front();
    if (header.fields.size() == 1 && first.kind == 'f' && first.bytes == sizeof(Number) &&
        first.bytes == header.element_bytes && !first.is_big_endian) {
        if (!stream.read(reinterpret_cast<char*>(to.data()), static_cast<std::streamsize>(to.size_bytes())))
            refuse(name, "ends before its last number");
        for (std::size_t i = 0; i < to.size(); ++i) converted<Number>(double{to[i]}, name, i); // may refuse
        return;
    }
    read_numbers<Number>(stream, header, name, to.size() / header.fields.size(),
                         [&](std::size_t place, Number number) { to[place] = number; });
}

/// "<f8", ">i4", "|u1", "=f4", "?".
NpyField field_of(const std::string& name, const std::string& field, const std::string& type,
                  std::size_t offset) {
    static const std::regex form("([<>=|]?)([fiub?])([0-9]{0,2})");
    std::smatch found;
    NpyField result{field, 'b', 1, false, offset};
    if (std::regex_match(type, found, form)) {
        result.is_big_endian = found[1] == ">";
        result.kind = found[2] == "?" ? 'b' : found[2].str().front();
        if (found[3].length() > 0) result.bytes = std::stoul(found[3]);
        constexpr std::array<std::size_t, 4> sizes{1, 2, 4, 8};
        const bool is_size = std::ranges::find(sizes, result.bytes) != sizes.end();
        if (is_size && (result.kind == 'f' ? result.bytes > 1 : result.kind != 'b' || result.bytes == 1))
            return result;
    }
    refuse(name, "has numbers of type " + type.substr(0, 20) +
                     "; integers and floats of up to 64 bits are read (array.astype('float64'))");
}

std::size_t product_of(const std::string& name, const std::string& sizes, std::vector<std::size_t>& shape) {
    constexpr std::size_t most = std::size_t{1}
                                 << 40; // elements: beyond any memory, and products stay numbers
    static const std::regex number("[0-9]+");
    std::size_t product = 1;
    for (std::sregex_iterator size(sizes.begin(), sizes.end(), number), end; size != end; ++size) {
        if (size->str().size() > 12) refuse(name, "says that it has " + size->str() + " numbers");
        shape.push_back(std::stoull(size->str()));
        if (shape.back() > 0 && product > most / shape.back())
            refuse(name, "says that it has more than 1e12 numbers");
        product *= shape.back();
    }
    return product;
}

/// [('x', '<f8'), ('place', '<f4', (3,)), ...]
void read_structure(const std::string& name, const std::string& text, NpyHeader& header) {
    static const std::regex form(
        R"(\(\s*'([^'()]{0,40})'\s*,\s*'([^'()]{0,20})'\s*(?:,\s*(\([0-9, ]{0,40}\)|[0-9]{1,3})\s*)?\))");
    std::size_t done = 0; // characters
    for (std::sregex_iterator each(text.begin(), text.end(), form), end; each != end; ++each) {
        if (text.find_first_not_of(", ", done) != static_cast<std::size_t>(each->position())) break;
        done = static_cast<std::size_t>(each->position() + each->length());
        std::vector<std::size_t> shape;
        const std::size_t count = product_of(name, (*each)[3], shape);
        if (count > 1000) refuse(name, "has a field of more than 1000 numbers");
        const std::string type = (*each)[2];
        static const std::regex no_number("[|<>=]?([VSU])([0-9]{1,4})"); // room, bytes, letters of 4 bytes
        if (std::smatch bytes; std::regex_match(type, bytes, no_number)) {
            header.element_bytes += count * std::stoul(bytes[2]) * (bytes[1] == "U" ? 4 : 1);
            continue;
        }
        for (std::size_t i = 0; i < count; ++i) {
            const std::string field = (*each)[1].str() + (shape.empty() ? "" : std::to_string(i));
            header.fields.push_back(field_of(name, field, type, header.element_bytes));
            header.element_bytes += header.fields.back().bytes;
        }
    }
    if (header.fields.empty() || text.find_first_not_of(", ", done) != text.npos)
        refuse(name, "has a structure that is not read: fields of numbers are");
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
    NpyHeader header{{}, {}, 0, false};
    if (finds("'descr': *'([^']{0,40})'")) {
        header.fields.push_back(field_of(name, "", found[1], 0));
        header.element_bytes = header.fields.back().bytes;
    } else if (const std::size_t begin = text.find("'descr': ["); begin != text.npos) {
        const std::size_t end = text.find(']', begin), first = begin + std::string_view("'descr': [").size();
        if (end == text.npos || end - begin > 20'000) refuse(name, "has a broken header");
        read_structure(name, text.substr(first, end - first), header);
    } else {
        refuse(name, "has a broken header");
    }
    if (!finds("'fortran_order': *(True|False)")) refuse(name, "has a broken header");
    header.is_fortran = found[1] == "True";
    if (!finds("'shape': *\\(([0-9, ]{0,80})\\)")) refuse(name, "has a broken header");
    product_of(name, found[1], header.shape);
    return header;
}

std::size_t NpyHeader::elements() const {
    return std::accumulate(shape.begin(), shape.end(), std::size_t{1}, std::multiplies<>{});
}

void read_npy_numbers(std::istream& stream, const NpyHeader& header, const std::string& name,
                      std::span<float> to) {
    read_as(stream, header, name, to);
}

void read_npy_numbers(std::istream& stream, const NpyHeader& header, const std::string& name,
                      std::span<double> to) {
    read_as(stream, header, name, to);
}

void read_npy_pieces(std::istream& stream, const NpyHeader& header, const std::string& name,
                     const std::function<void(std::vector<float>)>& take) {
    constexpr std::size_t most = std::size_t{1} << 20; // numbers of a piece
    const std::size_t numbers = header.elements() * header.fields.size();
    std::vector<float> piece;
    read_numbers<float>(stream, header, name, header.elements(), [&](std::size_t place, float number) {
        piece.push_back(number);
        if (piece.size() == most || place + 1 == numbers) take(std::exchange(piece, {}));
    });
}

void read_npy_matrix(std::istream& stream, const NpyHeader& header, const std::string& name,
                     std::span<float> to) {
    HEADRACE_ASSERT(header.shape.size() == 2 && header.fields.size() == 1 && to.size() == header.elements());
    if (!header.is_fortran) return read_as(stream, header, name, to);
    const std::size_t rows = header.shape[0], columns = header.shape[1];
    read_numbers<float>(stream, header, name, to.size(), [&](std::size_t place, float number) {
        to[place % rows * columns + place / rows] = number;
    });
}

std::string text_of_shape(const std::vector<std::size_t>& shape) {
    std::string text;
    for (const std::size_t size : shape) text += (text.empty() ? "" : " x ") + std::to_string(size);
    return shape.size() == 1 ? text + " numbers" : text;
}

} // namespace program
