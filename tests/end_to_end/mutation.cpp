// tests/end_to_end/mutation.cpp - see mutation.hpp.
#include "end_to_end/mutation.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstring>
#include <regex>
#include <vector>

#include <zlib.h>

namespace headrace::end_to_end {
namespace {

constexpr std::array numbers{
    "0",          "-1",         "1e400",  "-1e400", "1e-400",         "nan",
    "inf",        "-inf",       "1e38",   "1e300",  "1e12",           "65536",
    "2147483648", "4294967297", "-2.5e9", "1e-45",  "0.999999999999", "9999999999999999999999999"};
constexpr std::array<std::uint32_t, 7> words{0,          1,          0x7fffffff, 0x80000000,
                                             0xffffffff, 0x7fc00000, 0x7f800000};

std::size_t below(std::mt19937_64& random, std::size_t size) { return size == 0 ? 0 : random() % size; }

/// One of the text's numbers becomes another.
void change_number(std::string& bytes, std::mt19937_64& random) {
    const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
    std::vector<std::size_t> begins;
    for (std::size_t i = 0; i < bytes.size(); ++i)
        if (is_digit(bytes[i]) && (i == 0 || !is_digit(bytes[i - 1]))) begins.push_back(i);
    if (begins.empty()) return;
    const std::size_t begin = begins[below(random, begins.size())];
    std::size_t end = begin;
    while (end < bytes.size() && (is_digit(bytes[end]) || bytes[end] == '.')) ++end;
    bytes.replace(begin, end - begin, numbers[below(random, numbers.size())]);
}

void change(std::string& bytes, std::mt19937_64& random) {
    const std::size_t at = below(random, bytes.size()), length = 1 + below(random, bytes.size() / 2 + 1);
    switch (bytes.empty() ? 7 : random() % 9) {
    case 0:
    case 1:
        for (std::size_t i = 0; i <= random() % 8; ++i) {
            char& byte = bytes[below(random, bytes.size())];
            byte = static_cast<char>(byte ^ 1 << random() % 8);
        }
        break;
    case 2:
        bytes[at] = static_cast<char>(random());
        break;
    case 3: // a number of 32 bits
        if (bytes.size() >= sizeof(std::uint32_t)) {
            const std::uint32_t word = words[below(random, words.size())];
            std::memcpy(&bytes[below(random, bytes.size() - sizeof word + 1)], &word, sizeof word);
        }
        break;
    case 4:
        bytes.resize(at);
        break;
    case 5:
        bytes.erase(at, length);
        break;
    case 6: // a block twice, or where another was
        if (random() % 2 == 0)
            bytes.insert(below(random, bytes.size()), bytes.substr(at, length));
        else
            bytes.replace(below(random, bytes.size()), length, bytes.substr(at, length));
        break;
    default:
        change_number(bytes, random);
    }
}

/// Of a PNG's parts, so that what is in them is looked at.
void put_checksums_right(std::string& bytes) {
    constexpr std::size_t magic = 8, head = 8, tail = 4;
    const auto* const at = reinterpret_cast<const unsigned char*>(bytes.data());
    for (std::size_t begin = magic; begin + head + tail <= bytes.size();) {
        const std::size_t length =
            std::size_t{at[begin]} << 24 | at[begin + 1] << 16 | at[begin + 2] << 8 | at[begin + 3];
        if (length > bytes.size() - begin - head - tail) return;
        const auto sum = static_cast<std::uint32_t>(crc32(0, at + begin + 4, static_cast<uInt>(length + 4)));
        const std::size_t end = begin + head + length;
        for (std::size_t i = 0; i < tail; ++i) bytes[end + i] = static_cast<char>(sum >> (24 - 8 * i));
        begin = end + tail;
    }
}

bool is_text(const std::string& bytes) {
    return std::ranges::all_of(bytes,
                               [](char c) { return c == '\n' || c == '\t' || (c >= ' ' && c < 0x7f); });
}

template <class Number>
bool all_finite(const std::string& bytes, std::size_t first) {
    for (std::size_t at = first; at + sizeof(Number) <= bytes.size(); at += sizeof(Number)) {
        Number number;
        std::memcpy(&number, &bytes[at], sizeof number);
        if (!std::isfinite(number)) return false;
    }
    return true;
}

} // namespace

std::string mutated(const std::string& seed, std::mt19937_64& random) {
    std::string bytes = seed;
    const std::size_t changes = random() % 2 == 0 ? 1 : 2 + random() % 3;
    const bool numbers_alone = is_text(seed) && random() % 3 == 0; // else most texts are broken at once
    for (std::size_t i = 0; i < changes; ++i)
        numbers_alone ? change_number(bytes, random) : change(bytes, random);
    if (bytes.starts_with("\x89PNG") && random() % 4 != 0) put_checksums_right(bytes);
    return bytes;
}

bool is_finite(const std::string& file_name, const std::string& bytes) {
    if (file_name.ends_with(".npy")) {
        const std::size_t first = bytes.find('\n') + 1;
        return bytes.find("'<f8'") < first ? all_finite<double>(bytes, first)
                                           : all_finite<float>(bytes, first);
    }
    if (file_name.ends_with(".flo")) return all_finite<float>(bytes, 12);
    if (file_name.ends_with(".pfm")) {
        std::size_t first = 0;
        for (int line = 0; line < 3; ++line) first = bytes.find('\n', first) + 1;
        return all_finite<float>(bytes, first);
    }
    static const std::regex odd("(^|[^A-Za-z_])-?(nan|inf|infinity)($|[^A-Za-z_])", std::regex::icase);
    return !std::regex_search(bytes, odd);
}

} // namespace headrace::end_to_end
