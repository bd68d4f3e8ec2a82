// apps/matrices/npy.cpp - see npy.hpp.
#include "matrices/npy.hpp"
#include "program/npy.hpp"
#include <headrace/core/error.hpp>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <fstream>
#include <system_error>
#include <utility>

namespace matrices {
namespace {

using headrace::Error;
using headrace::ErrorKind;

[[noreturn]] void refuse(const std::filesystem::path& file, const std::string& what) {
    throw Error{ErrorKind::invalid_argument, file.string() + ": " + what};
}

/// Leaves the stream where the numbers begin.
program::NpyHeader read_header(const std::filesystem::path& file, std::istream& stream) {
    program::NpyHeader header = program::read_npy_header(stream, file.string());
    if (header.shape.size() != 2 ||
        !std::ranges::all_of(header.shape, [](std::size_t size) { return size > 0 && size < 1'000'000; }))
        refuse(file, "is no matrix: it needs two dimensions from 1 to 999999");
    if (header.fields.size() != 1) refuse(file, "is no matrix: its elements are structures");
    return header;
}

NpySize size_of(const program::NpyHeader& header) {
    return {static_cast<int>(header.shape[0]), static_cast<int>(header.shape[1])};
}

std::string text_of(NpySize size) { return std::to_string(size.rows) + " x " + std::to_string(size.columns); }

bool is_pipe(const std::filesystem::path& file) {
    std::error_code ignored;
    return std::filesystem::exists(file, ignored) && !std::filesystem::is_regular_file(file, ignored);
}

std::ifstream open(const std::filesystem::path& file) {
    errno = 0;
    std::ifstream stream(file, std::ios::binary);
    if (!stream)
        throw Error{ErrorKind::not_found,
                    file.string() + ": cannot be read: " + std::generic_category().message(errno)};
    return stream;
}

} // namespace

NpyFile::NpyFile(std::filesystem::path file) : file_(std::move(file)) {
    std::ifstream stream = open(file_);
    const program::NpyHeader header = read_header(file_, stream);
    size_ = size_of(header);
    if (!is_pipe(file_)) {
        // Before memory for what the header says.
        const auto there = std::filesystem::file_size(file_) - static_cast<std::uintmax_t>(stream.tellg());
        if (there / header.element_bytes < header.elements())
            refuse(file_, "is " + text_of(size_) + " and ends before its last number");
        return;
    }
    constexpr int most = 32768; // what programs take; a header may say anything
    if (std::max(size_.rows, size_.columns) > most)
        refuse(file_, "is " + text_of(size_) + "; pipes may have " + text_of({most, most}));
    is_fortran_ = header.is_fortran;
    program::read_npy_pieces(stream, header, file_.string(),
                             [&](std::vector<float> piece) { kept_.push_back(std::move(piece)); });
}

int NpyFile::side() const {
    expect({size_.rows, size_.rows});
    return size_.rows;
}

void NpyFile::expect(NpySize size) const {
    if (size_ != size) refuse(file_, "is " + text_of(size_) + "; wanted is " + text_of(size));
}

void NpyFile::read(NpySize size, std::span<float> to) const {
    expect(size);
    if (!kept_.empty()) {
        const auto rows = static_cast<std::size_t>(size.rows),
                   columns = static_cast<std::size_t>(size.columns);
        std::size_t place = 0;
        for (const std::vector<float>& piece : kept_)
            for (const float number : piece) {
                to[is_fortran_ ? place % rows * columns + place / rows : place] = number;
                ++place;
            }
        return;
    }
    std::ifstream stream = open(file_);
    const program::NpyHeader header = read_header(file_, stream);
    if (size_of(header) != size) refuse(file_, "has changed while it was used");
    program::read_npy_matrix(stream, header, file_.string(), to);
}

std::string npy_of(std::span<const float> numbers, NpySize size) {
    return program::npy_of(numbers,
                           {static_cast<std::size_t>(size.rows), static_cast<std::size_t>(size.columns)});
}

} // namespace matrices
