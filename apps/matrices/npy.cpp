// apps/matrices/npy.cpp - see npy.hpp.
#include "matrices/npy.hpp"
#include "program/npy.hpp"
#include <headrace/core/error.hpp>

#include <algorithm>
#include <cerrno>
#include <fstream>
#include <system_error>

namespace matrices {
namespace {

using headrace::Error;
using headrace::ErrorKind;

[[noreturn]] void refuse(const std::filesystem::path& file, const std::string& what) {
    throw Error{ErrorKind::invalid_argument, file.string() + ": " + what};
}

/// Leaves the stream where the numbers begin.
program::NpyHeader read_header(const std::filesystem::path& file, std::ifstream& stream) {
    stream.open(file, std::ios::binary);
    if (!stream)
        throw Error{ErrorKind::not_found,
                    file.string() + ": cannot be read: " + std::generic_category().message(errno)};
    program::NpyHeader header = program::read_npy_header(stream, file.string());
    if (header.shape.size() != 2 ||
        !std::ranges::all_of(header.shape, [](std::size_t size) { return size < 1'000'000; }))
        refuse(file, "is no matrix: it needs two dimensions of less than a million");
    if (header.fields.size() != 1) refuse(file, "is no matrix: its elements are structures");
    return header;
}

NpySize size_of(const program::NpyHeader& header) {
    return {static_cast<int>(header.shape[0]), static_cast<int>(header.shape[1])};
}

std::string text_of(NpySize size) { return std::to_string(size.rows) + " x " + std::to_string(size.columns); }

} // namespace

NpySize npy_size(const std::filesystem::path& file) {
    std::ifstream stream;
    return size_of(read_header(file, stream));
}

void read_npy(const std::filesystem::path& file, NpySize size, std::span<float> to) {
    std::ifstream stream;
    const program::NpyHeader header = read_header(file, stream);
    if (size_of(header) != size)
        refuse(file, "is " + text_of(size_of(header)) + "; wanted is " + text_of(size));
    program::read_npy_matrix(stream, header, file.string(), to);
}

std::string npy_of(std::span<const float> numbers, NpySize size) {
    return program::npy_of(numbers,
                           {static_cast<std::size_t>(size.rows), static_cast<std::size_t>(size.columns)});
}

} // namespace matrices
