// apps/video/frame_stream.cpp - see frame_stream.hpp.
#include "video/frame_stream.hpp"
#include <headrace/core/error.hpp>

#include <string_view>

namespace video {
namespace {

using headrace::Error;
using headrace::ErrorKind;

constexpr std::size_t longest_line = 1024; // of a stream's header; ffmpeg's have 128 at most

/// Up to the end of a line, which is not part of it; false if `most` bytes have none, or the stream ends.
bool read_line(ByteInput& from, std::string& line, std::size_t most) {
    std::byte one{};
    while (line.size() < most && from.read({&one, 1}) == 1) {
        if (static_cast<char>(one) == '\n') return true;
        line.push_back(static_cast<char>(one));
    }
    return false;
}

FrameFormat read_format(ByteInput& bytes) {
    std::string line;
    const bool ended = read_line(bytes, line, longest_line);
    if (line.empty()) throw Error{ErrorKind::invalid_argument, bytes.name() + ": is empty"};
    const FrameFormat format = parse_y4m(bytes.name(), line);
    if (!ended) throw Error{ErrorKind::invalid_argument, bytes.name() + ": its header does not end"};
    return format;
}

} // namespace

StreamSource::StreamSource(const std::string& file, const FrameFormat* raw)
    : bytes_(file), format_(raw != nullptr ? *raw : read_format(bytes_)) {}

bool StreamSource::read_header(FrameHeader& header) {
    constexpr std::string_view frame = "FRAME";
    const std::string which = bytes_.name() + ": frame " + std::to_string(frames_ + 1);
    std::string line(frame.size(), ' '); // at once: nearly all headers are this and the line's end
    const std::size_t got = bytes_.read(std::as_writable_bytes(std::span(line)));
    if (got == 0) return false;
    if (line.substr(0, got) != frame.substr(0, got))
        throw Error{ErrorKind::io, which + " does not begin with FRAME; the stream is broken"};
    if (got < frame.size() || !read_line(bytes_, line, sizeof header.text))
        throw Error{ErrorKind::io, which + " has a header that does not end"};
    header.length = static_cast<std::uint32_t>(line.copy(header.text, sizeof header.text));
    return true;
}

bool StreamSource::read(FrameHeader& header, Pixels pixels) {
    if (format_.is_y4m() && !read_header(header)) return false;
    const std::size_t got = bytes_.read(std::as_writable_bytes(pixels));
    if (got < pixels.size()) {
        if (got == 0 && !format_.is_y4m() && frames_ > 0) return false;
        throw Error{ErrorKind::io, bytes_.name() + ": ends within frame " + std::to_string(frames_ + 1) +
                                       ", after " + std::to_string(got) + " of its " +
                                       std::to_string(pixels.size()) + " bytes"};
    }
    ++frames_;
    return true;
}

StreamSink::StreamSink(const std::string& file, const FrameFormat& format)
    : bytes_(file), is_y4m_(format.is_y4m()) {
    if (is_y4m_) bytes_.write(std::as_bytes(std::span(format.y4m)), std::as_bytes(std::span("\n", 1)));
}

void StreamSink::write(const FrameHeader& header, ConstPixels pixels) {
    std::string line;
    if (is_y4m_) line = (header.length > 0 ? std::string(header.text, header.length) : "FRAME") + "\n";
    bytes_.write(std::as_bytes(std::span(line)), std::as_bytes(pixels));
}

} // namespace video
