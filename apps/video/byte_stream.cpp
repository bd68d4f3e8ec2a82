// apps/video/byte_stream.cpp - see byte_stream.hpp.
#include "video/byte_stream.hpp"
#include "program/used_files.hpp"
#include <headrace/core/error.hpp>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

namespace video {
namespace {

using headrace::Error;
using headrace::ErrorKind;

/// Frames are megabytes and pipes hold 64 KB at first: fewer switches between their two ends. Not every user
/// may enlarge them, and smaller ones work as well.
void enlarge_pipe(int number) {
    struct stat what {};
    if (::fstat(number, &what) == 0 && S_ISFIFO(what.st_mode))
        static_cast<void>(::fcntl(number, F_SETPIPE_SZ, 1 << 20));
}

int open_input(const std::string& file) {
    const auto refuse = [&](ErrorKind kind, int code) {
        throw Error{kind, file + ": cannot be read: " + std::strerror(code)}.with_code(code);
    };
    const int number = ::open(file.c_str(), O_RDONLY | O_CLOEXEC);
    if (number < 0) refuse(ErrorKind::not_found, errno);
    struct stat what {};
    if (::fstat(number, &what) == 0 && S_ISDIR(what.st_mode)) {
        ::close(number);
        refuse(ErrorKind::invalid_argument, EISDIR);
    }
    return number;
}

int open_output(const std::string& file) {
    program::check_no_input(file); // before it is emptied
    const int number = ::open(file.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (number < 0)
        throw Error{ErrorKind::invalid_argument, file + ": cannot be written: " + std::strerror(errno)}
            .with_code(errno);
    return number;
}

} // namespace

Descriptor::~Descriptor() { static_cast<void>(close()); }

bool Descriptor::close() {
    const bool done = !owned_ || number_ < 0 || ::close(number_) == 0;
    number_ = -1;
    return done;
}

ByteInput::ByteInput(const std::string& file)
    : name_(file == "-" ? "standard input" : file),
      file_(file == "-" ? STDIN_FILENO : open_input(file), file != "-") {
    program::note_input(file_.number(), name_);
    enlarge_pipe(file_.number());
}

std::string_view ByteInput::peek(std::size_t count) {
    std::string first(count, '\0');
    first.resize(read(std::as_writable_bytes(std::span(first))));
    return peeked_ = std::move(first);
}

std::size_t ByteInput::read(std::span<std::byte> bytes) {
    std::size_t done = std::min(bytes.size(), peeked_.size());
    if (done > 0) std::memcpy(bytes.data(), peeked_.data(), done);
    peeked_.erase(0, done);
    while (done < bytes.size()) {
        const ssize_t got = ::read(file_.number(), bytes.data() + done, bytes.size() - done);
        if (got == 0) break;
        if (got > 0)
            done += static_cast<std::size_t>(got);
        else if (errno != EINTR)
            throw Error{ErrorKind::io, name_ + ": reading failed: " + std::strerror(errno)}.with_code(errno);
    }
    return done;
}

ByteOutput::ByteOutput(const std::string& file)
    : name_(file == "-" ? "standard output" : file),
      file_(file == "-" ? STDOUT_FILENO : open_output(file), file != "-") {
    enlarge_pipe(file_.number());
}

void ByteOutput::write(std::span<const std::byte> head, std::span<const std::byte> body) {
    while (!head.empty() || !body.empty()) {
        const iovec parts[] = {{const_cast<std::byte*>(head.data()), head.size()},
                               {const_cast<std::byte*>(body.data()), body.size()}};
        const ssize_t put = ::writev(file_.number(), parts, 2);
        if (put < 0 && errno == EINTR) continue;
        if (put < 0)
            throw Error{ErrorKind::io,
                        name_ + ": writing failed: " +
                            (errno == EPIPE ? "nobody reads it any more" : std::strerror(errno))}
                .with_code(errno);
        const auto of_head = std::min(static_cast<std::size_t>(put), head.size());
        head = head.subspan(of_head);
        body = body.subspan(static_cast<std::size_t>(put) - of_head);
    }
}

void ByteOutput::close() {
    if (!file_.close())
        throw Error{ErrorKind::io, name_ + ": writing failed: " + std::strerror(errno)}.with_code(errno);
}

} // namespace video
