// apps/video/picture.cpp - see picture.hpp.
#include "video/picture.hpp"
#include <headrace/core/error.hpp>

#include <filesystem>

namespace video {
namespace {

/// All of it, a pipe's too.
std::string content(video::ByteInput& input, const std::string& file) {
    std::error_code none; // a pipe has no size
    const auto expected = std::filesystem::file_size(file, none);
    std::size_t more = none ? 1 << 20 : expected + 1; // one more, to see the end
    std::string bytes;
    for (;;) {
        const std::size_t before = bytes.size();
        bytes.resize(before + more);
        const std::size_t got = input.read(std::as_writable_bytes(std::span(bytes).subspan(before)));
        if (got < more) {
            bytes.resize(before + got);
            return bytes;
        }
        more = bytes.size();
    }
}

} // namespace

std::unique_ptr<Picture> open_picture(const std::string& file) {
    video::ByteInput input(file);
    return open_picture(input, file);
}

std::unique_ptr<Picture> open_picture(video::ByteInput& input, const std::string& file) {
    std::string bytes = content(input, file);
    if (bytes.starts_with("\x89PNG")) return open_png(file, std::move(bytes));
    if (bytes.starts_with("\xff\xd8")) return open_jpeg(file, std::move(bytes));
    if (bytes.starts_with("P5") || bytes.starts_with("P6")) return open_pnm(file, std::move(bytes));
    throw headrace::Error{headrace::ErrorKind::invalid_argument,
                          file + (bytes.empty() ? ": is empty"
                                  : bytes.starts_with("YUV4MPEG2")
                                      ? ": is a film, which is an input of its own; only pictures go together"
                                      : ": is neither PNG nor JPEG nor binary PGM or PPM")};
}

} // namespace video
