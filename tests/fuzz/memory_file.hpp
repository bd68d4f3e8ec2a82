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

/// An open file, for as long as this lives.
class OpenFile {
public:
    ~OpenFile() { ::close(descriptor_); }
    OpenFile(const OpenFile&) = delete;
    OpenFile& operator=(const OpenFile&) = delete;
    [[nodiscard]] std::string name() const { return "/proc/self/fd/" + std::to_string(descriptor_); }

protected:
    explicit OpenFile(int descriptor) : descriptor_(descriptor) {
        if (descriptor < 0) std::abort();
    }
    static void fill(int descriptor, const std::uint8_t* data, std::size_t size) {
        if (::write(descriptor, data, size) != static_cast<ssize_t>(size)) std::abort();
    }

    const int descriptor_;
};

/// A regular file in memory.
class MemoryFile : public OpenFile {
public:
    MemoryFile(const std::uint8_t* data, std::size_t size) : OpenFile(::memfd_create("fuzz", MFD_CLOEXEC)) {
        fill(descriptor_, data, size);
    }
};

/// A pipe that has these bytes and ends; at most 64 KiB, which a pipe holds.
class FilledPipe : public OpenFile {
public:
    FilledPipe(const std::uint8_t* data, std::size_t size) : OpenFile(filled(data, size)) {}

private:
    static int filled(const std::uint8_t* data, std::size_t size) {
        int ends[2];
        if (::pipe2(ends, O_CLOEXEC) != 0) std::abort();
        fill(ends[1], data, size);
        ::close(ends[1]);
        return ends[0];
    }
};

} // namespace headrace::fuzz
