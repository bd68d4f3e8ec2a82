// domains/epochs/descriptor.hpp - a file that is open.
#pragma once
#include <cerrno>
#include <cstddef>
#include <filesystem>
#include <span>

#include <fcntl.h>
#include <sys/types.h>
#include <unistd.h>

namespace headrace::epochs {

/// Closed at the end.
class Descriptor {
public:
    Descriptor() = default; ///< of no file
    explicit Descriptor(const std::filesystem::path& file, int flags, mode_t mode = 0)
        : number_(::open(file.c_str(), flags | O_CLOEXEC, mode)) {}
    ~Descriptor() { close(); }
    Descriptor(const Descriptor&) = delete; // owns the file
    Descriptor& operator=(const Descriptor&) = delete;

    /// If it fails, errno has the reason.
    void open(const std::filesystem::path& file, int flags, mode_t mode = 0) {
        close();
        number_ = ::open(file.c_str(), flags | O_CLOEXEC, mode);
    }
    [[nodiscard]] int number() const noexcept { return number_; }
    [[nodiscard]] bool is_open() const noexcept { return number_ >= 0; }
    /// 0, or errno.
    [[nodiscard]] int write(std::span<const std::byte> bytes) const {
        while (!bytes.empty()) {
            const ssize_t written = ::write(number_, bytes.data(), bytes.size());
            if (written < 0 && errno != EINTR) return errno;
            if (written > 0) bytes = bytes.subspan(static_cast<std::size_t>(written));
        }
        return 0;
    }
    /// 0, or errno. `have`: how many bytes there are, up to all.
    [[nodiscard]] int read(std::span<std::byte> bytes, std::size_t& have) const {
        for (have = 0; have < bytes.size();) {
            const ssize_t read = ::read(number_, bytes.data() + have, bytes.size() - have);
            if (read < 0 && errno != EINTR) return errno;
            if (read == 0) break;
            if (read > 0) have += static_cast<std::size_t>(read);
        }
        return 0;
    }

private:
    void close() noexcept {
        if (number_ >= 0) ::close(number_);
        number_ = -1;
    }
    int number_ = -1;
};

} // namespace headrace::epochs
