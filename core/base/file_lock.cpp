// core/base/file_lock.cpp - see file_lock.hpp.
#include <headrace/internal/core/file_lock.hpp>

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <thread>

namespace headrace {
namespace {

/// Locks or unlocks byte `number` of the file. The byte need not exist. The lock belongs to the open file and
/// not to the process, so threads of one process also wait for each other.
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
    set(file_, number_, F_UNLCK); // closing is not enough: a process forked in between also has the file open
    ::close(file_);
}

} // namespace headrace
