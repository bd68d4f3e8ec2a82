// apps/program/shared_input.cpp - see shared_input.hpp.
#include "program/shared_input.hpp"
#include <headrace/core/error.hpp>

#include <cerrno>
#include <fstream>
#include <iterator>
#include <system_error>
#include <utility>

#include <sys/stat.h>
#include <unistd.h>

namespace program {
namespace {

SharedInput& input_of_process() {
    static SharedInput input;
    return input;
}

/// Other processes cannot read the same by themselves.
bool is_mine_alone(const std::filesystem::path& file) {
    struct stat what {};
    struct stat standard {};
    if (::stat(file.c_str(), &what) != 0 || S_ISDIR(what.st_mode)) return false; // a mistake of all
    const bool is_standard_input = ::fstat(STDIN_FILENO, &standard) == 0 && standard.st_dev == what.st_dev &&
                                   standard.st_ino == what.st_ino;
    return is_standard_input || !S_ISREG(what.st_mode);
}

std::string content(const std::filesystem::path& file) {
    errno = 0;
    std::ifstream stream(file, std::ios::binary);
    std::string bytes{std::istreambuf_iterator<char>(stream), {}};
    if (!stream)
        throw headrace::Error{headrace::ErrorKind::io,
                              file.string() + ": cannot be read: " + std::generic_category().message(errno)};
    return bytes;
}

} // namespace

void share_input_by(SharedInput how) { input_of_process() = std::move(how); }

std::optional<std::string> shared_input(const std::filesystem::path& file) {
    const auto& [is_first, broadcast] = input_of_process();
    if (!broadcast) return std::nullopt;
    const bool is_read = is_first && is_mine_alone(file);
    // The first byte: whether others read it by themselves.
    const std::string bytes = broadcast(is_read ? std::string("1").append(content(file)) : "0");
    if (bytes.front() == '0') return std::nullopt;
    return bytes.substr(1);
}

} // namespace program
