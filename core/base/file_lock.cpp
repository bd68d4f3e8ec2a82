// core/base/file_lock.cpp - see file_lock.hpp.
#include <headrace/internal/core/file_lock.hpp>

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <thread>

namespace headrace {
namespace {

/// Of the byte with that number, which need not be there. The lock is the open file's and not the process's,
/// so that threads wait for each other, too.
bool set(int file, std::uint32_t number, short type) {
    struct flock lock {};
    lock.l_type = type;
    lock.l_whence = SEEK_SET;
    lock.l_start = number;
    lock.l_len = 1;
    return ::fcntl(file, F_OFD_SETLK, &lock) == 0;
}

} // namespace

FileLock::FileLock(const std::filesystem::path& file, std::uint32_t number, std::chrono::seconds patience)
    : file_(::open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666)), number_(number) {
    const auto limit = std::chrono::steady_clock::now() + patience;
    while (file_ >= 0 && !set(file_, number_, F_WRLCK) &&
           (errno == EAGAIN || errno == EACCES || errno == EINTR) && std::chrono::steady_clock::now() < limit)
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
}

FileLock::~FileLock() {
    if (file_ < 0) return;
    set(file_, number_, F_UNLCK); // a process that was forked meanwhile has the file open, too
    ::close(file_);
}

} // namespace headrace
