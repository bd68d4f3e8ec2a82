// apps/matrices/npy.cpp - see npy.hpp.
// Source  NumPy Enhancement Proposal 1, "A simple file format for NumPy arrays"
#include "matrices/npy.hpp"
#include "program/npy.hpp"
#include <headrace/core/error.hpp>

#include <bit>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <regex>
#include <system_error>
#include <vector>

namespace matrices {
namespace {

using headrace::Error;
using headrace::ErrorKind;

static_assert(std::endian::native == std::endian::little, "the files that are read and written are");

constexpr char magic[] = "\x93NUMPY";
constexpr std::size_t magic_size = 6;

[[noreturn]] void refuse(const std::filesystem::path& file, const std::string& what) {
    throw Error{ErrorKind::invalid_argument, file.string() + ": " + what};
}

struct Header {
    NpySize size;
    bool is_double;
};

/// Leaves the stream where the numbers begin.
Header read_header(const std::filesystem::path& file, std::ifstream& stream) {
    stream.open(file, std::ios::binary);
    if (!stream)
        throw Error{ErrorKind::not_found,
                    file.string() + ": cannot be read: " + std::generic_category().message(errno)};
    unsigned char fixed[magic_size + 2] = {};
    stream.read(reinterpret_cast<char*>(fixed), sizeof fixed);
    if (!stream || std::memcmp(fixed, magic, magic_size) != 0) refuse(file, "is no .npy file");
    const int length_bytes = fixed[magic_size] == 1 ? 2 : 4; // of version 1, and of those after it
    std::uint32_t length = 0;
    stream.read(reinterpret_cast<char*>(&length), length_bytes);
    if (!stream || length > 1'000'000) refuse(file, "has a broken header");
    std::string text(length, ' ');
    if (!stream.read(text.data(), length)) refuse(file, "ends in its header");

    std::smatch found;
    const auto finds = [&](const char* pattern) {
        return std::regex_search(text, found, std::regex(pattern));
    };
    if (!finds("'descr': *'([^']*)'")) refuse(file, "has a broken header");
    const std::string type = found[1];
    if (type != "<f4" && type != "<f8")
        refuse(file,
               "has numbers of type " + type + "; float32 and float64 are read (matrix.astype('float32'))");
    if (!finds("'fortran_order': *False"))
        refuse(file, "is in Fortran order; numpy.ascontiguousarray(matrix) is not");
    if (!finds("'shape': *\\( *([0-9]{1,6}), *([0-9]{1,6}) *,? *\\)"))
        refuse(file, "is no matrix: it needs two dimensions of less than a million");
    return {{std::stoi(found[1]), std::stoi(found[2])}, type == "<f8"};
}

std::string text_of(NpySize size) { return std::to_string(size.rows) + " x " + std::to_string(size.columns); }

} // namespace

NpySize npy_size(const std::filesystem::path& file) {
    std::ifstream stream;
    return read_header(file, stream).size;
}

void read_npy(const std::filesystem::path& file, NpySize size, std::span<float> to) {
    std::ifstream stream;
    const Header header = read_header(file, stream);
    if (header.size != size) refuse(file, "is " + text_of(header.size) + "; wanted is " + text_of(size));
    if (header.is_double) {
        std::vector<double> row(static_cast<std::size_t>(size.columns));
        for (std::size_t first = 0; first < to.size() && stream; first += row.size()) {
            stream.read(reinterpret_cast<char*>(row.data()),
                        static_cast<std::streamsize>(row.size() * sizeof(double)));
            for (std::size_t i = 0; i < row.size(); ++i) to[first + i] = static_cast<float>(row[i]);
        }
    } else {
        stream.read(reinterpret_cast<char*>(to.data()), static_cast<std::streamsize>(to.size_bytes()));
    }
    if (!stream) refuse(file, "ends before its last number");
}

std::string npy_of(std::span<const float> numbers, NpySize size) {
    return program::npy_of(numbers,
                           {static_cast<std::size_t>(size.rows), static_cast<std::size_t>(size.columns)});
}

} // namespace matrices
