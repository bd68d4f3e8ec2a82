// apps/video/picture.cpp - see picture.hpp.
#include "video/picture.hpp"
#include <headrace/core/error.hpp>

#include <filesystem>
#include <string_view>
#include <system_error>

namespace video {
namespace {

constexpr std::size_t largest = std::size_t{26} << 30; // 65535 x 65535 pixels of six bytes, and room

[[noreturn]] void refuse(const std::string& file, const std::string& what) {
    throw headrace::Error{headrace::ErrorKind::invalid_argument, file + ": " + what};
}

/// All of it, a pipe's too.
std::string content(ByteInput& input, const std::string& file) {
    std::error_code none; // a pipe has no size
    const auto expected = std::filesystem::file_size(file, none);
    std::size_t more = none ? 1 << 20 : expected + 1; // one more, to see the end
    std::string bytes;
    while (bytes.size() < largest) {
        const std::size_t before = bytes.size();
        bytes.resize(before + more);
        const std::size_t got = input.read(std::as_writable_bytes(std::span(bytes).subspan(before)));
        if (got < more) {
            bytes.resize(before + got);
            return bytes;
        }
        more = bytes.size();
    }
    refuse(file, "has more bytes than the largest picture");
}

} // namespace

std::unique_ptr<Picture> open_picture(const std::string& file) {
    ByteInput input(file);
    return open_picture(input, file);
}

std::unique_ptr<Picture> open_picture(ByteInput& input, const std::string& file) {
    constexpr std::string_view film = "YUV4MPEG2";
    const std::string first(input.peek(film.size())); // before all of what may never end
    const auto open = first.starts_with("\x89PNG")                         ? open_png
                      : first.starts_with("\xff\xd8")                      ? open_jpeg
                      : first.starts_with("P5") || first.starts_with("P6") ? open_pnm
                                                                           : nullptr;
    if (open != nullptr) return open(file, content(input, file));
    refuse(file, first.empty()   ? "is empty"
                 : first == film ? "is a film, which is an input of its own; only pictures go together"
                                 : "is neither PNG nor JPEG nor binary PGM or PPM");
}

} // namespace video
