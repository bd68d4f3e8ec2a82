// apps/program/file_content.cpp - see file_content.hpp.
#include "program/file_content.hpp"
#include <headrace/core/error.hpp>

#include <algorithm>
#include <cerrno>
#include <fstream>
#include <system_error>

namespace program {

using headrace::Error;
using headrace::ErrorKind;

std::string file_content(const std::filesystem::path& file, std::size_t most) {
    std::error_code ignored;
    if (std::filesystem::is_directory(file, ignored))
        throw Error{ErrorKind::invalid_argument, file.string() + ": is a folder; name a file"};
    errno = 0;
    std::ifstream stream(file, std::ios::binary);
    if (!stream)
        throw Error{ErrorKind::not_found,
                    file.string() + ": cannot be read: " + std::generic_category().message(errno)};
    constexpr std::size_t at_once = std::size_t{1} << 20;
    std::string bytes;
    while (stream) {
        const std::size_t before = bytes.size();
        if (before > most)
            throw Error{ErrorKind::invalid_argument, file.string() + ": has more than " +
                                                         std::to_string(most) +
                                                         " bytes, the most that can be meant"};
        bytes.resize(before + std::min(at_once, most + 1 - before));
        stream.read(bytes.data() + before, static_cast<std::streamsize>(bytes.size() - before));
        bytes.resize(before + static_cast<std::size_t>(stream.gcount()));
    }
    if (stream.bad())
        throw Error{ErrorKind::io,
                    file.string() + ": cannot be read: " + std::generic_category().message(errno)};
    return bytes;
}

} // namespace program
