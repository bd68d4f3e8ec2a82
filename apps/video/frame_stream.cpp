// apps/video/frame_stream.cpp - see frame_stream.hpp.
#include "video/frame_stream.hpp"
#include <headrace/core/error.hpp>

#include <string_view>
#include <utility>

namespace video {
namespace {

using headrace::Error;
using headrace::ErrorKind;

/// Up to the end of a line, which is not part of it; false if the stream ends, or the line is too long.
bool read_line(ByteInput& from, std::string& line) {
    std::byte one{};
    while (line.size() <= longest_header && from.read({&one, 1}) == 1) {
        if (static_cast<char>(one) == '\n') return true;
        line.push_back(static_cast<char>(one));
    }
    return false;
}

/// What is wrong with a header of which read_line() found no end.
std::string without_end(const std::string& line) {
    return line.size() > longest_header ? "has more than " + std::to_string(longest_header) + " bytes"
                                        : "does not end";
}

FrameFormat read_format(ByteInput& bytes) {
    std::string line;
    const bool ended = read_line(bytes, line);
    if (!ended && line.empty()) throw Error{ErrorKind::invalid_argument, bytes.name() + ": is empty"};
    const FrameFormat format = parse_y4m(bytes.name(), line);
    if (!ended) throw Error{ErrorKind::invalid_argument, bytes.name() + ": its header " + without_end(line)};
    return format;
}

} // namespace

StreamSource::StreamSource(const std::string& file, const FrameFormat* raw)
    : StreamSource(std::make_unique<ByteInput>(file), raw) {}

StreamSource::StreamSource(std::unique_ptr<ByteInput> bytes, const FrameFormat* raw)
    : bytes_(std::move(bytes)), format_(raw != nullptr ? *raw : read_format(*bytes_)) {}

bool StreamSource::read_header(FrameHeader& header) {
    constexpr std::string_view frame = "FRAME";
    const std::string which = bytes_->name() + ": frame " + std::to_string(frames_ + 1);
    std::string line(frame.size(), ' '); // at once: nearly all headers are this and the line's end
    const std::size_t got = bytes_->read(std::as_writable_bytes(std::span(line)));
    if (got == 0) return false;
    if (line.substr(0, got) != frame.substr(0, got))
        throw Error{ErrorKind::io, which + " does not begin with FRAME; the stream is broken"};
    if (got < frame.size() || !read_line(*bytes_, line))
        throw Error{ErrorKind::io, which + " has a header that " + without_end(line)};
    if (line.size() > frame.size() && line[frame.size()] != ' ')
        throw Error{ErrorKind::io, which + " does not begin with FRAME; the stream is broken"};
    header.text = std::move(line);
    return true;
}

bool StreamSource::read(FrameHeader& header, Pixels pixels) {
    if (format_.is_y4m() && !read_header(header)) return false;
    const std::size_t got = bytes_->read(std::as_writable_bytes(pixels));
    if (got < pixels.size()) {
        if (got == 0 && !format_.is_y4m() && frames_ > 0) return false;
        throw Error{ErrorKind::io, bytes_->name() + ": ends within frame " + std::to_string(frames_ + 1) +
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
    if (is_y4m_) line = (header.text.empty() ? "FRAME" : header.text) + "\n";
    bytes_.write(std::as_bytes(std::span(line)), std::as_bytes(pixels));
}

} // namespace video
