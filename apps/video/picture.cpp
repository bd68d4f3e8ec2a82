// apps/video/picture.cpp - see picture.hpp.
#include "video/picture.hpp"
#include <headrace/core/error.hpp>

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <string_view>
#include <system_error>

namespace video {
namespace {

constexpr std::size_t largest = std::size_t{26} << 30; // 65535 x 65535 pixels of six bytes, and room

[[noreturn]] void refuse(const std::string& file, const std::string& what) {
    throw headrace::Error{headrace::ErrorKind::invalid_argument, file + ": " + what};
}

/// Up to `most` bytes; what comes behind them is left there.
std::string content(ByteInput& input, std::size_t expected, std::size_t most) {
    std::string bytes;
    for (std::size_t more = expected; bytes.size() < most; more = bytes.size()) {
        const std::size_t before = bytes.size(), wanted = std::min(more, most - before);
        bytes.resize(before + wanted);
        const std::size_t got = input.read(std::as_writable_bytes(std::span(bytes).subspan(before)));
        bytes.resize(before + got);
        if (got < wanted) break;
    }
    return bytes;
}

/// All of a PNG or JPEG, a pipe's too.
std::string whole(ByteInput& input, const std::string& file) {
    constexpr std::size_t at_first = 1 << 20, most_of_pipe = std::size_t{1} << 30;
    std::error_code none; // a pipe has no size
    const auto expected = std::filesystem::file_size(file, none);
    const std::size_t most = none ? most_of_pipe : largest;
    std::string bytes = content(input, none ? at_first : expected + 1, most + 1); // one more, to see the end
    if (bytes.size() > most) refuse(file, "has more bytes than the largest picture");
    return bytes;
}

/// The first picture of a PGM or PPM: its header says where that ends.
std::string first_picture(ByteInput& input, const std::string& file) {
    constexpr std::size_t longest_header = std::size_t{64} << 10, at_first = 1 << 20;
    const std::size_t bytes = pnm_bytes(file, std::string(input.peek(longest_header)));
    std::error_code none; // a pipe has no size
    const auto there = std::filesystem::file_size(file, none);
    return content(input, none ? at_first : std::min<std::size_t>(there + 1, bytes), bytes);
}

} // namespace

std::unique_ptr<Picture> open_picture(const std::string& file) {
    ByteInput input(file);
    return open_picture(input, file);
}

std::unique_ptr<Picture> open_picture(ByteInput& input, const std::string& file) {
    constexpr std::string_view film = "YUV4MPEG2";
    const std::string first(input.peek(film.size())); // before all of what may never end
    if (first.starts_with("\x89PNG")) return open_png(file, whole(input, file));
    if (first.starts_with("\xff\xd8")) return open_jpeg(file, whole(input, file));
    if (first.starts_with("P5") || first.starts_with("P6")) return open_pnm(file, first_picture(input, file));
    refuse(file, first.empty()   ? "is empty"
                 : first == film ? "is a film, which is an input of its own; only pictures go together"
                                 : "is neither PNG nor JPEG nor binary PGM or PPM");
}

} // namespace video
