// apps/matrices/npy.cpp - see npy.hpp.
#include "matrices/npy.hpp"
#include "program/file_content.hpp"
#include "program/npy.hpp"
#include <headrace/core/error.hpp>

#include <algorithm>
#include <cerrno>
#include <fstream>
#include <sstream>
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

} // namespace

NpyFile::NpyFile(std::filesystem::path file) : file_(std::move(file)), is_pipe_(is_pipe(file_)) {
    constexpr std::size_t most = std::size_t{16} << 30; // 32768 x 32768 doubles, and room
    if (is_pipe_) bytes_ = program::file_content(file_, most);
    size_ = size_of(read_header(file_, *open()));
}

std::unique_ptr<std::istream> NpyFile::open() const {
    if (is_pipe_) return std::make_unique<std::istringstream>(bytes_, std::ios::binary);
    errno = 0;
    auto stream = std::make_unique<std::ifstream>(file_, std::ios::binary);
    if (!*stream)
        throw Error{ErrorKind::not_found,
                    file_.string() + ": cannot be read: " + std::generic_category().message(errno)};
    return stream;
}

void NpyFile::read(NpySize size, std::span<float> to) const {
    const std::unique_ptr<std::istream> stream = open();
    const program::NpyHeader header = read_header(file_, *stream);
    if (size_of(header) != size)
        refuse(file_, "is " + text_of(size_of(header)) + "; wanted is " + text_of(size));
    program::read_npy_matrix(*stream, header, file_.string(), to);
}

std::string npy_of(std::span<const float> numbers, NpySize size) {
    return program::npy_of(numbers,
                           {static_cast<std::size_t>(size.rows), static_cast<std::size_t>(size.columns)});
}

} // namespace matrices
