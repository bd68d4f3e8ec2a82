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

void read_pieces(const std::filesystem::path& file, std::size_t most,
                 const std::function<void(std::string_view)>& take) {
    std::error_code ignored;
    if (std::filesystem::is_directory(file, ignored))
        throw Error{ErrorKind::invalid_argument, file.string() + ": is a folder; name a file"};
    errno = 0;
    std::ifstream stream(file, std::ios::binary);
    if (!stream)
        throw Error{ErrorKind::not_found,
                    file.string() + ": cannot be read: " + std::generic_category().message(errno)};
    constexpr std::size_t at_once = std::size_t{1} << 20;
    std::string piece(std::min(at_once, most + 1), '\0');
    std::size_t done = 0;
    while (stream) {
        stream.read(piece.data(), static_cast<std::streamsize>(std::min(piece.size(), most + 1 - done)));
        const auto got = static_cast<std::size_t>(stream.gcount());
        done += got;
        take(std::string_view(piece).substr(0, got)); // may say more of what is too long
        if (done > most)
            throw Error{ErrorKind::invalid_argument, file.string() + ": has more than " +
                                                         std::to_string(most) +
                                                         " bytes, the most that can be meant"};
    }
    if (stream.bad())
        throw Error{ErrorKind::io,
                    file.string() + ": cannot be read: " + std::generic_category().message(errno)};
}

std::string file_content(const std::filesystem::path& file, std::size_t most) {
    std::string bytes;
    read_pieces(file, most, [&](std::string_view piece) { bytes += piece; });
    return bytes;
}

} // namespace program
