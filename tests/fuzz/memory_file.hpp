// tests/fuzz/memory_file.hpp - bytes under a file's name, for readers that open what they read.
#pragma once
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

namespace headrace::fuzz {

/// A regular file in memory, for as long as this lives.
class MemoryFile {
public:
    MemoryFile(const std::uint8_t* data, std::size_t size) : file_(::memfd_create("fuzz", MFD_CLOEXEC)) {
        if (file_ < 0 || ::write(file_, data, size) != static_cast<ssize_t>(size)) std::abort();
    }
    ~MemoryFile() { ::close(file_); }
    MemoryFile(const MemoryFile&) = delete;
    MemoryFile& operator=(const MemoryFile&) = delete;
    [[nodiscard]] std::string name() const { return "/proc/self/fd/" + std::to_string(file_); }

private:
    int file_;
};

/// A pipe that has these bytes and ends; at most 64 KiB, which a pipe holds.
class FilledPipe {
public:
    FilledPipe(const std::uint8_t* data, std::size_t size) {
        int ends[2];
        if (::pipe2(ends, O_CLOEXEC) != 0) std::abort();
        file_ = ends[0];
        if (::write(ends[1], data, size) != static_cast<ssize_t>(size)) std::abort();
        ::close(ends[1]);
    }
    ~FilledPipe() { ::close(file_); }
    FilledPipe(const FilledPipe&) = delete;
    FilledPipe& operator=(const FilledPipe&) = delete;
    [[nodiscard]] std::string name() const { return "/proc/self/fd/" + std::to_string(file_); }

private:
    int file_;
};

} // namespace headrace::fuzz
